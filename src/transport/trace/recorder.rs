//! Records one RPC in its span and metrics: its attributes at the beginning, and its status at the end.

use std::sync::Arc;

use http::Request;
use tokio::time::Instant;
use tonic::Code;
use tracing::{Span, field::Empty};

use super::{line::Line, parent};
use crate::{peer::Peer, stream};
use toolwire_base::clock;
use toolwire_contract::status;
use toolwire_telemetry::{attribute, metric};

/// Maximum length of a recorded unknown method name in bytes: it comes from outside.
const MAX_ORIGINAL: usize = 128;

/// Holds the span open; records CANCELLED if it is dropped before [`Recorder::end`].
#[derive(Debug)]
pub(super) struct Recorder {
    span: Span,
    line: Line,
    method: Option<Arc<str>>,
    began: Instant,
    ended: bool,
}

impl Recorder {
    /// Opens the span of `request`; `method` is its full name if the method is known.
    pub(super) fn open<B>(method: Option<Arc<str>>, request: &mut Request<B>) -> Self {
        let line = Line::of(method.clone(), request);
        let span = parent::span_of(request, |request| open(method.as_deref(), request));
        parent::note_trace(request);
        Self { span, line, method, began: clock::now(), ended: false }
    }

    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    pub(super) fn end(mut self, code: Code) {
        self.line.log(code);
        self.record(code);
    }

    fn record(&mut self, code: Code) {
        self.ended = true;
        metric::rpc_ended(self.method.as_ref(), status::name(code), clock::now() - self.began);
        self.span.record(attribute::RPC_RESPONSE_STATUS_CODE, status::name(code));
        if is_error(code) {
            self.span.record(attribute::ERROR_TYPE, status::name(code));
            self.span.record(attribute::OTEL_STATUS_CODE, attribute::ERROR);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let code = if stream::is_past_deadline() { Code::DeadlineExceeded } else { Code::Cancelled };
        self.record(code);
    }
}

fn open<B>(method: Option<&str>, request: &Request<B>) -> Span {
    let path = request.uri().path().trim_start_matches('/');
    let authority = request.uri().authority();
    let peer = request.extensions().get::<Peer>().map(|peer| peer.address);
    // Integers as i64: tracing-opentelemetry records unsigned ones as strings.
    tracing::info_span!(
        attribute::RPC,
        { attribute::OTEL_NAME } = method.unwrap_or(attribute::GRPC),
        { attribute::OTEL_KIND } = attribute::SERVER,
        { attribute::OTEL_STATUS_CODE } = Empty,
        { attribute::RPC_SYSTEM_NAME } = attribute::GRPC,
        { attribute::RPC_METHOD } = method.unwrap_or(attribute::OTHER),
        { attribute::RPC_METHOD_ORIGINAL } = method.is_none().then(|| cut(path)),
        { attribute::RPC_RESPONSE_STATUS_CODE } = Empty,
        { attribute::SERVER_ADDRESS } = authority.map(http::uri::Authority::host),
        { attribute::SERVER_PORT } = authority.and_then(http::uri::Authority::port_u16).map(i64::from),
        { attribute::NETWORK_PEER_ADDRESS } = peer.map(|peer| tracing::field::display(peer.ip())),
        { attribute::NETWORK_PEER_PORT } = peer.map(|peer| i64::from(peer.port())),
        { attribute::WORKLOAD_ID } = Empty,
        { attribute::ERROR_TYPE } = Empty,
    )
}

/// Whether a code is a failure of the server by the semantic conventions; other codes are correct responses.
const fn is_error(code: Code) -> bool {
    use Code::{DataLoss, DeadlineExceeded, Internal, Unavailable, Unimplemented, Unknown};
    matches!(code, Unknown | DeadlineExceeded | Unimplemented | Internal | Unavailable | DataLoss)
}

fn cut(path: &str) -> &str {
    &path[..path.floor_char_boundary(MAX_ORIGINAL)]
}
