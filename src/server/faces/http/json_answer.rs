//! A JSON value as the answer to a request, and the warnings about it in a header: the specifications' shapes have no
//! room for them.

use std::fmt::Write;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, WARNING},
};
use serde_json::Value;

/// Maximum number of warnings in headers, and maximum length of each in bytes: clients accept at least 8 KiB of
/// headers.
const MAX_WARNINGS: usize = 16;
const MAX_WARNING_LENGTH: usize = 400;

/// An answer of this status.
pub fn json(status: StatusCode, value: &Value) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    (status, headers, Body::from(value.to_string())).into_response()
}

/// Adds a `Warning` for each of these (RFC 7234 §5.5, code 199: for people).
#[must_use]
pub fn with_warnings(mut answer: Response, warnings: &[String]) -> Response {
    for warning in warnings.iter().take(MAX_WARNINGS) {
        let value = format!("199 toolwire \"{}\"", percent_encode(warning));
        if let Ok(value) = HeaderValue::try_from(value) {
            answer.headers_mut().append(WARNING, value);
        }
    }
    answer
}

/// A text as the inside of a quoted string: percent-encoded where a header takes no such character.
fn percent_encode(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        let before = quoted.len();
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            ' '..='~' if c != '%' => quoted.push(c),
            _ => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(quoted, "%{byte:02X}");
                }
            }
        }
        if quoted.len() > MAX_WARNING_LENGTH {
            quoted.truncate(before);
            break;
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_a_header_that_every_client_takes() {
        let long = "₹".repeat(1_000);
        let answer = with_warnings(
            json(StatusCode::OK, &Value::Null),
            &["Unknown symbol \"A\\B\".".to_owned(), "+5% → ₹\r\nx: y".to_owned(), long],
        );
        let told: Vec<_> = answer.headers().get_all(WARNING).iter().map(|it| it.to_str().unwrap()).collect();
        assert_eq!(told[0], r#"199 toolwire "Unknown symbol \"A\\B\".""#);
        assert_eq!(told[1], "199 toolwire \"+5%25 %E2%86%92 %E2%82%B9%0D%0Ax: y\"");
        assert!(told[2].len() < 450 && told[2].ends_with("%E2%82%B9\""), "{}", told[2]);
        let many = with_warnings(json(StatusCode::OK, &Value::Null), &vec!["w".to_owned(); 100]);
        assert_eq!(many.headers().get_all(WARNING).iter().count(), MAX_WARNINGS);
    }
}
