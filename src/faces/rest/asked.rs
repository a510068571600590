//! What a request asks of a tool: target, body, headers and query to a call.

use http::{HeaderMap, HeaderName, header::IF_MATCH, request::Parts};

use super::query::Query;
use crate::{
    contract::{
        Refusal,
        arguments::{self, Arguments},
        proto::v1::ResultFormat,
    },
    digest::Digest,
    faces::{grpc::result::Form, incoming},
    pipeline::{Call, Target},
    service::request,
};

/// By what a repeat is recognised.
const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The call that a request asks for, whose body is the arguments, and the form of its result.
pub(super) fn call(parts: &Parts, target: Target, body: &[u8]) -> Result<(Call, Form), Refusal> {
    let form = form(&Query::read(&parts.uri, &["format", "max_tokens"])?)?;
    let arguments = match str::from_utf8(body) {
        Ok(text) => arguments::from_text(text),
        Err(_) => return Err(request::refuse("body", "json", "must be UTF-8")),
    };
    let call = incoming::call(&parts.extensions, request::target(Some(target))?, Arguments::new());
    let mut call = call.given(arguments);
    incoming::metadata(&mut call, &parts.headers)?;
    if let Some(key) = key(&parts.headers)? {
        call.request_id = request::request_id(IDEMPOTENCY_KEY, key)?;
    }
    if let Some(digest) = if_match(&parts.headers)? {
        let mut wishes = call.wishes.take().unwrap_or_default();
        wishes.expected_digest = Some(digest);
        call.wishes = Some(wishes);
    }
    incoming::hand_over(&parts.extensions);
    Ok((call, form))
}

/// The same refusal in the words of this face's callers.
pub(super) fn in_our_words(refusal: Refusal) -> Refusal {
    let Refusal::InvalidRequest(mut violations) = refusal else { return refusal };
    for violation in violations.iter_mut().filter(|it| it.pointer == "request_id") {
        violation.description = violation.description.replace("request_id", IDEMPOTENCY_KEY);
        IDEMPOTENCY_KEY.clone_into(&mut violation.pointer);
    }
    Refusal::InvalidRequest(violations)
}

fn form(query: &Query) -> Result<Form, Refusal> {
    let format = match query.one("format")? {
        "" | "json" => ResultFormat::Json,
        "model" => ResultFormat::Model,
        _ => return Err(request::refuse("format", "enum", "must be json or model")),
    };
    Form::read(format, query.number("max_tokens")?.unwrap_or_default())
}

/// The key by which a repeat is recognised: bare or in quotation marks, as its draft has it.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let Some(text) = text(headers, &KEY, IDEMPOTENCY_KEY)? else { return Ok(None) };
    let bare = quoted(text).unwrap_or(text);
    if bare.is_empty() {
        return Err(request::refuse(IDEMPOTENCY_KEY, "format", "must be a UUID"));
    }
    Ok(Some(bare))
}

/// The definition that a call is bound to: its digest, or the tag of its entity, which begins with that.
fn if_match(headers: &HeaderMap) -> Result<Option<Digest>, Refusal> {
    let malformed = || {
        let what = "must be the tag of one definition, such as the ETag of GET /v1/tools/{name}";
        request::refuse("If-Match", "format", what)
    };
    match text(headers, &IF_MATCH, "If-Match")? {
        // Any definition there is.
        None | Some("*") => Ok(None),
        Some(text) => {
            let tag = quoted(text).ok_or_else(malformed)?;
            let digest = tag.split('.').next().and_then(Digest::from_hex);
            digest.map(Some).ok_or_else(malformed)
        }
    }
}

/// What stands in quotation marks.
pub(super) fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"')
}

/// The text of a header, whose name callers read as it is `written`; what cannot be read is not taken for absent.
pub(super) fn text<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    written: &str,
) -> Result<Option<&'a str>, Refusal> {
    let malformed = || request::refuse(written, "format", "must be visible ASCII characters, sent once");
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(|it| Some(it.trim())).map_err(|_| malformed()),
        (Some(_), Some(_)) => Err(malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn a_key_is_bare_or_quoted() {
        for text in ["a-b", "\"a-b\""] {
            assert_eq!(key(&headers("idempotency-key", text)), Ok(Some("a-b")));
        }
        assert_eq!(key(&HeaderMap::new()), Ok(None));
        assert!(key(&headers("idempotency-key", "")).is_err());
    }

    #[test]
    fn a_call_is_bound_to_one_definition() {
        let digest = Digest::of_bytes(b"d");
        for text in [format!("\"{digest}\""), format!("\"{digest}.degraded\"")] {
            assert_eq!(if_match(&headers("if-match", &text)), Ok(Some(digest)));
        }
        assert_eq!(if_match(&headers("if-match", "*")), Ok(None));
        for text in
            [digest.to_string(), format!("W/\"{digest}\""), "\"a\", \"b\"".to_owned(), "\"\"".to_owned()]
        {
            assert!(if_match(&headers("if-match", &text)).is_err(), "{text}");
        }
    }
}
