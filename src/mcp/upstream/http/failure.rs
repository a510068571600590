//! Why a request over HTTP has no answer.

use std::time::Duration;

use http::{StatusCode, header};
use reqwest::Response;
use rmcp::{
    model::{ErrorData, JsonRpcMessage, RequestId},
    transport::{DynamicTransportError, streamable_http_client::StreamableHttpError},
};
use tokio::time::timeout;

use crate::upstream::{
    bounds::{MAX_ANSWER, MAX_REFUSAL, REFUSAL},
    error_words::words,
    in_flight::is_same,
    reading,
};
use toolwire_base::{retry_after, words::visible};
use toolwire_providers::{bounds::MAX_ID, cut};

pub(crate) type HttpError = StreamableHttpError<Failure>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{}", words(.0))]
    Network(reqwest::Error),
    #[error("{}", .0.words())]
    Refused(Refusal),
    #[error("the answer is over the limit of {MAX_ANSWER} bytes")]
    TooLarge,
    #[error("{0}")]
    Unreadable(&'static str),
    /// A status of success without an answer.
    #[error("it answered without a result")]
    Unanswered,
}

/// A status that is no success.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    /// Whether it asks to wait, be it for a time that can be read or not.
    pub(crate) asks_to_wait: bool,
    /// Whether the request named a session, which may be what is refused.
    pub(crate) has_session: bool,
    /// The error in the body.
    error: Option<ErrorData>,
    /// Whether the error bears the identifier of the request: then the request was read.
    is_correlated: bool,
}

/// The failure of a request that a transport reports.
pub(crate) fn failure_of(error: &DynamicTransportError) -> Option<&Failure> {
    match error.error.downcast_ref::<HttpError>()? {
        StreamableHttpError::Client(failure) => Some(failure),
        _ => None,
    }
}

impl From<Failure> for HttpError {
    fn from(failure: Failure) -> Self {
        Self::Client(failure)
    }
}

impl Failure {
    /// Whether it says nothing of what was asked: nothing is there, or the server takes no requests, or none of ours.
    pub(crate) fn is_of_server(&self) -> bool {
        match self {
            Self::Network(error) => error.is_connect(),
            Self::Refused(refusal) => refusal.is_of_http(),
            Self::TooLarge | Self::Unreadable(_) | Self::Unanswered => false,
        }
    }

    /// The error in the body of a refusal.
    pub(super) fn into_error(self) -> Option<ErrorData> {
        if let Self::Refused(refusal) = self { refusal.error } else { None }
    }

    /// Whether the session may be what fails.
    pub(crate) fn makes_doubtful(&self) -> bool {
        match self {
            Self::Refused(refusal) => !matches!(refusal.status, 401 | 403 | 429),
            Self::Network(_) | Self::TooLarge | Self::Unreadable(_) | Self::Unanswered => true,
        }
    }
}

impl Refusal {
    pub(crate) fn of_status(status: StatusCode) -> Self {
        let status = status.as_u16();
        Self {
            status,
            retry_after: None,
            asks_to_wait: false,
            has_session: false,
            error: None,
            is_correlated: false,
        }
    }

    /// Reads it, and as much of its body as comes soon.
    pub(super) async fn read(response: Response, request: &RequestId, has_session: bool) -> Self {
        let status = response.status();
        let wait = response.headers().get(header::RETRY_AFTER);
        let asks_to_wait = wait.is_some();
        let retry_after = wait.and_then(|it| retry_after::read(it.to_str().ok()?));
        let body = timeout(REFUSAL, body(response, MAX_REFUSAL)).await.ok().and_then(Result::ok);
        let (error, is_correlated) = match body.and_then(|body| reading::message(&body)) {
            Some((JsonRpcMessage::Error(it), _)) => {
                let is_correlated = it.id.is_some_and(|id| is_same(&id, request));
                (Some(it.error), is_correlated)
            }
            _ => (None, false),
        };
        Self { retry_after, asks_to_wait, has_session, error, is_correlated, ..Self::of_status(status) }
    }

    /// The error in the body, of a request that was read.
    pub(crate) fn error(&self) -> Option<&ErrorData> {
        self.error.as_ref().filter(|_| self.is_correlated && !self.is_of_http() && !self.may_be_of_session())
    }

    /// Whether the status alone says what it is.
    fn is_of_http(&self) -> bool {
        matches!(self.status, 401 | 403 | 429 | 502..=504)
    }

    /// Whether it may be the session that is refused, and not the request: by 404 it always is.
    pub(crate) fn may_be_of_session(&self) -> bool {
        let may_be = match self.status {
            404 => true,
            400 | 409 | 410 => !self.is_correlated,
            _ => false,
        };
        self.has_session && may_be
    }

    pub(crate) fn words(&self) -> String {
        let status = self.status;
        match &self.error {
            Some(error) => format!("it answered {status}: {}", visible(&cut(&error.message, 4 * MAX_ID))),
            None => format!("it answered {status}"),
        }
    }
}

/// The body, if it is no longer than that.
pub(super) async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Failure::Network)? {
        if body.len() + chunk.len() > most {
            return Err(Failure::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
