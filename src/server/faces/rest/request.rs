//! Decodes a request to a tool: target, body, headers and query to a call.

use http::{HeaderMap, HeaderName, request::Parts};

use crate::{
    faces::{
        http::{
            conditional::{self, Conditions, Tag, Tags},
            header,
            problem::Problem,
            query::Query,
        },
        incoming,
        render::result::ResultForm,
    },
    service::{Tools, request},
};
use toolwire_base::digest::Digest;
use toolwire_contract::{Refusal, arguments, proto::v1::ResultFormat};
use toolwire_engine::pipeline::{Call, Target};

/// The header of the idempotency key, as callers write it, and its name.
const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The call that a request asks for, whose body is the arguments, and the form of its result.
pub(super) fn call(parts: &Parts, target: Target, body: &[u8]) -> Result<(Box<Call>, ResultForm), Refusal> {
    let form = form(&Query::read(&parts.uri, &["format", "max_tokens", "keep_over_tokens"])?)?;
    let arguments = arguments::from_text(request::body_text(body)?);
    let mut call = incoming::call(&parts.extensions, request::target(Some(target))?, arguments);
    incoming::metadata(&mut call, &parts.headers)?;
    if form.keep_over_tokens.is_some() {
        call.options.get_or_insert_default().keep_over_tokens = form.keep_over_tokens;
    }
    if let Some(key) = key(&parts.headers)? {
        call.request_id = request::request_id(IDEMPOTENCY_KEY, key)?;
    }
    incoming::hand_over(&parts.extensions);
    Ok((call, form))
}

/// The call that a request wants explained, whose body is the arguments.
pub(super) fn explained_call(parts: &Parts, target: Target, body: &[u8]) -> Result<Box<Call>, Refusal> {
    Query::read(&parts.uri, &[])?;
    let arguments = arguments::from_text(request::body_text(body)?);
    let mut call = incoming::call(&parts.extensions, request::target(Some(target))?, arguments);
    incoming::metadata(&mut call, &parts.headers)?;
    Ok(call)
}

/// Names the fields of a refusal by the headers in which callers of this face send them.
pub(super) fn with_header_names(refusal: Refusal) -> Refusal {
    let Refusal::InvalidRequest(mut violations) = refusal else { return refusal };
    for violation in violations.iter_mut().filter(|it| it.pointer == "request_id") {
        violation.description = violation.description.replace("request_id", IDEMPOTENCY_KEY);
        IDEMPOTENCY_KEY.clone_into(&mut violation.pointer);
    }
    Refusal::InvalidRequest(violations)
}

fn form(query: &Query) -> Result<ResultForm, Refusal> {
    let format = match query.one("format")? {
        "" | "json" => ResultFormat::Json,
        "model" => ResultFormat::Model,
        _ => return Err(request::refuse("format", "enum", "must be json or model")),
    };
    let form = ResultForm::read(format, query.number("max_tokens")?.unwrap_or_default())?;
    form.with_keep_over(query.number("keep_over_tokens")?.unwrap_or_default())
}

/// The idempotency key: bare, or in quotation marks as its Internet-Draft has it.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let Some(text) = header::text(headers, &KEY, IDEMPOTENCY_KEY)? else { return Ok(None) };
    let bare = unquote(text).unwrap_or(text);
    if bare.is_empty() {
        return Err(request::refuse(IDEMPOTENCY_KEY, "format", "must be a UUID"));
    }
    Ok(Some(bare))
}

/// Binds a call to the preconditions of its request. The representation is the definition that is called: a tag is its
/// digest, alone or followed by a dot and its status. The pipeline refuses a definition that changes after this.
pub(super) fn bind(call: &mut Call, conditions: &Conditions, tools: &Tools) -> Result<(), Problem> {
    // Passed on: the pipeline refuses what the user may not call, and says why.
    let Some(tool) = tools.find(&call.context.user, &call.target) else { return Ok(()) };
    let digest = tool.definition.digest;
    let is_named = |tag: &Tag| tag.text.split('.').next().and_then(Digest::from_hex) == Some(digest);
    if let Some(Tags::Listed(tags)) = &conditions.if_match {
        if !tags.iter().any(|tag| !tag.is_weak && is_named(tag)) {
            return Err(Refusal::DefinitionChanged { tool: tool.definition.name.to_string() }.into());
        }
        call.options.get_or_insert_default().expected_digest = Some(digest);
    }
    match &conditions.if_none_match {
        Some(Tags::Any) => Err(conditional::precondition_failed()),
        Some(Tags::Listed(tags)) if tags.iter().any(is_named) => Err(conditional::precondition_failed()),
        _ => Ok(()),
    }
}

/// The text between quotation marks.
fn unquote(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"')
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
}
