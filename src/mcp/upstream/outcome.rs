//! What a server answers, as the result of a call.
//!
//! | answer | read, or write that can be repeated | other write |
//! |---|---|---|
//! | data | checked against the declared result | same |
//! | `isError` | UNKNOWN with its text: the tool has ended | same |
//! | −32602 · −32601, −32600 | INVALID_ARGUMENT · UNAVAILABLE, not retryable | same |
//! | 401 · 403 · 429 · another 3xx, 4xx | AUTH_FAILED · PERMISSION_DENIED · RATE_LIMITED · UNAVAILABLE | same |
//! | another error, 5xx | UNKNOWN; 502, 503, 504 as if lost | OUTCOME_UNKNOWN |
//! | what cannot be read · over the limit | PARSE_ERROR · RESULT_TOO_LARGE | same, saying that it was done |

use std::time::Duration;

use rmcp::{
    ServiceError,
    model::{CallToolResult, ContentBlock, ErrorCode as RpcCode, ErrorData, ResourceContents, ServerResult},
    transport::DynamicTransportError,
};
use serde_json::json;

use super::{
    bounds::MAX_ANSWER,
    error_words::words,
    http::HttpError,
    unreadable::{MALFORMED, TOO_LARGE},
};
use toolwire_base::words::visible;
use toolwire_contract::{ErrorCode, Origin, Payload, ToolError};
use toolwire_hosts::{
    Attempt, Effect, Spec, add_that_it_was_done,
    bounds::{MAX_ERROR, MAX_RETRY_AFTER},
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
        Ok(_) | Err(ServiceError::UnexpectedResponse) => Err(unreadable(spec, "it is no result of a tool")),
        Err(ServiceError::McpError(error)) => Err(of_rpc(&error, spec)),
        Err(ServiceError::TransportSend(error)) => return of_transport(&error, spec, is_sent),
        Err(ServiceError::TransportClosed) if !is_sent => return Attempt::Unsent,
        Err(_) => return LOST,
    };
    Attempt::Ended(ended)
}

async fn of_result(result: CallToolResult, spec: &Spec) -> Result<Payload, ToolError> {
    if result.is_error == Some(true) {
        let text = text(&result.content);
        let text = if text.trim().is_empty() { "the tool failed and does not say why" } else { text.trim() };
        let message = cut(&visible(&cut(text, MAX_ERROR)), MAX_ERROR);
        return Err(ToolError::new(ErrorCode::Unknown, message).with_origin(Origin::Tool));
    }
    let data = match result.structured_content {
        Some(data) if data.is_object() => data.to_string(),
        _ => json!({"text": text(&result.content)}).to_string(),
    };
    read_data(data, spec.effect, &spec.output).await
}

/// The texts of a result. What is no text is named.
fn text(content: &[ContentBlock]) -> String {
    let texts = content.iter().map(|block| match block {
        ContentBlock::Text(it) => it.text.clone(),
        ContentBlock::Image(it) => format!("[an image, {}]", it.mime_type),
        ContentBlock::Audio(it) => format!("[a recording, {}]", it.mime_type),
        ContentBlock::Resource(it) => match &it.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, .. } => format!("[a file, {uri}]"),
            _ => "[a resource]".to_owned(),
        },
        ContentBlock::ResourceLink(it) => format!("[a link, {}]", it.uri),
        _ => "[content of another kind]".to_owned(),
    });
    texts.collect::<Vec<_>>().join("\n")
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
        _ => uncertain(spec, &message),
    }
}

fn of_transport(error: &DynamicTransportError, spec: &Spec, is_sent: bool) -> Attempt {
    let Some(http) = error.error.downcast_ref::<HttpError>() else {
        return if is_sent { LOST } else { Attempt::Unsent };
    };
    let ended = match http {
        HttpError::Client(error) if error.is_connect() => return Attempt::Unsent,
        HttpError::Client(error) => match error.status().map(|it| it.as_u16()) {
            Some(status) => return of_status(status, None, spec),
            None => return LOST,
        },
        HttpError::HttpStatus(it) => return of_status(it.status, it.retry_after.as_deref(), spec),
        HttpError::AuthRequired(_) => return of_status(401, None, spec),
        HttpError::InsufficientScope(_) => return of_status(403, None, spec),
        HttpError::ResponseBodyTooLarge { .. } => too_large(spec),
        HttpError::UnexpectedServerResponse(text) => match status_of(text) {
            Some(status) => return of_status(status, None, spec),
            None => unreadable(spec, &words(http)),
        },
        HttpError::Deserialize(_) | HttpError::UnexpectedContentType(_) => unreadable(spec, &words(http)),
        _ => return LOST,
    };
    Attempt::Ended(Err(ended))
}

/// rmcp reports the status of a refusal only in its message, `HTTP 404 Not Found: …`.
fn status_of(text: &str) -> Option<u16> {
    text.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
}

fn of_status(status: u16, retry_after: Option<&str>, spec: &Spec) -> Attempt {
    let what = format!("it answered {status}");
    let error = match status {
        401 => failed(ErrorCode::AuthFailed, &what),
        403 => failed(ErrorCode::PermissionDenied, &what),
        429 => {
            let seconds = retry_after.and_then(|it| it.trim().parse().ok()).map(Duration::from_secs);
            let wait = seconds.unwrap_or(Duration::from_secs(1)).min(MAX_RETRY_AFTER);
            failed(ErrorCode::RateLimited, &what).with_retry_after(wait)
        }
        // A redirect that was not followed leads to another origin.
        300..=499 => ToolError { retryable: false, ..failed(ErrorCode::Unavailable, &what) },
        502..=504 => return LOST,
        _ => uncertain(spec, &what),
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
    let text = format!("The answer of the MCP server cannot be read: {what}.");
    add_that_it_was_done(ToolError::new(ErrorCode::ParseError, text).with_origin(Origin::Tool), spec.effect)
}

fn failed(code: ErrorCode, what: &str) -> ToolError {
    ToolError::new(code, format!("The MCP server did not carry the call out: {what}."))
        .with_origin(Origin::Tool)
}
