//! Domain types to the generated envelope types.

use std::time::{Duration, SystemTime};

use prost_types::Timestamp;
use serde_json::{Map, Value};
use toolwire_base::files::Problem;

use super::{
    ConfirmationRequired, ErrorCode, Event, Kept, Origin, Payload, Provenance, Terminal, ToolError,
    ToolResult, Violation, frame, json, proto::v1,
};

/// The marker of untrusted text, as `UntrustedFraming` names it.
pub const UNTRUSTED_META: &str = frame::MARKER;

/// The form in which a caller wants the data of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultFormat {
    #[default]
    Struct,
    Json,
}

impl From<v1::ResultFormat> for ResultFormat {
    fn from(format: v1::ResultFormat) -> Self {
        match format {
            // `Model` renders the whole result elsewhere; chunks before it are sent as JSON.
            v1::ResultFormat::Json | v1::ResultFormat::Model => Self::Json,
            v1::ResultFormat::Struct | v1::ResultFormat::Unspecified => Self::Struct,
        }
    }
}

impl From<Problem> for v1::DefinitionProblem {
    fn from(problem: Problem) -> Self {
        let Problem { file, pointer, rule, description, .. } = problem;
        Self { file, pointer, rule: rule.to_owned(), description }
    }
}

/// An instant to the millisecond, as the contract states times.
pub fn timestamp(time: SystemTime) -> Timestamp {
    let mut timestamp = Timestamp::from(time);
    timestamp.nanos -= timestamp.nanos % 1_000_000;
    timestamp
}

/// A length of time, capped at the longest that protobuf has.
pub fn duration(duration: Duration) -> prost_types::Duration {
    duration.try_into().unwrap_or(prost_types::Duration { seconds: 315_576_000_000, nanos: 0 })
}

/// An age in whole seconds, or in milliseconds below one second: more would be noise.
fn round_age(age: Duration) -> Duration {
    let seconds = Duration::from_secs(age.as_secs());
    if seconds.is_zero() { Duration::from_millis(age.subsec_millis().into()) } else { seconds }
}

pub fn tool_result(result: ToolResult, format: ResultFormat) -> v1::ToolResult {
    use v1::tool_result::Outcome;
    let structure =
        |payload: &Payload| (format == ResultFormat::Struct).then(|| payload.to_struct()).flatten();
    let outcome = match result.outcome {
        Err(error) => Outcome::Error(tool_error(error)),
        Ok(payload) => match structure(&payload) {
            Some(structure) => Outcome::Data(structure),
            None => Outcome::DataJson(payload.into_json_text()),
        },
    };
    v1::ToolResult {
        tool: result.tool.into(),
        fetched_at: Some(timestamp(result.fetched_at)),
        outcome: Some(outcome),
        provenance: Some(provenance(result.provenance)),
        kept: result.kept.map(|it| kept(*it)),
    }
}

/// A result as a model reads it.
pub fn result_in_text(result: ToolResult, text: String) -> v1::ToolResult {
    v1::ToolResult {
        tool: result.tool.into(),
        fetched_at: Some(timestamp(result.fetched_at)),
        outcome: Some(v1::tool_result::Outcome::DataText(text)),
        provenance: Some(provenance(result.provenance)),
        kept: result.kept.map(|it| kept(*it)),
    }
}

fn kept(kept: Kept) -> v1::KeptResult {
    let Kept { call_id, tokens, expires_at, .. } = kept;
    v1::KeptResult { call_id, tokens, expires_at: Some(timestamp(expires_at)) }
}

/// Where data came from.
pub fn provenance(provenance: Provenance) -> v1::Provenance {
    v1::Provenance {
        source_ids: provenance.source_ids,
        as_of: provenance.as_of,
        from_cache: provenance.cached_for.is_some(),
        age: provenance.cached_for.map(|age| duration(round_age(age))),
        warnings: provenance.warnings,
        untrusted_framing: provenance
            .untrusted_nonce
            .map(|nonce| v1::UntrustedFraming { meta: UNTRUSTED_META.to_owned(), nonce }),
    }
}

pub fn tool_error(error: ToolError) -> v1::ToolError {
    v1::ToolError {
        code: error_code(error.code).into(),
        message: error.message,
        retryable: error.retryable,
        retry_after: error.retry_after.map(duration),
        origin: origin(error.origin).into(),
        field_violations: error.violations.into_iter().map(field_violation).collect(),
        attempts: error.attempts,
    }
}

pub fn field_violation(violation: Violation) -> v1::FieldViolation {
    v1::FieldViolation {
        pointer: violation.pointer,
        rule: violation.rule,
        description: violation.description,
    }
}

/// An event of a call in its stream, its data in the wanted format.
pub fn event(event: Event, format: ResultFormat) -> v1::call_event::Event {
    use v1::call_event::Event as Wire;
    match event {
        Event::Accepted { tool, digest, deadline } => Wire::Accepted(v1::Accepted {
            tool: tool.into(),
            digest: digest.to_string(),
            deadline: Some(timestamp(deadline)),
        }),
        Event::Progress { fraction, message } => Wire::Progress(v1::Progress { fraction, message }),
        Event::Chunk(data) => Wire::Chunk(chunk(data, format)),
        Event::AwaitingConfirmation(it) => Wire::AwaitingConfirmation(confirmation_required(*it)),
    }
}

fn chunk(data: Map<String, Value>, format: ResultFormat) -> v1::Chunk {
    let structure = (format == ResultFormat::Struct).then(|| json::to_exact_struct(&data)).flatten();
    let data_json = if structure.is_none() { Value::Object(data).to_string() } else { String::new() };
    v1::Chunk { data: structure, data_json }
}

