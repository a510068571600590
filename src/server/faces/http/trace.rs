//! One SERVER span, one measure and, if it was refused before it became a call, one log line for each request.
//!
//! The counterpart of `transport::trace` with the attributes of HTTP: the route with its parameters, and the status. A
//! response whose client has gone is 499. No content of a request or a response is recorded.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{HeaderName, HeaderValue, Method, Request, Response};
use http_body::{Body as HttpBody, SizeHint};
use opentelemetry::trace::TraceId;
use pin_project_lite::pin_project;
use tokio::time::Instant;
use tracing::{Span, field::Empty};

use super::table::{RouteMatch, Table};
use toolwire_base::{clock, middleware::Middleware};
use toolwire_telemetry::{self as telemetry, attribute, metric};
use toolwire_transport::{
    CallersTrace, LoggedByPipeline, PolledFrame,
    parent::{linked_span_of, note_trace, span_of},
    peer::Peer,
};

/// The status of an answer whose client had gone.
const CLOSED: u16 = 499;

/// Maximum length of a path in a span, in bytes.
const MAX_PATH: usize = 1_024;

/// Names the trace of a request in its answer.
const TRACE_ID: HeaderName = HeaderName::from_static("x-toolwire-trace-id");

/// The face whose clients' traces are linked rather than continued.
const LINKED: &str = "mcp";

/// Opens a span for each request.
#[derive(Clone, Debug)]
pub(super) struct Trace(pub(super) Table);

/// Holds the span open. If it is dropped before the response has ended, it records that the client has gone.
#[derive(Debug)]
struct Recorder {
    span: Span,
    /// The caller's trace, or else the one that the span begins.
    trace_id: Option<TraceId>,
    method: &'static str,
    route: Option<&'static str>,
    peer: Option<Peer>,
    logged_by_pipeline: LoggedByPipeline,
    began: Instant,
    status: Option<u16>,
    has_ended: bool,
}

impl Recorder {
    fn open<B>(found: Option<RouteMatch>, request: &mut Request<B>) -> Self {
        let (method, route) = (known_method(request.method()), found.map(|found| found.template));
        let is_linked = found.is_some_and(|found| found.face == LINKED);
        let open = |request: &Request<B>| span(method, route, request);
        let span = if is_linked {
            linked_span_of(request, open)
        } else {
            note_trace(request);
            span_of(request, open)
        };
        let callers = request.extensions().get::<CallersTrace>().map(|it| it.0);
        let trace_id = callers
            .or_else(|| if span.is_disabled() { None } else { span.in_scope(telemetry::current_trace_id) });
        let logged_by_pipeline = LoggedByPipeline::default();
        request.extensions_mut().insert(logged_by_pipeline.clone());
        let peer = request.extensions().get::<Peer>().cloned();
        let began = clock::now();
        Self {
            span,
            trace_id,
            method,
            route,
            peer,
            logged_by_pipeline,
            began,
            status: None,
            has_ended: false,
        }
    }

    fn end(&mut self) {
        if !self.has_ended {
            self.has_ended = true;
            self.record(self.status.unwrap_or(CLOSED));
        }
    }

