//! An MCP server over HTTP: rmcp's own transport, over requests of ours. The answer to a request ends it, whatever its
//! status, its form, and the identifier that it bears.

mod answer;
mod failure;

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::StreamExt;
use http::{HeaderName, HeaderValue, header};
use reqwest::{RequestBuilder, Response};
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
        ServerJsonRpcMessage,
    },
    transport::{
        StreamableHttpClientTransport,
        common::client_side_sse::{BoxedSseResponse, ExponentialBackoff},
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
            StreamableHttpPostResponse, StreamableHttpResponseLimits,
        },
    },
};
use secrecy::{ExposeSecret, SecretString};
use sse_stream::Sse;
use tokio::time::timeout;

use self::answer::{Correlated, correlate, readable_data, text};
pub(crate) use self::failure::{Failure, HttpError, Refusal, failure_of};
use super::{
    bounds::{CANCEL, MAX_ANSWER, MAX_CALLS, MAX_RESUME, MAX_RESUMES, MIN_RESUME, PROBE},
    reading,
    sse::{events, is_too_long},
    tap::Shared,
    unreadable::too_large,
};
use toolwire_base::offload;

const ACCEPTED: &str = "application/json, text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

type Headers = HashMap<HeaderName, HeaderValue>;
type Answered = Result<StreamableHttpPostResponse, HttpError>;

#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    shared: Arc<Shared>,
}

pub(crate) fn transport(
    client: reqwest::Client,
    url: &str,
    token: Option<&SecretString>,
    shared: Arc<Shared>,
) -> StreamableHttpClientTransport<Client> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url)
        // Lists and cancellations are not to wait for calls.
        .max_concurrent_requests(MAX_CALLS + 2)
        .control_request_timeout(CANCEL);
    let mut resumes = ExponentialBackoff::default();
    (resumes.base_duration, resumes.max_delay, resumes.max_times) =
        (MIN_RESUME, Some(MAX_RESUME), Some(MAX_RESUMES));
    config.retry_config = Arc::new(resumes);
    if let Some(token) = token {
        config = config.auth_header(token.expose_secret());
    }
    StreamableHttpClientTransport::with_client(Client { http: client, shared }, config)
}

/// What a request carries beside its message.
struct Envelope {
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: Headers,
}

impl Envelope {
    fn apply_to(self, mut request: RequestBuilder) -> RequestBuilder {
        if let Some(token) = self.token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = self.session {
            request = request.header(SESSION, &*session);
        }
        request.headers(self.headers.into_iter().collect())
    }
}

