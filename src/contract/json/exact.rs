//! Finds the numbers of a JSON text whose value would be rounded. Exact are integers of 64 bits, and decimals whose
//! value is that of the shortest text of their double, such as `149.990`. Parsers round every other one without a word.
//!
//! Not here: integers in structures, whose numbers are doubles (`json`).

use std::fmt;

/// Digits of which every decimal survives the way through a double and back.
const SAFE_DIGITS: usize = 15;
/// Maximum length of a key in a pointer, and of a number in a message, in characters.
const MAX_SHOWN: usize = 64;

/// A number that would be rounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inexact {
    /// JSON pointer to it.
    pub pointer: String,
    /// The number as it is written, cut to a bound.
    number: String,
}

impl fmt::Display for Inexact {
    /// What is expected, as the end of a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, number } = self;
        write!(
            f,
            "must hold no number but integers of 64 bits and decimals that a 64-bit float gives back as they are \
             written, and {number} at {pointer:?} is neither; round it, or write it as a text where one is taken"
        )
    }
}

impl std::error::Error for Inexact {}

/// The first number of a JSON text that would be rounded. What follows a syntax error may be taken for anything.
pub fn first_inexact(text: &str) -> Option<Inexact> {
    let mut at = 0;
    while let Some(first) = text.as_bytes().get(at) {
        match first {
            b'"' => at += string_len(&text[at..]),
            b'-' | b'0'..=b'9' => {
                let rest = &text[at..];
                let number = &rest[..rest.bytes().position(|it| !is_of_number(it)).unwrap_or(rest.len())];
                if !is_exact(number) {
                    return Some(Inexact { pointer: pointer(&text[..at]), number: cut(number) });
                }
                at += number.len();
            }
            _ => at += 1,
        }
    }
    None
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Whether a JSON number is an integer of 64 bits, or a decimal that equals the shortest text of its double.
pub fn is_exact(number: &str) -> bool {
    if !number.contains(['.', 'e', 'E']) {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    if number.len() <= SAFE_DIGITS && !number.contains(['e', 'E']) {
        return true;
    }
    let Ok(double) = number.parse::<f64>() else { return false };
    let Some(shortest) = serde_json::Number::from_f64(double) else { return false };
    let written = Decimal::of(number);
    // Where a double is half-way between its two shortest texts, languages print either.
    written == Decimal::of(&shortest.to_string()) || written == Decimal::of(&format!("{double:e}"))
}

/// The value of a decimal: `0.` with these digits, times a power of ten.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    /// The digits without leading and trailing zeros. Empty for zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// `None` for an exponent beyond that of any double.
    fn of(text: &str) -> Option<Self> {
        let unsigned = text.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { digits, exponent: 0 });
        }
        let places = i64::try_from(whole.len()).ok()? - i64::try_from(all.len() - significant.len()).ok()?;
        Some(Self { digits, exponent: exponent.parse::<i64>().ok()?.checked_add(places)? })
    }
}

/// Length of the string at the beginning of a text, with its quotation marks.
pub(super) fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |at| at + 2)
}

/// The pointer to what follows the beginning of a JSON text.
fn pointer(mut before: &str) -> String {
    let mut levels: Vec<Level> = Vec::new();
    while let Some(first) = before.chars().next() {
        let mut length = first.len_utf8();
        match (first, levels.last_mut()) {
            ('{', _) => levels.push(Level::Object { key: "", is_value: false }),
            ('[', _) => levels.push(Level::List(0)),
            ('}' | ']', _) => {
                levels.pop();
            }
            (',', Some(Level::List(index))) => *index += 1,
            (',', Some(Level::Object { is_value, .. })) => *is_value = false,
            (':', Some(Level::Object { is_value, .. })) => *is_value = true,
            ('"', level) => {
                length = string_len(before);
                if let Some(Level::Object { key, is_value: false }) = level {
                    *key = &before[..length];
                }
            }
            _ => {}
        }
        before = &before[length..];
    }
    levels.iter().fold(String::new(), |pointer, level| pointer + "/" + &level.to_string())
}