    fn record(&self, status: u16) {
        metric::http_ended(self.method, self.route, status, clock::now() - self.began);
        self.span.record(attribute::HTTP_RESPONSE_STATUS_CODE, i64::from(status));
        if status >= 500 {
            self.span.record(attribute::ERROR_TYPE, status.to_string());
            self.span.record(attribute::OTEL_STATUS_CODE, attribute::ERROR);
        }
        if status >= 400 && status != CLOSED && !self.logged_by_pipeline.is_set() {
            let peer = self.peer.as_ref().map(|peer| tracing::field::display(peer.address));
            let (method, route) = (self.method, self.route.unwrap_or(attribute::OTHER));
            tracing::info!(target: "toolwire::http", method, route, status, peer, "refused");
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if !self.has_ended {
            self.record(CLOSED);
        }
    }
}

/// A path of a client's, within a bound.
fn cut(path: &str) -> &str {
    &path[..path.floor_char_boundary(MAX_PATH)]
}

/// The method, if it is a known one: an unknown one is a text of the client's, which must not become a label of
/// metrics.
fn known_method(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or(attribute::OTHER)
}

fn span<B>(method: &'static str, route: Option<&'static str>, request: &Request<B>) -> Span {
    let peer = request.extensions().get::<Peer>();
    let scheme = if peer.is_some_and(|peer| peer.is_encrypted) { "https" } else { "http" };
    let peer = peer.map(|peer| peer.address);
    let name = route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}"));
    // Integers as i64: tracing-opentelemetry turns unsigned ones into text.
    tracing::info_span!(
        attribute::HTTP,
        { attribute::OTEL_NAME } = name,
        { attribute::OTEL_KIND } = attribute::SERVER,
        { attribute::OTEL_STATUS_CODE } = Empty,
        { attribute::HTTP_REQUEST_METHOD } = method,
        { attribute::HTTP_ROUTE } = route,
        { attribute::URL_SCHEME } = scheme,
        { attribute::URL_PATH } = cut(request.uri().path()),
        { attribute::HTTP_RESPONSE_STATUS_CODE } = Empty,
        { attribute::NETWORK_PEER_ADDRESS } = peer.map(|peer| tracing::field::display(peer.ip())),
        { attribute::NETWORK_PEER_PORT } = peer.map(|peer| i64::from(peer.port())),
        { attribute::WORKLOAD_ID } = Empty,
        { attribute::MCP_METHOD_NAME } = Empty,
        { attribute::MCP_SESSION_ID } = Empty,
        { attribute::ERROR_TYPE } = Empty,
    )
}

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for Trace
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: HttpBody,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, mut request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let found = self.0.find(request.method(), request.uri().path());
        let recorder = Recorder::open(found.as_ref().ok().copied(), &mut request);
        // `edge` decides on it: a request without a route has a span, too.
        request.extensions_mut().insert(found);
        let inner = recorder.span.in_scope(|| inner.call(request));
        ResponseFuture { inner, recorder: Some(recorder) }
    }
}

pin_project! {
    /// The answer; its body takes the span over.
    #[derive(Debug)]
    pub(super) struct ResponseFuture<F> {
        #[pin]
        inner: F,
        recorder: Option<Recorder>,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
    B: HttpBody,
{
    type Output = Result<Response<Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let recorder = this.recorder.as_ref().expect("a future is not polled after it is ready");
        let Ok(mut response) = ready!(recorder.span.in_scope(|| this.inner.poll(cx)));
        if let Some(trace_id) = recorder.trace_id {
            let name = HeaderValue::try_from(trace_id.to_string()).expect("it is ASCII");
            response.headers_mut().insert(TRACE_ID, name);
        }
        let mut recorder = this.recorder.take();
        if let Some(recorder) = &mut recorder {
            recorder.status = Some(response.status().as_u16());
            if response.body().is_end_stream() {
                recorder.end();
            }
        }
        Poll::Ready(Ok(response.map(|inner| Body { inner, recorder })))
    }
}

pin_project! {
    /// The body below; the span ends with it.
    #[derive(Debug)]
    pub(super) struct Body<B> {
        #[pin]
        inner: B,
        recorder: Option<Recorder>,
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let mut this = self.project();
        let polled = match this.recorder.as_ref() {
            Some(recorder) => recorder.span.in_scope(|| this.inner.as_mut().poll_frame(cx)),
            None => this.inner.as_mut().poll_frame(cx),
        };
        let frame = ready!(polled);
        let is_last = matches!(frame, None | Some(Err(_))) || this.inner.is_end_stream();
        if is_last && let Some(mut recorder) = this.recorder.take() {
            recorder.end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
