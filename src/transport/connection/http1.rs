//! Serves HTTP/1 on a connection.

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::lifecycle::{ConnectionLifecycle, Layers, OnIdle, with_peer};
use crate::{
    framing::StrictFraming,
    preface::OtherProtocol,
    protocols::HttpLimits,
    requests::LingeringClose,
    stream::run_connection,
    write_buffer::{FlushAfterPoll, Io},
};

/// Serves a stream whose beginning has been read.
pub(super) async fn serve<S, T>(
    lifecycle: ConnectionLifecycle<S>,
    opened: OtherProtocol<T>,
    bounds: HttpLimits,
) where
    S: Layers,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let OtherProtocol { stream, beginning, .. } = opened;
    let requests = lifecycle.peer.requests.clone().expect("they are kept wherever HTTP/1 is spoken");
    let stream = LingeringClose::new(stream, requests);
    // The connection counts as one stream: a forced end cuts one request.
    let streams = lifecycle.signals.streams.clone();
    let peer = lifecycle.peer.clone();
    let serving = FlushAfterPoll::new(stream, beginning, |io| run(lifecycle, bounds, io)).counted_for(&peer);
    streams.track_future(run_connection(serving)).await;
}

async fn run<S, T>(lifecycle: ConnectionLifecycle<S>, bounds: HttpLimits, io: Io<T>)
where
    S: Layers,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = with_peer(lifecycle.service.clone(), lifecycle.peer.clone());
    let connection = builder(bounds).serve_connection(TokioIo::new(StrictFraming::new(io)), service);
    lifecycle.run(connection, OnIdle::Drop, http1::Connection::graceful_shutdown).await;
}

fn builder(bounds: HttpLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // `Requests` has its own timer, which distinguishes an idle connection from a stalled request.
        .header_read_timeout(None)
        .max_header_size(bounds.max_header_bytes)
        .max_buf_size(bounds.max_header_bytes);
    builder
}
