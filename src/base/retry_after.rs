//! The header `Retry-After`: how long a server asks to wait before the next request.

use std::time::Duration;

use crate::clock;

/// The longest wait that is taken from a server. A longer one counts as this.
pub const LONGEST: Duration = Duration::from_hours(24);

/// Reads a value: seconds, with a fraction or without, or until a date in any of the three forms of HTTP. A date in the
/// past is no wait. `None` if it is neither.
pub fn read(value: &str) -> Option<Duration> {
    let value = value.trim();
    if is_number(value) {
        // More seconds than a duration holds are more than the longest.
        let seconds: f64 = value.parse().ok()?;
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(clock::wall()).unwrap_or_default().min(LONGEST))
}

/// Digits with at most one point: no sign, no exponent, no name of a number.
fn is_number(value: &str) -> bool {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let is_of_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !whole.is_empty() && is_of_digits(whole) && is_of_digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_with_a_fraction_and_within_a_bound() {
        for (value, milliseconds) in [
            ("30", 30_000),
            (" 30 ", 30_000),
            ("30.5", 30_500),
            ("0.25", 250),
            ("1.", 1_000),
            ("0", 0),
            ("007", 7_000),
        ] {
            assert_eq!(read(value), Some(Duration::from_millis(milliseconds)), "{value}");
        }
        for endless in ["86401", "99999999999999999999999", &"9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT"]
        {
            assert_eq!(read(endless), Some(LONGEST), "{endless}");
        }
    }

    #[test]
    fn a_date_is_read_in_each_form_of_http() {
        let at = clock::wall() + Duration::from_hours(1);
        let wait = read(&httpdate::fmt_http_date(at)).expect("a date");
        assert!(wait <= Duration::from_hours(1) && wait > Duration::from_secs(3_590), "{wait:?}");
        for past in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(read(past), Some(Duration::ZERO), "{past}");
        }
    }

    #[test]
    fn what_is_neither_is_none() {
        for other in
            ["", "-1", "+1", "1e3", "inf", "NaN", "1.2.3", ".5", "soon", "30 s", "30, 60", "0x10", "٣"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
