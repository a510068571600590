//! Lengths of time as people write them: `500ms`, `5s`, `2m`, `1h`.
//!
//! The one grammar of durations on the command line, in settings and in manifests. A number without a unit is refused:
//! it is ambiguous.

use std::time::Duration;

/// What is expected of such a text.
pub const EXPECTED: &str = "a length of time such as 500ms, 5s, 2m or 1h";

/// The same as a regular expression, for schemas that validate a text before it is parsed.
pub const PATTERN: &str = r"^([0-9]+ *ms|[0-9]+(\.[0-9]{1,3})? *[smhd])$";

/// A text is not a valid length of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {EXPECTED}, but found {found:?}")]
pub struct InvalidDuration {
    found: String,
}

/// A day, which is read and not written: settings say `24h`.
const DAY: (&str, u64) = ("d", 86_400_000);

/// The units that are read and written, largest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads a length of time. A fraction has at most three digits; one of milliseconds is refused.
pub fn parse(text: &str) -> Result<Duration, InvalidDuration> {
    let invalid = || InvalidDuration { found: text.chars().take(64).collect() };
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(invalid)?;
    let (amount, unit) = text.split_at(unit_at);
    let (_, millis) = UNITS.into_iter().chain([DAY]).find(|(name, _)| *name == unit).ok_or_else(invalid)?;
    scale(amount.trim_end_matches(' '), millis).ok_or_else(invalid)
}

/// Writes a length of time in the largest unit that needs no fraction.
pub fn format(duration: Duration) -> String {
    let millis = duration.as_millis();
    let fits =
        |(_, unit): &(&str, u64)| millis >= u128::from(*unit) && millis.is_multiple_of(u128::from(*unit));
    match UNITS.into_iter().find(fits) {
        Some((name, unit)) => format!("{}{name}", millis / u128::from(unit)),
        None => "0s".to_owned(),
    }
}

/// `amount` times `millis`, in integers, since binary fractions would round.
fn scale(amount: &str, millis: u64) -> Option<Duration> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || amount.ends_with('.') || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
    let divisor = [1, 10, 100, 1_000].get(fraction.len())?;
    let total = digits.checked_mul(millis)?;
    (fraction.is_empty() || millis > 1).then(|| Duration::from_millis(total / divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_a_unit() {
        let read = |text| parse(text).unwrap().as_millis();
        assert_eq!(read("500ms"), 500);
        assert_eq!(read("5s"), 5_000);
        assert_eq!(read("1.5s"), 1_500);
        assert_eq!(read("0.125 h"), 450_000);
        assert_eq!(read("2m"), 120_000);
        assert_eq!(read("1h"), 3_600_000);
        assert_eq!(read("1d"), 86_400_000);
        assert_eq!(read("0s"), 0);
    }

    #[test]
    fn anything_else_is_refused_with_what_was_expected() {
        for bad in [
            "",
            "5",
            "s",
            "5 days",
            "-1s",
            "5.s",
            ".5s",
            "1e3s",
            "1.0ms",
            "1.2345s",
            "5S",
            "99999999999999999999s",
        ] {
            let error = parse(bad).unwrap_err().to_string();
            assert!(error.contains("such as 500ms, 5s"), "{bad}: {error}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["0s", "1ms", "1500ms", "20s", "2m", "90s", "30m", "25h"] {
            assert_eq!(format(parse(text).unwrap()), text);
        }
    }
}
