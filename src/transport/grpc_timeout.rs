//! The `grpc-timeout` header: one to eight digits and one unit (gRPC over HTTP/2, "`TimeoutValue` `TimeoutUnit`").
//!
//! The grammar is enforced exactly, since a misread deadline would cut a call short or never end it. Zero is a valid
//! time-out, which has already passed.

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use toolwire_contract::status;

const NAME: HeaderName = HeaderName::from_static("grpc-timeout");
const MAX_DIGITS: usize = 8;

/// A `grpc-timeout` that does not follow the grammar, or more than one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("grpc-timeout must be given once, as 1 to 8 digits and a unit of H, M, S, m, u or n, such as 500m")]
pub struct Malformed;

/// Reads the caller's time-out.
pub(super) fn find(headers: &HeaderMap) -> Result<Option<Duration>, Malformed> {
    let mut values = headers.get_all(NAME).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => parse(value.as_bytes()).map(Some),
        (Some(_), Some(_)) => Err(Malformed),
    }
}

pub fn parse(value: &[u8]) -> Result<Duration, Malformed> {
    let (&unit, digits) = value.split_last().ok_or(Malformed)?;
    let amount = number(digits)?;
    match unit {
        b'H' => Ok(Duration::from_secs(amount * 3_600)),
        b'M' => Ok(Duration::from_secs(amount * 60)),
        b'S' => Ok(Duration::from_secs(amount)),
        b'm' => Ok(Duration::from_millis(amount)),
        b'u' => Ok(Duration::from_micros(amount)),
        b'n' => Ok(Duration::from_nanos(amount)),
        _ => Err(Malformed),
    }
}

fn number(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() || digits.len() > MAX_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Malformed);
    }
    Ok(digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// As [`find`], with the error as a status.
pub fn in_headers(headers: &HeaderMap) -> Result<Option<Duration>, Box<Status>> {
    find(headers).map_err(|malformed| Box::new(malformed.into()))
}

impl From<Malformed> for Status {
    fn from(malformed: Malformed) -> Self {
        let text = malformed.to_string();
        let details = ErrorDetails::with_bad_request_violation(NAME.as_str(), text.as_str());
        status::status(Code::InvalidArgument, "INVALID_TIMEOUT", &text, details)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NANOS: [(char, u128); 6] = [
        ('H', 3_600_000_000_000),
        ('M', 60_000_000_000),
        ('S', 1_000_000_000),
        ('m', 1_000_000),
        ('u', 1_000),
        ('n', 1),
    ];

    #[test]
    fn the_longest_and_the_shortest_are_read() {
        assert_eq!(parse(b"99999999H"), Ok(Duration::from_hours(99_999_999)));
        assert_eq!(parse(b"0n"), Ok(Duration::ZERO));
        assert_eq!(parse(b"00000001S"), Ok(Duration::from_secs(1)));
    }

    #[test]
    fn near_misses_are_refused() {
        for value in
            ["", "S", "1", "123456789m", "+1S", "-1S", "1.5S", " 1S", "1S ", "1 S", "1s", "1h", "1ms", "١S"]
        {
            assert_eq!(parse(value.as_bytes()), Err(Malformed), "{value:?}");
        }
    }

    #[test]
    fn two_headers_are_refused() {
        let mut headers = HeaderMap::new();
        assert_eq!(find(&headers), Ok(None));
        headers.append(NAME, "1S".parse().unwrap());
        assert_eq!(find(&headers), Ok(Some(Duration::from_secs(1))));
        headers.append(NAME, "1S".parse().unwrap());
        assert_eq!(find(&headers), Err(Malformed));
    }

    proptest! {
        #[test]
        fn every_amount_and_unit_is_read(amount in 0_u32..=99_999_999, width in 1_usize..=8, unit in 0_usize..6) {
            let (letter, nanos) = NANOS[unit];
            let digits = format!("{amount:0width$}");
            let read = parse(format!("{digits}{letter}").as_bytes()).unwrap();
            prop_assert_eq!(read.as_nanos(), u128::from(amount) * nanos);
        }

        #[test]
        fn nothing_outside_the_grammar_is_read(value in prop::collection::vec(any::<u8>(), 0..12)) {
            prop_assert_eq!(parse(&value).is_ok(), follows_grammar(&value));
        }

        #[test]
        fn nearly_right_values_are_judged_by_the_grammar(value in "[0-9+ .]{0,10}[HMSmunsh]{0,2}") {
            prop_assert_eq!(parse(value.as_bytes()).is_ok(), follows_grammar(value.as_bytes()));
        }
    }

    /// A second implementation of the grammar, for comparison.
    fn follows_grammar(value: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(value) else { return false };
        let digits = text.trim_end_matches(['H', 'M', 'S', 'm', 'u', 'n']);
        text.len() == digits.len() + 1
            && (1..=8).contains(&digits.len())
            && digits.parse::<u32>().is_ok()
            && !digits.starts_with('+')
    }
}
