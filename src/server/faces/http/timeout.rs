//! The time-out of a request: `x-toolwire-timeout`, as people write it, or `grpc-timeout`; the shorter if there are
//! both.

use std::time::Duration;

use http::HeaderMap;
use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use toolwire_base::duration;
use toolwire_contract::status;
use toolwire_transport::grpc_timeout;

const NAME: &str = "x-toolwire-timeout";
/// No longer one is read: more digits than any length of time has.
const MAX_LENGTH: usize = 32;

/// The caller's time-out, if it sent one.
pub(super) fn find(headers: &HeaderMap) -> Result<Option<Duration>, Box<Status>> {
    let (own, grpc) = (own(headers)?, grpc_timeout::in_headers(headers)?);
    Ok(match (own, grpc) {
        (Some(own), Some(grpc)) => Some(own.min(grpc)),
        (own, grpc) => own.or(grpc),
    })
}

fn own(headers: &HeaderMap) -> Result<Option<Duration>, Box<Status>> {
    let mut values = headers.get_all(NAME).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            value.to_str().ok().and_then(parse).map(Some).ok_or_else(|| Box::new(malformed()))
        }
        (Some(_), Some(_)) => Err(Box::new(malformed())),
    }
}

/// A length of time; a bare number is one of seconds.
fn parse(text: &str) -> Option<Duration> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    duration::parse(text).or_else(|_| duration::parse(&format!("{text}s"))).ok()
}

fn malformed() -> Status {
    let text = format!("{NAME} must be given once, as {}, or as a number of seconds", duration::EXPECTED);
    let details = ErrorDetails::with_bad_request_violation(NAME, text.as_str());
    status::status(Code::InvalidArgument, "INVALID_TIMEOUT", &text, details)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headers: &[(&'static str, &str)]) -> Result<Option<Duration>, ()> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        find(&map).map_err(|_| ())
    }

    #[test]
    fn lengths_of_time_and_bare_seconds_are_read() {
        let millis = |millis| Ok(Some(Duration::from_millis(millis)));
        for (text, expected) in
            [("1500ms", 1_500), ("2s", 2_000), ("2", 2_000), ("0.25", 250), ("0s", 0), ("1m", 60_000)]
        {
            assert_eq!(of(&[(NAME, text)]), millis(expected), "{text}");
        }
        assert_eq!(of(&[("grpc-timeout", "3S")]), millis(3_000));
        assert_eq!(of(&[("grpc-timeout", "3S"), (NAME, "2s")]), millis(2_000));
        assert_eq!(of(&[]), Ok(None));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "-1", "1e3", "+2s", "two", "2 weeks", "٢s", "NaN", "0000000000000000000000000000000001"]
        {
            assert_eq!(of(&[(NAME, text)]), Err(()), "{text:?}");
        }
        assert_eq!(of(&[(NAME, "1s"), (NAME, "1s")]), Err(()));
        assert_eq!(of(&[(NAME, "1s"), ("grpc-timeout", "1s")]), Err(()));
    }
}