/// An object or a list around a value.
enum Level<'a> {
    /// An object, with its last key as it is written.
    Object {
        key: &'a str,
        is_value: bool,
    },
    List(usize),
}

impl fmt::Display for Level<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(index) => write!(f, "{index}"),
            Self::Object { key, .. } => {
                f.write_str(&segment(&serde_json::from_str::<String>(key).unwrap_or_default()))
            }
        }
    }
}

/// A key as it stands in a pointer, cut.
pub(crate) fn segment(key: &str) -> String {
    cut(key).replace('~', "~0").replace('/', "~1")
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;

    use super::*;
    use crate::json::{canonical, parse};

    #[test]
    fn integers_of_64_bits_and_decimals_of_their_double_are_exact() {
        for exact in [
            "0",
            "-0",
            "1",
            "9223372036854775808",
            "18446744073709551615",
            "-9223372036854775808",
            "0.1",
            "149.990",
            "1.4999e2",
            "1E5",
            "1.0",
            "-0.0",
            "0e999999999999999999999",
            "5e-324",
            "1.0e25",
            "1e30",
            "0.30000000000000004",
            "1.7976931348623157e308",
            "2.2250738585072014e-308",
            "9007199254740992.0",
            "100000000000000000000.0",
            "-1403157574115695.2",
            "-1403157574115695.3",
        ] {
            assert!(is_exact(exact), "{exact}");
        }
        for rounded in [
            "18446744073709551616",
            "-9223372036854775809",
            "1000000000000000000000001",
            "100000000000000000000",
            "0.10000000000000001",
            "149.99000000000000001",
            "9007199254740993.0",
            "1e400",
            "-1e400",
            "1e-400",
            "4.9e-324",
            "3.14159265358979323846",
            "18446744073709551616.0",
            "1e99999999999999999999",
        ] {
            assert!(!is_exact(rounded), "{rounded}");
        }
    }

    #[test]
    fn a_rounded_number_is_found_at_its_pointer() {
        for (text, pointer) in [
            ("1e400", Some("")),
            (r#"{"a": [1, {"b/c~": "2e400", "d": [[], {}, 1.5, 18446744073709551616]}]}"#, Some("/a/1/d/3")),
            (r#"{"x\"{": "\\", "b\u002fc~": 1e400}"#, Some("/b~1c~0")),
            (r#"[{"a": [1]}, "9e999", -9223372036854775809]"#, Some("/2")),
            (r#"{"a": "18446744073709551616", "18446744073709551616": "\"1e400"}"#, None),
            (r#"{"a": 1.5, "b": [0.1, -0, 1e5]}"#, None),
        ] {
            assert_eq!(first_inexact(text).map(|it| it.pointer).as_deref(), pointer, "{text}");
        }
        let long = format!(r#"{{"{}": {}}}"#, "k".repeat(10_000), "9".repeat(100_000));
        assert!(first_inexact(&long).expect("rounded").to_string().len() < 400);
    }

    /// Whether a decimal has the value of the shortest text of its double, by whole numbers: both are multiplied by the
    /// same power of ten.
    fn is_exact_by_integers(whole: &str, fraction: &str, exponent: i32) -> bool {
        let double: f64 = format!("{whole}.{fraction}e{exponent}").parse().expect("a number");
        let scaled = |text: &str| -> (String, i64) {
            let (mantissa, exponent) = text.split_once('e').expect("an exponent");
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let exponent = exponent.parse::<i64>().expect("small");
            let exponent = exponent - i64::try_from(fraction.len()).expect("short");
            ([whole, fraction].concat(), exponent)
        };
        let [one, other, even] =
            [format!("{whole}.{fraction}e{exponent}"), format!("{double:e}"), to_even(double)]
                .map(|it| scaled(&it));
        let least = one.1.min(other.1).min(even.1);
        let digits = |(digits, exponent): (String, i64)| {
            let zeros = usize::try_from(exponent - least).expect("not negative");
            format!("{digits}{}", "0".repeat(zeros)).trim_start_matches('0').to_owned()
        };
        let one = digits(one);
        one == digits(other) || one == digits(even)
    }

    /// Whether two texts have the same value, or are the two shortest texts of a double that is half-way between them.
    fn is_same(made: &str, written: &str) -> bool {
        let double = |text: &str| text.parse::<f64>().expect("a number").to_bits();
        let is_shortest = |text: &str| text.contains(['.', 'e', 'E']) && is_exact(text);
        Decimal::of(made) == Decimal::of(written)
            || double(made) == double(written) && is_shortest(made) && is_shortest(written)
    }

    #[test]
    fn either_shortest_text_of_a_double_is_the_same_value() {
        assert!(is_same("600000000000000.2", "600000000000000.3"));
        assert!(!is_same("600000000000000.2", "600000000000000.4"));
        assert!(!is_same("600000000000000.25", "600000000000000.2"));
        assert!(!is_same("9007199254740993", "9007199254740992"));
    }

    /// The shortest text of a double with an exponent, as Python and JavaScript choose its last digit.
    fn to_even(double: f64) -> String {
        let text = serde_json::to_string(&double).expect("finite");
        if text.contains('e') { text } else { format!("{text}e0") }
    }

    proptest! {
        #[test]
        fn a_decimal_is_exact_if_it_has_the_value_of_its_shortest_text(
            whole in "[0-9]{1,22}", fraction in "[0-9]{1,22}", exponent in -30_i32..30,
        ) {
            let text = format!("{whole}.{fraction}e{exponent}");
            prop_assert_eq!(is_exact(&text), is_exact_by_integers(&whole, &fraction, exponent), "{}", text);
            let plain = format!("{whole}.{fraction}");
            prop_assert_eq!(is_exact(&plain), is_exact_by_integers(&whole, &fraction, 0), "{}", plain);
        }

        /// So that equal digests are equal values, and what is shown, kept and sent is what was written.
        #[test]
        fn what_is_read_and_what_its_digest_is_made_of_have_the_value_that_was_written(
            text in "-?(0|[1-9][0-9]{0,21})(\\.[0-9]{1,19})?([eE][+-]?[0-9]{1,3})?",
        ) {
            let read = parse(&text);
            prop_assert_eq!(read.is_ok(), is_exact(&text), "{}", text);
            if let Ok(read) = read {
                let object = Map::from_iter([("n".to_owned(), read.clone())]);
                let canonical = canonical(&object).trim_start_matches("{\"n\":").trim_end_matches('}').to_owned();
                for made in [read.to_string(), canonical] {
                    prop_assert!(is_same(&made, &text), "{} of {}", made, text);
                    let is_zero = Decimal::of(&text).is_some_and(|it| it.digits.is_empty());
                    prop_assert!(is_zero || made.starts_with('-') == text.starts_with('-'), "{} of {}", made, text);
                }
            }
        }

        #[test]
        fn what_any_program_prints_of_a_double_is_exact(
            double in prop_oneof![
                proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL,
                // Half-way between two texts of one decimal.
                (0_u32..).prop_map(|it| f64::from(it) + 2_f64.powi(50) + 0.25),
            ]
        ) {
            for text in [format!("{double:e}"), format!("{double:?}"), serde_json::to_string(&double).expect("finite")] {
                prop_assert!(is_exact(&text), "{}", text);
            }
        }

        #[test]
        fn an_integer_is_exact_if_it_has_64_bits(integer in any::<i128>(), shift in 0_u32..128) {
            let integer = integer >> shift;
            let fits = i64::try_from(integer).is_ok() || u64::try_from(integer).is_ok();
            prop_assert_eq!(is_exact(&integer.to_string()), fits, "{}", integer);
        }
    }
}
