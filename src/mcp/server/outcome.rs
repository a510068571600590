//! The end of a call in the protocol's terms. What an agent can act on is a result with `isError`; what the client
//! program did wrong is an error of JSON-RPC.
//!
//! A failure has no `structuredContent`: clients validate that against the output schema and hide the words.

mod broken_off;
mod data;
mod failure;
mod needs_scope;

use std::time::Duration;

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject},
};
use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use self::{broken_off::is_deadline, data::success_meta, failure::Failure};
pub(super) use self::{
    broken_off::{broken_off, may_have_been_sent},
    data::Data,
    needs_scope::{NeedsScope, of_refusal},
};
use super::{approval_words::how_to_approve, call_facts::CallFacts, media::Media};
use toolwire_contract::{
    frame,
    proto::v1::{self, ConfirmationRequired, tool_result::Outcome},
    status::{DOMAIN, sign_in},
};

/// The answer to a call.
pub(super) enum Answer {
    Data(Data),
    /// Anything else, such as a failure, or data in a frame, in part or with blocks of media.
    Other(Box<CallToolResponse>),
    /// A refusal that a token of more scope would not meet.
    NeedsScope(Box<NeedsScope>),
}

impl From<CallToolResponse> for Answer {
    fn from(response: CallToolResponse) -> Self {
        Self::Other(Box::new(response))
    }
}

impl From<CallToolResult> for Answer {
    fn from(result: CallToolResult) -> Self {
        CallToolResponse::from(result).into()
    }
}

impl Answer {
    pub(super) fn into_response(self) -> CallToolResponse {
        match self {
            Self::Data(data) => CallToolResult::from(data).into(),
            Self::Other(response) => *response,
            Self::NeedsScope(refused) => CallToolResult::from(*refused).into(),
        }
    }
}

/// The answer for a result.
pub(super) fn of_result(
    result: v1::ToolResult,
    facts: &CallFacts,
    media: Option<&Media>,
) -> Result<Answer, Status> {
    let provenance = result.provenance.unwrap_or_default();
    // Base64 that is cut is no image.
    let media = media.filter(|it| !it.is_empty() && result.kept.is_none());
    let is_plain = media.is_none() && result.kept.is_none() && provenance.untrusted_framing.is_none();
    let mut answer = match result.outcome {
        Some(Outcome::DataJson(text)) if is_plain => {
            return Data::new(text, provenance, facts).map(Answer::Data).map_err(|error| unreadable(&error));
        }
        Some(Outcome::DataJson(text)) => of_data(text, &provenance, facts, media)?,
        // Data that cannot be cut in its own shape: clients validate data, and not failures.
        Some(Outcome::DataText(_)) => of_failure(&Failure::too_large(), facts),
        Some(Outcome::Error(error)) => of_failure(&Failure::of_tool(error, facts), facts),
        _ => return Err(Status::internal("the server answered without data")),
    };
    if let Some(kept) = result.kept {
        add_read_on_advice(&mut answer, &kept);
    }
    Ok(answer.into())
}

fn unreadable(error: &serde_json::Error) -> Status {
    Status::internal(format!("the result cannot be read: {error}"))
}

/// Adds for the model that this is a part, and how to read the rest.
fn add_read_on_advice(answer: &mut CallToolResult, kept: &v1::KeptResult) {
    let v1::KeptResult { call_id, tokens, expires_at } = kept;
    let words = format!(
        "The whole result has {tokens} tokens: lists and texts are cut. read_result with call_id {call_id} and an \
         offset, a pointer or a query reads on"
    );
    answer.content.push(ContentBlock::text(words));
    let expires_at = expires_at.as_ref().map(ToString::to_string);
    let kept = json!({"call_id": call_id, "tokens": tokens, "expires_at": expires_at});
    answer.meta.get_or_insert_default().insert("toolwire/kept".to_owned(), kept);
}

fn of_data(
    text: String,
    provenance: &v1::Provenance,
    facts: &CallFacts,
    media: Option<&Media>,
) -> Result<CallToolResult, Status> {
    let data: Value = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    let blocks = media.map(|media| media.blocks(&data, &facts.call_id)).unwrap_or_default();
    let (data, text) = match &provenance.untrusted_framing {
        None => (data, text),
        // The model reads the text between lines that its authors cannot forge; a program finds both in the data.
        Some(framing) => (framed(data, framing), frame::wrap(&framing.nonce, "", &text)),
    };
    let mut result = CallToolResult::success([vec![ContentBlock::text(text)], blocks].concat());
    result.structured_content = Some(data);
    result.meta = Some(success_meta(provenance.clone(), facts));
    Ok(result)
}

fn framed(data: Value, framing: &v1::UntrustedFraming) -> Value {
    let Value::Object(data) = data else { return data };
    let mut members = JsonObject::new();
    members.insert("_meta".to_owned(), framing.meta.clone().into());
    members.insert("nonce".to_owned(), framing.nonce.clone().into());
    members.extend(data);
    Value::Object(members)
}

