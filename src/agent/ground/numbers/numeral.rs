//! The digits of one number: both groupings, decimals, an exponent. Not here: what stands before and behind them.

/// Digits as they were written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Numeral {
    pub(super) value: f64,
    /// One unit of the last digit that is shown.
    pub(super) step: f64,
    /// Whether they are four digits and nothing else, as a year is.
    pub(super) is_year: bool,
    /// How many bytes they take.
    pub(super) len: usize,
}

/// The longest number that is read; a longer run of digits is not an amount, and matches nothing.
const LONGEST: usize = 40;

/// The number at the beginning of a text, which begins with a digit, or with a point and a digit.
pub(super) fn numeral(text: &str) -> Numeral {
    let bytes = text.as_bytes();
    let whole = grouped_len(bytes);
    let decimals = match bytes.get(whole) {
        Some(b'.') => digits(&bytes[whole + 1..]),
        _ => 0,
    };
    let plain = if decimals == 0 { whole } else { whole + 1 + decimals };
    let (exponent, len) = exponent(bytes, plain);
    let step = 10_f64.powi(exponent.saturating_sub(i32::try_from(decimals).unwrap_or(i32::MAX)));
    let is_year = len == 4 && whole == 4 && !bytes[..4].contains(&b',');
    Numeral { value: value(&text[..len]), step, is_year, len }
}

/// The length of the whole part. `12,34,567` and `1,234,567` are groups; in `1,2,3` each is a number.
fn grouped_len(bytes: &[u8]) -> usize {
    let first = digits(bytes);
    if !(1..=3).contains(&first) {
        return first;
    }
    let (mut end, mut last) = (first, first);
    while bytes.get(end) == Some(&b',') {
        let size = digits(&bytes[end + 1..]);
        // Groups of two come before the one of three that ends the number.
        if !(2..=3).contains(&size) || (last == 3 && size == 2 && end > first) {
            break;
        }
        end += 1 + size;
        last = size;
    }
    if end > first && last != 3 { first } else { end }
}

/// `e-7` and the like, as JSON writes small numbers; the power, and where the number ends.
fn exponent(bytes: &[u8], at: usize) -> (i32, usize) {
    let [b'e' | b'E', rest @ ..] = &bytes[at..] else { return (0, at) };
    let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
    let count = digits(&rest[sign..]);
    let goes_on = rest.get(sign + count).is_some_and(u8::is_ascii_alphanumeric);
    if !(1..=3).contains(&count) || goes_on {
        return (0, at);
    }
    let end = sign + count;
    let power = str::from_utf8(&rest[..end]).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    (power, at + 1 + end)
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn value(text: &str) -> f64 {
    if text.len() > LONGEST {
        return f64::NAN;
    }
    let mut plain = String::new();
    let text = if text.contains(',') {
        plain.extend(text.chars().filter(|c| *c != ','));
        &plain
    } else {
        text
    };
    text.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::float_cmp, reason = "read, not computed")]
    fn digits_are_read_in_either_grouping() {
        for (text, value, step, len) in [
            ("193.12 a", 193.12, 0.01, 6),
            ("1,234,567", 1_234_567.0, 1.0, 9),
            ("12,34,567.5", 1_234_567.5, 0.1, 11),
            ("1,23,45,678", 12_345_678.0, 1.0, 11),
            ("1,2,3", 1.0, 1.0, 1),
            ("193,12", 193.0, 1.0, 3),
            ("1234,567", 1234.0, 1.0, 4),
            ("1,234,56", 1234.0, 1.0, 5),
            ("5.", 5.0, 1.0, 1),
            (".5", 0.5, 0.1, 2),
            ("1.5e-3", 0.0015, 1e-4, 6),
            ("7e", 7.0, 1.0, 1),
        ] {
            let read = numeral(text);
            assert_eq!((read.value, read.len), (value, len), "{text}");
            assert!((read.step / step - 1.0).abs() < 1e-9, "{text}: {}", read.step);
        }
    }
}
