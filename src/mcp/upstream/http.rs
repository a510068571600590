//! An MCP server over HTTP: rmcp's own transport. Of a stream, answers that it would drop become errors.

use std::{collections::HashMap, sync::Arc};

use futures_util::StreamExt;
use http::{HeaderName, HeaderValue};
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::{
        StreamableHttpClientTransport,
        common::client_side_sse::BoxedSseResponse,
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
            StreamableHttpPostResponse, StreamableHttpResponseLimits,
        },
    },
};
use secrecy::{ExposeSecret, SecretString};

use super::{
    bounds::{CANCEL, MAX_ANSWER, MAX_CALLS},
    unreadable::{MALFORMED, Outline, TOO_LARGE, error},
};

pub(crate) type HttpError = StreamableHttpError<reqwest::Error>;

type Headers = HashMap<HeaderName, HeaderValue>;

/// The given client, of whose streams an answer that cannot be read is an error.
#[derive(Clone, Debug)]
pub(crate) struct Client(reqwest::Client);

pub(crate) fn transport(
    client: reqwest::Client,
    url: &str,
    token: Option<&SecretString>,
) -> StreamableHttpClientTransport<Client> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url)
        // Lists and cancellations are not to wait for calls.
        .max_concurrent_requests(MAX_CALLS + 2)
        .control_request_timeout(CANCEL)
        .max_sse_event_size(MAX_ANSWER)
        .max_json_response_size(MAX_ANSWER)
        .max_error_response_size(1_024);
    if let Some(token) = token {
        config = config.auth_header(token.expose_secret());
    }
    StreamableHttpClientTransport::with_client(Client(client), config)
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let answer =
            self.0.post_message_with_response_limits(uri, message, session, token, headers, limits).await?;
        Ok(match (answer, request) {
            (StreamableHttpPostResponse::Sse(stream, session), Some(request)) => {
                StreamableHttpPostResponse::Sse(readable(stream, request), session)
            }
            (answer, _) => answer,
        })
    }

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, HttpError> {
        self.0.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, MAX_ANSWER).await
    }
}

/// The stream that answers a request.
fn readable(stream: BoxedSseResponse, request: RequestId) -> BoxedSseResponse {
    let stream = stream.map(move |received| {
        let mut event = empty(&received);
        match received {
            Ok(received) => event = received,
            Err(failure) if is_too_large(&failure) => {
                event.data = Some(text(&error(TOO_LARGE, request.clone())));
            }
            Err(failure) => return Err(failure),
        }
        if let Some(data) = &event.data
            && serde_json::from_str::<ServerJsonRpcMessage>(data).is_err()
            && let Some(error) = Outline::of(data).error(MALFORMED, Some(request.clone()))
        {
            event.data = Some(text(&error));
        }
        Ok(event)
    });
    stream.boxed()
}

/// An event without content: rmcp does not export the type.
fn empty<T: Default, E>(_of: &Result<T, E>) -> T {
    T::default()
}

/// The type of the error is rmcp's own.
fn is_too_large(failure: &SseError) -> bool {
    failure.to_string().contains(&format!("maximum size of {MAX_ANSWER} bytes"))
}

fn text(message: &ServerJsonRpcMessage) -> String {
    serde_json::to_string(message).expect("a message of ours")
}
