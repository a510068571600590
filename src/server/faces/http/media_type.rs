//! Validates the body of a request by its headers: nothing is read of one whose type, charset or coding is not
//! understood.

use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE},
};

use super::problem::Problem;
use toolwire_transport::rules::Messages;

/// The charsets whose every text is valid UTF-8.
const UTF_8: [&str; 4] = ["utf-8", "utf8", "us-ascii", "ascii"];

/// Refuses a body that is not understood. One message is JSON; a stream is bytes of any type. An empty body needs none.
pub(super) fn check(headers: &HeaderMap, messages: Messages, is_empty: bool) -> Result<(), Problem> {
    if !is_empty {
        check_coding(headers)?;
    }
    let Some(value) = one(headers, &CONTENT_TYPE)? else {
        return if is_empty || messages == Messages::Many { Ok(()) } else { Err(not_json()) };
    };
    let mut parts = value.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_json = is_json(&kind);
    if messages == Messages::One && !is_json {
        return Err(not_json());
    }
    let is_text = is_json || kind.starts_with("text/");
    match parts.find_map(charset).filter(|_| is_text) {
        Some(charset) if !UTF_8.iter().any(|it| it.eq_ignore_ascii_case(charset)) => {
            Err(unsupported(format!("the charset {charset} is not understood: send UTF-8")))
        }
        _ => Ok(()),
    }
}

/// Refuses content codings. None is decoded, so that the encoded bytes would be stored.
fn check_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let codings =
        headers.get_all(CONTENT_ENCODING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    for codings in codings {
        let mut codings = codings.split(',').map(str::trim).filter(|it| !it.is_empty());
        if let Some(coding) = codings.find(|it| !it.eq_ignore_ascii_case("identity")) {
            let what = format!(
                "the content coding {coding} is not understood: send the body without `content-encoding`"
            );
            return Err(unsupported(what).with_header(ACCEPT_ENCODING, HeaderValue::from_static("identity")));
        }
    }
    Ok(())
}

/// A header that may be there once.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| not_json()),
        (Some(_), Some(_)) => Err(unsupported(format!("`{name}` is sent more than once"))),
    }
}

fn is_json(kind: &str) -> bool {
    let name = kind.strip_prefix("application/");
    name.is_some_and(|name| name == "json" || name.ends_with("+json"))
}

fn charset(parameter: &str) -> Option<&str> {
    let (name, value) = parameter.split_once('=')?;
    name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
}

fn not_json() -> Problem {
    unsupported("the body must be JSON: send `content-type: application/json`".to_owned())
}

fn unsupported(what: String) -> Problem {
    Problem::new("UNSUPPORTED_MEDIA_TYPE", StatusCode::UNSUPPORTED_MEDIA_TYPE, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_taken(pairs: &[(HeaderName, &str)], messages: Messages, is_empty: bool) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value.parse().unwrap());
        }
        check(&headers, messages, is_empty).is_ok()
    }

    #[test]
    fn a_message_is_json_by_its_type() {
        let judged = |value: &str, is_empty| is_taken(&[(CONTENT_TYPE, value)], Messages::One, is_empty);
        for value in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/merge-patch+json; x=y",
        ] {
            assert!(judged(value, false), "{value}");
        }
        for value in
            ["text/plain", "text/json", "application/x-www-form-urlencoded", "application/jsonp", "json", ""]
        {
            assert!(!judged(value, false) && !judged(value, true), "{value}");
        }
        assert!(is_taken(&[], Messages::One, true) && !is_taken(&[], Messages::One, false));
        assert!(is_taken(&[], Messages::Many, false));
    }
}
