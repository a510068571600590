//! What a server answers, as the result of a call.
//!
//! | answer | read, or write that can be repeated | other write |
//! |---|---|---|
//! | data | checked against the declared result | same |
//! | `isError` | UNKNOWN with its text: the tool has ended | same |
//! | −32602 · −32601, −32600 | INVALID_ARGUMENT · UNAVAILABLE, not retryable | same |
//! | 401 · 403 · 429 · another 3xx, 4xx | AUTH_FAILED · PERMISSION_DENIED · RATE_LIMITED · UNAVAILABLE | same |
//! | a status that may be of the session | once more, then as above | same |
//! | another error, 5xx | UNKNOWN; 502, 503, 504 as if lost, or UNAVAILABLE until then | OUTCOME_UNKNOWN |
//! | an error that cannot be read, an answer that names no request | PARSE_ERROR | OUTCOME_UNKNOWN |
//! | what cannot be read · over the limit | PARSE_ERROR · RESULT_TOO_LARGE | same, saying that it was done |

use rmcp::{
    ServiceError,
    model::{CallToolResult, ContentBlock, ErrorCode as RpcCode, ErrorData, ResourceContents, ServerResult},
    transport::DynamicTransportError,
};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{
    bounds::MAX_ANSWER,
    http::{Failure, Refusal, failure_of},
    unreadable::{INEXACT, MALFORMED, TOO_LARGE, UNCLEAR},
};
use toolwire_base::{offload, words::visible};
use toolwire_contract::{ErrorCode, Origin, Payload, ToolError, json};
use toolwire_providers::{
    Attempt, Effect, Spec, add_that_it_was_done,
    bounds::{MAX_DATA, MAX_ERROR, MAX_RETRY_AFTER, RETRY_AFTER},
    cut, read_data,
};

/// Without a word of how it ended.
pub(crate) const LOST: Attempt = Attempt::Lost { has_passed_chunk: false };

pub(crate) async fn read(answer: Result<ServerResult, ServiceError>, spec: &Spec, is_sent: bool) -> Attempt {
    let ended = match answer {
        Ok(ServerResult::CallToolResult(result)) => of_result(result, spec).await,
        Ok(ServerResult::EmptyResult(_)) => of_result(CallToolResult::default(), spec).await,
        // Neither was offered to it.
        Ok(ServerResult::InputRequiredResult(_)) => {
            Err(failed(ErrorCode::Unknown, "it asks for input that only a person could give"))
        }
        Ok(ServerResult::CreateTaskResult(_)) => Err(uncertain(spec, "it goes on in the background")),
        // Some entry of its content is of no known form.
        Ok(ServerResult::CustomResult(result))
            if !matches!(result.0["isError"], Value::Bool(_) | Value::Null) =>
        {
            Err(unreadable(spec, "it does not say by true or false whether it is an error"))
        }
        Ok(ServerResult::CustomResult(result)) => match blocks(&result.0) {
            Some(content) => {
                let texts: Vec<_> = content.iter().map(block_text).collect();
                of_parts(is_error(&result.0), structured(&result.0), &texts, spec).await
            }
            None => Err(unreadable(spec, "it is no result of a tool")),
        },
        Ok(_) | Err(ServiceError::UnexpectedResponse) => Err(unreadable(spec, "it is no result of a tool")),
        Err(ServiceError::McpError(error)) => Err(of_rpc(&error, spec)),
        Err(ServiceError::TransportSend(error)) => return of_transport(&error, spec, is_sent),
        Err(ServiceError::TransportClosed) if !is_sent => return Attempt::Unsent,
        Err(_) => return LOST,
    };
    Attempt::Ended(ended)
}

/// Whether the session may be what fails.
pub(crate) fn makes_doubtful(answer: &Result<ServerResult, ServiceError>) -> bool {
    match answer {
        Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse) => false,
        Err(ServiceError::TransportSend(error)) => failure_of(error).is_none_or(Failure::makes_doubtful),
        Err(_) => true,
    }
}

async fn of_result(result: CallToolResult, spec: &Spec) -> Result<Payload, ToolError> {
    let texts: Vec<_> = result.content.iter().map(text).collect();
    of_parts(result.is_error == Some(true), result.structured_content, &texts, spec).await
}

async fn of_parts(
    is_error: bool,
    structured: Option<Value>,
    texts: &[String],
    spec: &Spec,
) -> Result<Payload, ToolError> {
    let text = texts.join("\n");
    if is_error {
        let text = if text.trim().is_empty() { "the tool failed and does not say why" } else { text.trim() };
        let message = cut(&visible(&cut(text, MAX_ERROR)), MAX_ERROR);
        return Err(ToolError::new(ErrorCode::Unknown, message).with_origin(Origin::Tool));
    }
    let data = match structured {
        Some(Value::Object(data)) => {
            let length = if json::is_longer(&data, offload::SMALL) { MAX_DATA } else { 0 };
            offload::if_large(length, move || Value::Object(data).to_string()).await
        }
        _ => json!({"text": text}).to_string(),
    };
    read_data(data, spec.effect, &spec.output).await
}

/// The content of a result that rmcp does not know as one. `None` if it is none.
fn blocks(result: &Value) -> Option<&[Value]> {
    match &result["content"] {
        Value::Array(blocks) => Some(blocks),
        Value::Null if result["structuredContent"].is_object() => Some(&[]),
        // One block without its list.
        block @ (Value::Object(_) | Value::String(_)) => Some(std::slice::from_ref(block)),
        _ => None,
    }
}

fn is_error(result: &Value) -> bool {
    result["isError"] == true
}

