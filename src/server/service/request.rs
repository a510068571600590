//! Validates the parts of a request for a call: the bounds are the same for every face.
//!
//! `field` is what the face's callers call a part, so that an error names it as they wrote it.

use std::time::{Duration, SystemTime};

use prost_types::Struct;
use toolwire_base::{digest::Digest, words::without_bom};
use toolwire_contract::{
    Refusal, Violation,
    arguments::{self, Arguments},
};
use toolwire_engine::{model, pipeline::Target};
use toolwire_tool::context::{
    Attributes, CallId, InvalidId, RequestId, SessionId, TaskId, TaskLabel, UserId,
};

/// Maximum length of a search text, in bytes.
const MAX_SEARCH: usize = 256;
/// Maximum number of tags in a filter.
const MAX_TAGS: usize = 32;

pub fn target(given: Option<Target>) -> Result<Target, Refusal> {
    match given {
        Some(target) if !target.as_str().is_empty() => Ok(target),
        _ => Err(refuse("tool", "required", "or intent must be set; ListTools lists what you may call")),
    }
}

/// An object given as a structure: its numbers must be those of JSON, and its depth is bounded. The arguments of a call
/// do not come here: the model that wrote them gets their errors in the result (`Call::given`).
pub fn object(field: &str, structure: Struct) -> Result<Arguments, Refusal> {
    arguments::from_struct(structure).map_err(|why| refuse(field, why.rule, &why.what))
}

/// The words of a search.
pub fn search<'a>(field: &str, text: &'a str) -> Result<&'a str, Refusal> {
    if text.len() > MAX_SEARCH {
        return Err(refuse(field, "max_length", &format!("must have at most {MAX_SEARCH} bytes")));
    }
    Ok(text)
}

/// The tags of a search.
pub fn tags(field: &str, tags: Vec<String>) -> Result<Vec<String>, Refusal> {
    if tags.len() > MAX_TAGS {
        return Err(refuse(field, "max_items", &format!("must have at most {MAX_TAGS} elements")));
    }
    Ok(tags)
}

/// An identifier by which a repeat is recognised; none if the text is empty.
pub fn request_id(field: &str, text: &str) -> Result<Option<RequestId>, Refusal> {
    optional(text).map(str::parse).transpose().map_err(|error| invalid_id(field, "format", &error))
}

pub fn call_id(field: &str, text: &str) -> Result<CallId, Refusal> {
    text.parse().map_err(|error| invalid_id(field, "format", &error))
}

/// The task on whose behalf the call is made; none if the text is empty.
pub fn task_id(field: &str, text: &str) -> Result<Option<TaskLabel>, Refusal> {
    optional(text).map(str::parse).transpose().map_err(|error| invalid_id(field, "max_length", &error))
}

pub fn kept_task_id(field: &str, text: &str) -> Result<TaskId, Refusal> {
    text.parse().map_err(|error| invalid_id(field, "format", &error))
}

/// The caller's session; none if the text is empty.
pub fn session_id(field: &str, text: &str) -> Result<Option<SessionId>, Refusal> {
    optional(text).map(str::parse).transpose().map_err(|error| invalid_id(field, "max_length", &error))
}

/// The text of a body, without a byte order mark.
pub fn body_text(body: &[u8]) -> Result<&str, Refusal> {
    let text = str::from_utf8(body).map_err(|_| refuse("body", "json", "must be UTF-8"))?;
    Ok(without_bom(text))
}

/// The digest of the definition that a call is bound to; none if the text is empty.
pub fn expected_digest(field: &str, text: &str) -> Result<Option<Digest>, Refusal> {
    let malformed = || refuse(field, "format", "must be 64 hexadecimal digits, as in ToolDefinition.digest");
    optional(text).map(|text| Digest::from_hex(text).ok_or_else(malformed)).transpose()
}

/// A length of time that is not negative.
pub fn wait(field: &str, wait: Option<prost_types::Duration>) -> Result<Option<Duration>, Refusal> {
    let negative = |_| refuse(field, "minimum", "must not be negative");
    wait.map(|wait| wait.try_into().map_err(negative)).transpose()
}

/// The wait for an answer, at most `longest`; zero if absent.
pub fn wait_within(
    field: &str,
    wait: Option<prost_types::Duration>,
    longest: Duration,
) -> Result<Duration, Refusal> {
    match self::wait(field, wait)?.unwrap_or_default() {
        wait if wait > longest => {
            Err(refuse(field, "maximum", &format!("must be at most {} s", longest.as_secs())))
        }
        wait => Ok(wait),
    }
}