impl Client {
    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        envelope: Envelope,
    ) -> Result<Response, HttpError> {
        let request = self.http.post(uri).header(header::ACCEPT, ACCEPTED);
        let request = envelope.apply_to(request).header(header::CONTENT_TYPE, "application/json");
        Ok(request.body(serde_json::to_vec(message)?).send().await.map_err(Failure::Network)?)
    }

    async fn ask(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        id: &RequestId,
        envelope: Envelope,
    ) -> Answered {
        let has_session = envelope.session.is_some();
        let response = self.post(uri, message, envelope).await?;
        let session = response.headers().get(SESSION).and_then(|it| it.to_str().ok()).map(str::to_owned);
        if !response.status().is_success() {
            return Err(Failure::Refused(Refusal::read(response, id, has_session).await).into());
        }
        if is_event_stream(&response) {
            let stream = self.readable(events(response, Arc::clone(&self.shared)), Some(id.clone()));
            return Ok(StreamableHttpPostResponse::Sse(stream, session));
        }
        let body = failure::body(response, MAX_ANSWER).await?;
        if body.trim_ascii().is_empty() {
            return Err(Failure::Unanswered.into());
        }
        let (length, request) = (body.len(), id.clone());
        let reading = move || reading::message_or_error(&body, Some(&request));
        match offload::if_large(length, reading).await.map(|(message, _)| correlate(message, id)) {
            Some(Correlated::Answer(message)) => Ok(StreamableHttpPostResponse::Json(message, session)),
            Some(Correlated::Other(_)) => Err(Failure::Unreadable("it answers another request").into()),
            None => Err(Failure::Unreadable("it is no answer of JSON-RPC 2.0").into()),
        }
    }

    /// Asks whether the newer revision is known. Whatever is answered is an answer, and also that nothing is: only what
    /// says nothing of the probe is an error.
    async fn probe(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        id: &RequestId,
        envelope: Envelope,
    ) -> Answered {
        let asking = async {
            match self.ask(uri, message, id, envelope).await? {
                StreamableHttpPostResponse::Sse(mut stream, _) => {
                    while let Some(Ok(event)) = stream.next().await {
                        let read = event.data.and_then(|it| reading::message(it.as_bytes()));
                        if let Some(Correlated::Answer(message)) = read.map(|(it, _)| correlate(it, id)) {
                            return Ok(StreamableHttpPostResponse::Json(message, None));
                        }
                    }
                    Err(Failure::Unanswered.into())
                }
                answer => Ok(answer),
            }
        };
        match timeout(PROBE, asking).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(HttpError::Client(failure))) if failure.is_of_server() => Err(failure.into()),
            Ok(Err(HttpError::Client(failure))) => Ok(no_answer(failure.into_error(), id)),
            Ok(Err(_)) | Err(_) => Ok(no_answer(None, id)),
        }
    }

    /// The events of a stream, which may be the answer to a request: of that, answers that rmcp would drop become
    /// errors, and those to other requests are dropped.
    fn readable(&self, stream: BoxedSseResponse, request: Option<RequestId>) -> BoxedSseResponse {
        let shared = Arc::clone(&self.shared);
        let stream = stream.then(move |received| {
            let (request, shared) = (request.clone(), Arc::clone(&shared));
            async move {
                let mut event = match (received, &request) {
                    (Ok(event), _) => event,
                    (Err(failure), Some(id)) if is_too_long(&failure) => {
                        return Ok(Sse::default()
                            .data(text(&ServerJsonRpcMessage::error(too_large(), Some(id.clone())))));
                    }
                    (Err(failure), _) => return Err(failure),
                };
                event.retry = event.retry.map(resume_after);
                if let Some(data) = event.data {
                    let length = data.len();
                    let reading = move || readable_data(data, request.as_ref(), &shared);
                    event.data = offload::if_large(length, reading).await;
                }
                Ok::<_, SseError>(event)
            }
        });
        stream.boxed()
    }
}

/// How long a stream waits before it goes on, in milliseconds, of what its server asks for.
fn resume_after(asked: u64) -> u64 {
    let wait = Duration::from_millis(asked).clamp(MIN_RESUME, MAX_RESUME);
    u64::try_from(wait.as_millis()).unwrap_or(asked)
}

/// The answer to a probe that has none.
fn no_answer(error: Option<ErrorData>, id: &RequestId) -> StreamableHttpPostResponse {
    let error =
        error.unwrap_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "the probe has no answer", None));
    StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(id.clone())), None)
}

impl StreamableHttpClient for Client {
    type Error = Failure;

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        _limits: StreamableHttpResponseLimits,
    ) -> Answered {
        let envelope = Envelope { session, token, headers };
        let JsonRpcMessage::Request(request) = &message else {
            // Nothing is answered to it; what its status says of the session, that of the next request does.
            self.post(&uri, &message, envelope).await?;
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        match &request.request {
            ClientRequest::DiscoverRequest(_) => self.probe(&uri, &message, &request.id, envelope).await,
            _ => self.ask(&uri, &message, &request.id, envelope).await,
        }
    }

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Answered {
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
        let envelope = Envelope { session: Some(session), token, headers };
        envelope.apply_to(self.http.delete(&*uri)).send().await.map_err(Failure::Network)?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, HttpError> {
        let mut request = self.http.get(&*uri).header(header::ACCEPT, "text/event-stream");
        if let Some(last_event) = last_event {
            request = request.header(LAST_EVENT, last_event);
        }
        let response = Envelope { session, token, headers }.apply_to(request).send().await;
        let response = response.map_err(Failure::Network)?;
        let status = response.status();
        if status.is_success() && is_event_stream(&response) {
            return Ok(self.readable(events(response, Arc::clone(&self.shared)), None));
        }
        // Others it would give again.
        let is_passing = status.is_server_error() || status.as_u16() == 429;
        Err(if is_passing {
            Failure::Refused(Refusal::of_status(status)).into()
        } else {
            StreamableHttpError::ServerDoesNotSupportSse
        })
    }
}

fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).map_or(&[][..], HeaderValue::as_bytes);
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(b"text/event-stream")
}