/// The last event of a call in its stream.
pub fn terminal(terminal: Terminal, format: ResultFormat) -> v1::call_event::Event {
    use v1::call_event::Event as Wire;
    match terminal {
        Terminal::Result(result) => Wire::Result(tool_result(result, format)),
        Terminal::ConfirmationRequired(it) => Wire::ConfirmationRequired(confirmation_required(*it)),
    }
}

/// The last event of a call, without its stream.
pub fn outcome(terminal: Terminal, format: ResultFormat) -> v1::call_tool_response::Outcome {
    use v1::call_tool_response::Outcome as Wire;
    match terminal {
        Terminal::Result(result) => Wire::Result(tool_result(result, format)),
        Terminal::ConfirmationRequired(it) => Wire::ConfirmationRequired(confirmation_required(*it)),
    }
}

/// A call that a person must approve first.
pub fn confirmation_required(it: ConfirmationRequired) -> v1::ConfirmationRequired {
    v1::ConfirmationRequired {
        confirmation_id: it.confirmation_id.to_string(),
        summary: it.summary,
        arguments: json::to_exact_struct(&it.arguments),
        expires_at: Some(timestamp(it.expires_at)),
        tool: it.tool.into(),
        path: it.path.into_iter().map(Into::into).collect(),
        request_id: it.request_id,
        consequence_level: it.consequence_level.into(),
        arguments_json: Value::Object(it.arguments).to_string(),
        definition_digest: it.definition_digest.to_string(),
        cause: v1::ConfirmationCause::from(it.cause).into(),
        url: it.url,
    }
}

fn origin(origin: Origin) -> v1::ErrorOrigin {
    match origin {
        Origin::Caller => v1::ErrorOrigin::Caller,
        Origin::Tool => v1::ErrorOrigin::Tool,
        Origin::Source => v1::ErrorOrigin::Source,
        Origin::Service => v1::ErrorOrigin::Service,
    }
}

pub fn error_code(code: ErrorCode) -> v1::ToolErrorCode {
    match code {
        ErrorCode::Unknown => v1::ToolErrorCode::Unknown,
        ErrorCode::RateLimited => v1::ToolErrorCode::RateLimited,
        ErrorCode::NotFound => v1::ToolErrorCode::NotFound,
        ErrorCode::Timeout => v1::ToolErrorCode::Timeout,
        ErrorCode::AuthFailed => v1::ToolErrorCode::AuthFailed,
        ErrorCode::Blocked => v1::ToolErrorCode::Blocked,
        ErrorCode::ParseError => v1::ToolErrorCode::ParseError,
        ErrorCode::InvalidArgument => v1::ToolErrorCode::InvalidArgument,
        ErrorCode::PermissionDenied => v1::ToolErrorCode::PermissionDenied,
        ErrorCode::Cancelled => v1::ToolErrorCode::Cancelled,
        ErrorCode::Unavailable => v1::ToolErrorCode::Unavailable,
        ErrorCode::Conflict => v1::ToolErrorCode::Conflict,
        ErrorCode::ResultTooLarge => v1::ToolErrorCode::ResultTooLarge,
        ErrorCode::ConfirmationDenied => v1::ToolErrorCode::ConfirmationDenied,
        ErrorCode::ConfirmationExpired => v1::ToolErrorCode::ConfirmationExpired,
        ErrorCode::OutcomeUnknown => v1::ToolErrorCode::OutcomeUnknown,
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn an_age_is_rounded_to_seconds_or_milliseconds() {
        let rounded = |age: f64| round_age(Duration::from_secs_f64(age)).as_secs_f64().to_string();
        assert_eq!([100.688_164_658, 1.9, 0.050_71].map(rounded), ["100", "1", "0.05"]);
    }

    #[test]
    fn what_a_structure_would_round_is_sent_as_text() {
        use v1::tool_result::Outcome;
        let sent = |data: Value| {
            let Value::Object(object) = data.clone() else { unreachable!("data is an object") };
            let result = ToolResult {
                tool: "t".parse().expect("a name"),
                fetched_at: SystemTime::UNIX_EPOCH,
                outcome: Ok(Payload::from_json(data)),
                provenance: Provenance::default(),
                kept: None,
            };
            let v1::Chunk { data, data_json } = chunk(object, ResultFormat::Struct);
            (
                data.is_some(),
                data_json,
                tool_result(result, ResultFormat::Struct).outcome.expect("an outcome"),
            )
        };
        let (is_structure, text, outcome) =
            sent(serde_json::json!({"n": 9_007_199_254_740_991_i64, "x": 1e300}));
        assert!(is_structure && text.is_empty() && matches!(outcome, Outcome::Data(_)));
        let exact = r#"{"n":9007199254740993}"#.to_owned();
        let sent = sent(serde_json::json!({"n": 9_007_199_254_740_993_i64}));
        assert_eq!(sent, (false, exact.clone(), Outcome::DataJson(exact)));
    }

    #[test]
    fn every_code_has_the_same_name_on_the_wire() {
        for code in ErrorCode::VARIANTS {
            let wire = error_code(*code).as_str_name();
            assert_eq!(wire, format!("TOOL_ERROR_CODE_{}", code.into_str()));
        }
        // The wire has one value more: unspecified.
        let last = i32::from(error_code(ErrorCode::OutcomeUnknown));
        assert_eq!(usize::try_from(last).expect("positive"), ErrorCode::VARIANTS.len());
    }
}