fn structured(result: &Value) -> Option<Value> {
    result.get("structuredContent").cloned()
}

fn block_text(block: &Value) -> String {
    match block {
        Value::String(text) => text.clone(),
        block => ContentBlock::deserialize(block).as_ref().map_or_else(|_| OTHER.to_owned(), text),
    }
}

const OTHER: &str = "[content of another kind]";

/// The text of a block. What is no text is named.
fn text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(it) => it.text.clone(),
        ContentBlock::Image(it) => format!("[an image, {}]", it.mime_type),
        ContentBlock::Audio(it) => format!("[a recording, {}]", it.mime_type),
        ContentBlock::Resource(it) => match &it.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, .. } => format!("[a file, {uri}]"),
            _ => "[a resource]".to_owned(),
        },
        ContentBlock::ResourceLink(it) => format!("[a link, {}]", it.uri),
        _ => OTHER.to_owned(),
    }
}

fn of_rpc(error: &ErrorData, spec: &Spec) -> ToolError {
    let message = cut(&visible(&cut(&error.message, MAX_ERROR)), MAX_ERROR);
    match error.code {
        RpcCode::INVALID_PARAMS => {
            ToolError::new(ErrorCode::InvalidArgument, message).with_origin(Origin::Tool)
        }
        RpcCode::METHOD_NOT_FOUND | RpcCode::INVALID_REQUEST => {
            ToolError { retryable: false, ..failed(ErrorCode::Unavailable, &message) }
        }
        TOO_LARGE => too_large(spec),
        MALFORMED => unreadable(spec, &message),
        INEXACT => inexact(spec, &message),
        UNCLEAR => unclear(spec, &message),
        _ => uncertain(spec, &message),
    }
}

fn of_transport(error: &DynamicTransportError, spec: &Spec, is_sent: bool) -> Attempt {
    let Some(failure) = failure_of(error) else { return if is_sent { LOST } else { Attempt::Unsent } };
    let ended = match failure {
        Failure::Network(error) if error.is_connect() => return Attempt::Unsent,
        Failure::Network(_) => return LOST,
        Failure::Refused(refusal) => return of_refusal(refusal, spec),
        Failure::TooLarge => too_large(spec),
        Failure::Unreadable(what) => unreadable(spec, what),
        Failure::Unanswered => uncertain(spec, &failure.to_string()),
    };
    Attempt::Ended(Err(ended))
}

fn of_refusal(refusal: &Refusal, spec: &Spec) -> Attempt {
    if let Some(error) = refusal.error() {
        return Attempt::Ended(Err(of_rpc(error, spec)));
    }
    let what = refusal.words();
    let stated = refusal.retry_after.map(|it| it.min(MAX_RETRY_AFTER));
    let retry_after = |error: ToolError| match stated {
        Some(wait) => error.with_retry_after(wait),
        None => error,
    };
    let error = match refusal.status {
        401 => failed(ErrorCode::AuthFailed, &what),
        403 => failed(ErrorCode::PermissionDenied, &what),
        429 => failed(ErrorCode::RateLimited, &what).with_retry_after(stated.unwrap_or(RETRY_AFTER)),
        // A redirect that was not followed leads to another origin.
        300..=499 => {
            let error = failed(ErrorCode::Unavailable, &what);
            let error =
                ToolError { retryable: stated.is_some() || refusal.status == 404, ..retry_after(error) };
            return if refusal.may_be_of_session() {
                Attempt::Refused(error)
            } else {
                Attempt::Ended(Err(ToolError { retryable: stated.is_some(), ..error }))
            };
        }
        // It is not to be asked again before then.
        502..=504 if refusal.asks_to_wait && spec.effect != Effect::Write => {
            failed(ErrorCode::Unavailable, &what).with_retry_after(stated.unwrap_or(RETRY_AFTER))
        }
        502..=504 => return LOST,
        _ => retry_after(uncertain(spec, &what)),
    };
    Attempt::Ended(Err(error))
}

/// It may have been done: of a write that cannot be repeated the outcome is unknown.
fn uncertain(spec: &Spec, what: &str) -> ToolError {
    let code = if spec.effect == Effect::Write { ErrorCode::OutcomeUnknown } else { ErrorCode::Unknown };
    failed(code, what)
}

fn too_large(spec: &Spec) -> ToolError {
    let text = format!("The result is over the limit of {MAX_ANSWER} bytes.");
    add_that_it_was_done(ToolError::new(ErrorCode::ResultTooLarge, text), spec.effect)
}

fn unreadable(spec: &Spec, what: &str) -> ToolError {
    add_that_it_was_done(not_read(ErrorCode::ParseError, what), spec.effect)
}

fn unclear(spec: &Spec, what: &str) -> ToolError {
    let is_unknown = spec.effect == Effect::Write;
    not_read(if is_unknown { ErrorCode::OutcomeUnknown } else { ErrorCode::ParseError }, what)
}

fn not_read(code: ErrorCode, what: &str) -> ToolError {
    let text = format!("The answer of the MCP server cannot be read: {what}.");
    ToolError::new(code, text).with_origin(Origin::Tool)
}

fn inexact(spec: &Spec, what: &str) -> ToolError {
    let error = ToolError::new(ErrorCode::ParseError, format!("The result {what}."));
    add_that_it_was_done(error.with_origin(Origin::Tool), spec.effect)
}

fn failed(code: ErrorCode, what: &str) -> ToolError {
    ToolError::new(code, format!("The MCP server did not carry the call out: {what}."))
        .with_origin(Origin::Tool)
}
