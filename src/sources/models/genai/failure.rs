//! Errors of genai in our words: by their kind and status alone.

use genai::{Error, webc};
use http::{HeaderMap, StatusCode};

use crate::models::{ModelError, error::asked_wait};

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
        StatusCode::TOO_MANY_REQUESTS => ModelError::RateLimited { after: headers.and_then(asked_wait) },
        StatusCode::PAYLOAD_TOO_LARGE => ModelError::TooLong,
        StatusCode::REQUEST_TIMEOUT => ModelError::Unavailable,
        // Overload as a rule, and some say how long it lasts.
        status if status.is_server_error() => match headers.and_then(asked_wait) {
            None => ModelError::Unavailable,
            after => ModelError::RateLimited { after },
        },
        // A redirect is not followed: the key would go along.
        _ => ModelError::Refused,
    }
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