/// An instant; none if there is none.
pub fn instant(field: &str, at: Option<prost_types::Timestamp>) -> Result<Option<SystemTime>, Refusal> {
    let invalid = |_| refuse(field, "format", "must be an instant that a clock can show");
    at.map(|at| at.try_into().map_err(invalid)).transpose()
}

/// The budget of what a model is to read; the usual one if it is 0.
pub fn max_tokens(field: &str, tokens: u32) -> Result<u64, Refusal> {
    budget(field, tokens).map(|budget| budget.unwrap_or(model::USUAL_TOKENS))
}

/// The maximum number of tokens of data that is not kept; none if it is 0.
pub fn keep_over_tokens(field: &str, tokens: u32) -> Result<Option<u64>, Refusal> {
    budget(field, tokens)
}

fn budget(field: &str, tokens: u32) -> Result<Option<u64>, Refusal> {
    match u64::from(tokens) {
        0 => Ok(None),
        few if few < model::LEAST_TOKENS => {
            Err(refuse(field, "minimum", &format!("must be at least {}", model::LEAST_TOKENS)))
        }
        many if many > model::MOST_TOKENS => {
            Err(refuse(field, "maximum", &format!("must be at most {}", model::MOST_TOKENS)))
        }
        tokens => Ok(Some(tokens)),
    }
}

/// Parses a user's name; none if the text is empty.
pub fn user_id(field: &str, text: &str) -> Result<Option<UserId>, Refusal> {
    optional(text).map(str::parse).transpose().map_err(|error| invalid_id(field, "format", &error))
}

/// Values for tools that ask for them.
pub fn attributes(
    field: &str,
    entries: impl IntoIterator<Item = (String, String)>,
) -> Result<Attributes, Refusal> {
    Attributes::new(entries).map_err(|error| refuse(field, "max_properties", &error.to_string()))
}

/// A request with one thing wrong; the description goes on where the field's name ends.
pub fn refuse(field: &str, rule: &str, description: &str) -> Refusal {
    let (pointer, rule, description) = (field.to_owned(), rule.to_owned(), format!("{field} {description}"));
    Refusal::InvalidRequest(vec![Violation { pointer, rule, description }])
}

fn optional(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn invalid_id(field: &str, rule: &str, error: &InvalidId) -> Refusal {
    refuse(field, rule, &error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolwire_contract::json;

    #[track_caller]
    fn assert_refused<T: std::fmt::Debug>(found: Result<T, Refusal>, field: &str, rule: &str) {
        match found {
            Err(Refusal::InvalidRequest(violations)) => {
                assert_eq!((violations[0].pointer.as_str(), violations[0].rule.as_str()), (field, rule));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_part_is_bounded_and_named_as_the_caller_wrote_it() {
        let long = "x".repeat(129);
        assert_refused(task_id("x-task", &long), "x-task", "max_length");
        assert_refused(session_id("x-session", &long), "x-session", "max_length");
        assert_refused(request_id("Idempotency-Key", "42"), "Idempotency-Key", "format");
        assert_refused(call_id("call", "42"), "call", "format");
        assert_refused(search("text", &"x".repeat(257)), "text", "max_length");
        assert!(search("text", &"x".repeat(256)).is_ok());
        assert_refused(tags("tags", vec![String::new(); 33]), "tags", "max_items");
        let deep = (0..=json::MAX_DEPTH).fold(json!({}), |inner, _| json!({ "a": inner }));
        assert_refused(object("done", json::to_struct(deep.as_object().unwrap())), "done", "depth");
        let many = (0..33).map(|n| (n.to_string(), String::new()));
        assert_refused(attributes("context", many), "context", "max_properties");
        assert_refused(target(None), "tool", "required");
        assert_refused(max_tokens("max_tokens", 255), "max_tokens", "minimum");
        assert_refused(max_tokens("max_tokens", u32::MAX), "max_tokens", "maximum");
        assert_eq!(max_tokens("max_tokens", 0).unwrap(), 4_000);
        assert_refused(keep_over_tokens("keep", 255), "keep", "minimum");
        assert_eq!(keep_over_tokens("keep", 0).unwrap(), None);
    }

    #[test]
    fn the_words_of_an_error_begin_with_the_field_as_the_caller_wrote_it() {
        for field in ["request_id", "x-toolwire-request-id"] {
            let Err(Refusal::InvalidRequest(violations)) = request_id(field, "42") else { panic!("{field}") };
            let expected = format!("{field} must be a UUID such as ");
            assert!(violations[0].description.starts_with(&expected), "{violations:?}");
        }
    }

    #[test]
    fn what_is_empty_is_not_given() {
        assert_eq!(request_id("request_id", "").unwrap(), None);
        assert_eq!(task_id("task_id", "").unwrap(), None);
        assert_eq!(session_id("session_id", "").unwrap(), None);
    }
}