/// The answer for a call that a person must approve, and on which no person has decided yet. `takes_request_id`:
/// whether a model can give the tool one.
pub(super) fn confirmation_required(
    required: &ConfirmationRequired,
    facts: &CallFacts,
    flags: &str,
    takes_request_id: bool,
) -> CallToolResult {
    let id = &required.confirmation_id;
    let key =
        if takes_request_id { format!(" and request_id {}", required.request_id) } else { String::new() };
    let how = how_to_approve(required, flags);
    let message = format!("{how}; then call again with the same arguments{key}");
    let failure = Failure {
        code: "CONFIRMATION_REQUIRED".to_owned(),
        message,
        retryable: true,
        origin: "service",
        ..Failure::default()
    };
    let mut result = of_failure(&failure, facts);
    let meta = result.meta.get_or_insert_default();
    meta.insert("toolwire/confirmation_id".to_owned(), id.clone().into());
    result
}

/// The answer of data of the face's own.
pub(super) fn structured(data: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(data.to_string())]);
    result.structured_content = Some(data);
    result
}

/// The answer for an argument of the face's own that is invalid, such as a `request_id` that is none.
pub(super) fn invalid_argument(pointer: &str, what: &str) -> CallToolResult {
    let violation = v1::FieldViolation {
        pointer: pointer.to_owned(),
        rule: "format".to_owned(),
        description: what.to_owned(),
    };
    let failure = Failure {
        code: "INVALID_ARGUMENT".to_owned(),
        message: format!("Invalid arguments: {what}"),
        origin: "caller",
        violations: vec![violation],
        ..Failure::default()
    };
    of_failure(&failure, &CallFacts::default())
}

/// The answer for a write that was started and whose outcome cannot be known.
pub(super) fn unknown(facts: &CallFacts) -> CallToolResult {
    let failure = Failure {
        code: "OUTCOME_UNKNOWN".to_owned(),
        message: "The write was started, and how it ended is not known. Look at what it was to change, then decide \
                  whether to write again under a new request_id"
            .to_owned(),
        origin: "service",
        ..Failure::default()
    };
    of_failure(&failure, facts)
}

/// The answer for a call that did not reach an end of its own.
pub(super) fn of_status(status: &Status, facts: &CallFacts) -> Result<CallToolResult, ErrorData> {
    let details = status.get_error_details();
    let reason = details.error_info().filter(|info| info.domain == DOMAIN).map(|info| info.reason.clone());
    match (reason.as_deref(), status.code()) {
        (Some("UNKNOWN_TOOL"), _) => Err(unknown_tool(status.message())),
        (Some("INVALID_REQUEST"), _) => Err(ErrorData::invalid_params(status.message().to_owned(), None)),
        (None, _) if is_deadline(status) => Ok(of_failure(&Failure::deadline_exceeded(), facts)),
        // A server that cannot be reached.
        (None, Code::Unavailable) => Ok(of_failure(&Failure::unavailable(status), facts)),
        (None | Some("INTERNAL"), _) => Err(internal(status.message(), facts)),
        (Some(reason), code) => {
            let retryable = matches!(
                code,
                Code::Unavailable
                    | Code::ResourceExhausted
                    | Code::DeadlineExceeded
                    | Code::FailedPrecondition
            ) && reason != "TOOL_DISABLED";
            let failure = Failure {
                code: reason.to_owned(),
                message: message(status),
                retryable,
                retry_after: details.retry_info().and_then(|it| it.retry_delay),
                origin: if code == Code::Unavailable { "service" } else { "caller" },
                ..Failure::default()
            };
            Ok(of_failure(&failure, facts))
        }
    }
}

/// What a status says, with the command by which the person at this client is let in.
fn message(status: &Status) -> String {
    let text = status.message();
    match sign_in::of(status) {
        Some(command) => format!("{text}. The person at this client runs `{command}`; then call again"),
        None => text.to_owned(),
    }
}

/// The error of a request other than a call.
pub(super) fn protocol_error(status: &Status) -> ErrorData {
    match status.code() {
        Code::InvalidArgument => ErrorData::invalid_params(status.message().to_owned(), None),
        _ => ErrorData::internal_error(message(status), None),
    }
}

/// The error of a cancelled request. It reaches a client only after the end of its input.
pub(super) fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled before its end", None)
}

fn unknown_tool(message: &str) -> ErrorData {
    let stop = if message.ends_with(['.', '?']) { "" } else { "." };
    ErrorData::invalid_params(
        format!("{message}{stop} If it was listed before, it was renamed or removed; list again"),
        None,
    )
}

fn internal(message: &str, facts: &CallFacts) -> ErrorData {
    let data = (!facts.call_id.is_empty()).then(|| json!({"call_id": facts.call_id}));
    ErrorData::internal_error(message.to_owned(), data)
}

fn of_failure(failure: &Failure, facts: &CallFacts) -> CallToolResult {
    let details = failure.to_json(facts);
    // The words alone would read as data in clients that drop `isError`.
    let words = format!("FAILED {}: {}{}", failure.code, failure.message, failure.advice(facts));
    let mut result =
        CallToolResult::error(vec![ContentBlock::text(words), ContentBlock::text(details.to_string())]);
    let mut meta = facts.meta();
    meta.insert("toolwire/error".to_owned(), details);
    result.meta = Some(MetaObject(meta));
    result
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}
