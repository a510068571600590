//! What a host says of the end of a call, as the result of it.
//!
//! A host's words are bounded and its data checked here; what only the server may say (`CONFIRMATION_*`, the origin of
//! an error) is not taken over.

use std::{fmt, sync::Arc, time::Duration};

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::{
    bounds::{MAX_DATA, MAX_ERROR, MAX_RETRY_AFTER},
    wire::outcome::Outcome,
};
use toolwire_base::offload;
use toolwire_contract::{
    ErrorCode, Origin, Payload, ToolError, Violation,
    json::{self, MAX_DEPTH, is_within_depth},
    proto::v1,
};

/// A compiled pattern, in bytes: without a bound one of a few characters takes 10 MiB.
const MAX_PATTERN: usize = 512 * 1024;
/// Violations of arguments that are taken over from an error.
const MAX_VIOLATIONS: usize = 100;

/// What carrying a call out changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Read,
    /// A write that changes nothing more when it is carried out again.
    RepeatableWrite,
    Write,
}

/// The declared result of a tool.
#[derive(Clone)]
pub struct OutputSchema {
    schema: Arc<Value>,
    validator: Arc<Validator>,
    /// The length of its text in KiB, rounded up.
    size: usize,
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutputSchema").field(&self.schema).finish()
    }
}

impl OutputSchema {
    /// Fails if it does not compile.
    pub fn new(schema: impl Into<Arc<Value>>) -> Result<Self, String> {
        let schema = schema.into();
        let validator = compile(&schema)?;
        let size = schema.to_string().len().div_ceil(1_024);
        Ok(Self { schema, validator: Arc::new(validator), size })
    }
}

/// A validator as the registry makes them: formats count, patterns take linear time, nothing is fetched.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN))
        .build(schema)
        .map_err(|error| error.to_string())
}

/// The result of a call.
pub(crate) async fn read(
    outcome: Outcome,
    effect: Effect,
    output: &OutputSchema,
) -> Result<Payload, ToolError> {
    match outcome {
        Outcome::DataJson(text) => read_data(text, effect, output).await,
        Outcome::Error(error) => Err(failure(error, effect)),
    }
}

/// The data of a call, checked: its size, its depth, and that it is of the declared form.
pub async fn read_data(text: String, effect: Effect, output: &OutputSchema) -> Result<Payload, ToolError> {
    let data = if text.len() > MAX_DATA {
        let message = format!("The result is {} bytes, over the limit of {MAX_DATA}.", text.len());
        Err(ToolError::new(ErrorCode::ResultTooLarge, message))
    } else {
        // A large schema makes much work of few bytes.
        let (bytes, validator) = (text.len().saturating_mul(output.size), Arc::clone(&output.validator));
        offload::if_large(bytes, move || data(&text, &validator)).await
    };
    data.map_err(|error| add_that_it_was_done(error, effect))
}

fn data(text: &str, output: &Validator) -> Result<Payload, ToolError> {
    let misfit = |what: String| ToolError::new(ErrorCode::ParseError, what).with_origin(Origin::Tool);
    let value = json::parse(text).map_err(|error| misfit(format!("The result is not JSON: {error}.")))?;
    if !value.is_object() {
        return Err(misfit("The result is not a JSON object.".to_owned()));
    }
    if !is_within_depth(&value) {
        return Err(misfit(format!("The result nests deeper than {MAX_DEPTH} levels.")));
    }
    // The first error is enough: to find all takes as long as a host wants it to.
    if let Err(error) = output.validate(&value) {
        let what = cut(&error.to_string(), MAX_ERROR / 4);
        return Err(misfit(format!(
            "The result does not fit the declared output at `{}`: {what}.",
            error.instance_path().as_str()
        )));
    }
    let payload = Payload::from_json(value);
    if text.len() > offload::SMALL {
        // Rendered here, and not first where it is sent.
        payload.largest_len();
    }
    Ok(payload)
}

/// An error of an answer: the tool has ended.
pub fn add_that_it_was_done(error: ToolError, effect: Effect) -> ToolError {
    if effect == Effect::Read {
        return error;
    }
    ToolError { message: format!("The write was done. {}", error.message), ..error }
}

fn failure(error: v1::ToolError, effect: Effect) -> ToolError {
    let code = code(error.code(), effect);
    let is_unknown = code == ErrorCode::OutcomeUnknown;
    let message = cut(&error.message, MAX_ERROR);
    let usual = ToolError::new(code, if is_unknown { add_what_to_do(&message) } else { message });
    let violations = error.field_violations.into_iter().take(MAX_VIOLATIONS);
    ToolError {
        // The call has ended on its host, so that a repeat learns no more than this.
        retryable: error.retryable && !is_unknown,
        retry_after: error
            .retry_after
            .and_then(|it| Duration::try_from(it).ok())
            .map(|it| it.min(MAX_RETRY_AFTER)),
        origin: Origin::Tool,
        violations: violations
            .map(|it| Violation {
                pointer: cut(&it.pointer, MAX_ERROR),
                rule: cut(&it.rule, MAX_ERROR),
                description: cut(&it.description, MAX_ERROR),
            })
            .collect(),
        ..usual
    }
}

/// The function ended in the middle of a write.
fn add_what_to_do(message: &str) -> String {
    let message = message.trim_end().trim_end_matches('.');
    format!(
        "{message}. How much of it was done is not known: look at what it was to change, then decide whether to call \
         again under a new request_id."
    )
}

/// The code that a caller sees. A read has no outcome that could be unknown. Of a write that cannot be repeated, what
/// does not say that nothing was changed leaves the outcome unknown.
fn code(code: v1::ToolErrorCode, effect: Effect) -> ErrorCode {
    use v1::ToolErrorCode as Code;
    let code = match code {
        Code::RateLimited => ErrorCode::RateLimited,
        Code::NotFound => ErrorCode::NotFound,
        Code::Timeout => ErrorCode::Timeout,
        Code::AuthFailed => ErrorCode::AuthFailed,
        Code::Blocked => ErrorCode::Blocked,
        Code::ParseError => ErrorCode::ParseError,
        Code::InvalidArgument => ErrorCode::InvalidArgument,
        Code::PermissionDenied => ErrorCode::PermissionDenied,
        Code::Cancelled => ErrorCode::Cancelled,
        Code::Unavailable => ErrorCode::Unavailable,
        Code::Conflict => ErrorCode::Conflict,
        Code::ResultTooLarge => ErrorCode::ResultTooLarge,
        Code::OutcomeUnknown if effect != Effect::Read => ErrorCode::OutcomeUnknown,
        Code::OutcomeUnknown
        | Code::Unknown
        | Code::Unspecified
        | Code::ConfirmationDenied
        | Code::ConfirmationExpired => ErrorCode::Unknown,
    };
    let is_uncertain = matches!(
        code,
        ErrorCode::Unknown | ErrorCode::Unavailable | ErrorCode::Timeout | ErrorCode::Cancelled
    );
    if effect == Effect::Write && is_uncertain { ErrorCode::OutcomeUnknown } else { code }
}

/// As much of a text as a bound in bytes allows.
pub fn cut(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

#[cfg(test)]
mod tests;
