//! Errors of genai in our words: by their kind and status alone.

use std::time::Duration;

use genai::{Error, webc};
use http::{HeaderMap, StatusCode, header::RETRY_AFTER};

use crate::models::ModelError;

/// The error in our words.
pub(super) fn of(error: &Error) -> ModelError {
    if let Some(status) = error.status() {
        return of_status(status, error.headers());
    }
    match error {
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
            of_call(webc_error)
        }
        Error::WebStream { error, .. } => of_stream(&**error),
        // Told in the middle of an answer: of overload as a rule.
        Error::ChatResponse { .. } => ModelError::Unavailable,
        Error::RequiresApiKey { .. } | Error::NoAuthData { .. } | Error::NoAuthResolver { .. } => {
            ModelError::AuthFailed
        }
        _ => ModelError::Malformed,
    }
}

pub(super) fn of_status(status: StatusCode, headers: Option<&HeaderMap>) -> ModelError {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ModelError::AuthFailed,
        StatusCode::TOO_MANY_REQUESTS => ModelError::RateLimited { after: headers.and_then(retry_after) },
        StatusCode::PAYLOAD_TOO_LARGE => ModelError::TooLong,
        StatusCode::REQUEST_TIMEOUT => ModelError::Unavailable,
        status if status.is_server_error() => ModelError::Unavailable,
        // A redirect is not followed: the key would go along.
        _ => ModelError::Refused,
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn of_call(error: &webc::Error) -> ModelError {
    match error {
        webc::Error::Reqwest(error) => of_network(error),
        _ => ModelError::Malformed,
    }
}

fn of_stream(error: &(dyn std::error::Error + Send + Sync + 'static)) -> ModelError {
    if error.is::<webc::StreamTimeout>() {
        return ModelError::TimedOut;
    }
    if let Some(error) = error.downcast_ref::<Error>() {
        return of(error);
    }
    error.downcast_ref::<reqwest::Error>().map_or(ModelError::Malformed, of_network)
}

pub(super) fn of_network(error: &reqwest::Error) -> ModelError {
    if error.is_decode() {
        return ModelError::Malformed;
    }
    if error.is_timeout() && !error.is_connect() { ModelError::TimedOut } else { ModelError::Unavailable }
}
