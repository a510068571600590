//! Numbers and amounts as answers show them. Rounded only to the digits that are shown.

/// Default number of decimals; one more below 1.
const DECIMALS: usize = 3;

/// A number with groups of three: with this many decimals, or without trailing zeros.
pub(super) fn number(value: f64, decimals: Option<usize>, signed: bool) -> String {
    let places = decimals.unwrap_or(if value.abs() < 1.0 { DECIMALS + 1 } else { DECIMALS });
    let (sign, digits) = round(value, places, signed);
    let digits = match decimals {
        None if digits.contains('.') => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => digits,
    };
    format!("{sign}{}", group_digits(&digits, false))
}

/// An amount in a currency: a code such as `USD`.
pub(super) fn amount(value: f64, currency: Option<&str>, decimals: usize, signed: bool) -> String {
    let (sign, digits) = round(value, decimals, signed);
    let digits = group_digits(&digits, currency == Some("INR"));
    match currency {
        Some("USD") => format!("{sign}${digits}"),
        Some("INR") => format!("{sign}₹{digits}"),
        Some("EUR") => format!("{sign}€{digits}"),
        Some("GBP") => format!("{sign}£{digits}"),
        Some(code) if code.chars().all(|c| c.is_ascii_uppercase()) => format!("{sign}{digits} {code}"),
        _ => format!("{sign}{digits}"),
    }
}

/// Sign and digits. Zero has no sign, and rounding may make zero.
fn round(value: f64, decimals: usize, signed: bool) -> (&'static str, String) {
    let digits = format!("{:.*}", decimals.min(12), value.abs());
    let is_zero = digits.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = match (is_zero, value < 0.0, signed) {
        (false, true, _) => "-",
        (false, false, true) => "+",
        _ => "",
    };
    (sign, digits)
}

/// `1,234,567.8`, or `12,34,567.8` as in India.
fn group_digits(digits: &str, is_indian: bool) -> String {
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (at, digit) in digits.char_indices() {
        let left = whole.saturating_sub(at);
        let is_gap =
            if is_indian { left == 3 || (left > 3 && left % 2 == 1) } else { left > 0 && left % 3 == 0 };
        if at > 0 && is_gap {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_for_people() {
        assert_eq!(number(1_234_567.891_1, None, false), "1,234,567.891");
        assert_eq!(number(10.0, None, true), "+10");
        assert_eq!(number(0.0625, None, false), "0.0625");
        assert_eq!(number(-0.001, Some(0), true), "0");
        assert_eq!(number(1234.5, Some(0), false), "1,234");
        assert_eq!(amount(-1_234_567.5, Some("INR"), 2, false), "-₹12,34,567.50");
        assert_eq!(amount(1234.5, Some("USD"), 2, true), "+$1,234.50");
        assert_eq!(amount(5.0, Some("CHF"), 2, false), "5.00 CHF");
        assert_eq!(amount(5.0, None, 0, false), "5");
    }
}
