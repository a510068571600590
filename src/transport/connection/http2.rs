//! Serves HTTP/2 on a connection.

use bytes::Bytes;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::lifecycle::{ConnectionLifecycle, Layers, OnIdle, with_peer};
use crate::{
    Config,
    defer_poll::DeferPoll,
    preface::PREFACE,
    stream::Executor,
    write_buffer::{FlushAfterPoll, Io},
};

/// Maximum bytes of one stream that HTTP/2 buffers for a slow reader.
const MAX_SEND_BUFFER: usize = 64 * 1024;

/// Maximum number of streams that a peer may open and reset before they are accepted (rapid reset).
const MAX_PENDING_ACCEPT_RESET_STREAMS: usize = 20;

/// Maximum number of streams reset because of protocol errors of the peer (RUSTSEC-2024-0003).
const MAX_LOCAL_ERROR_RESET_STREAMS: usize = 1_024;

/// Serves a stream whose preface has been read. The connection is polled after its streams that are ready.
pub(super) async fn serve<S, T>(lifecycle: ConnectionLifecycle<S>, stream: T)
where
    S: Layers,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let peer = lifecycle.peer.clone();
    let serving = FlushAfterPoll::new(stream, Bytes::from_static(&PREFACE), |io| run(lifecycle, io));
    DeferPoll::new(serving.counted_for(&peer)).await;
}

async fn run<S, T>(lifecycle: ConnectionLifecycle<S>, io: Io<T>)
where
    S: Layers,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = with_peer(lifecycle.service.clone(), lifecycle.peer.clone());
    let builder = builder(&lifecycle.config, Executor { streams: lifecycle.signals.streams.clone() });
    let connection = builder.serve_connection(TokioIo::new(io), service);
    lifecycle.run(connection, OnIdle::GoAway, http2::Connection::graceful_shutdown).await;
}

fn builder(config: &Config, executor: Executor) -> http2::Builder<Executor> {
    let limits = &config.limits;
    let mut builder = http2::Builder::new(executor);
    builder
        .timer(TokioTimer::new())
        .auto_date_header(config.protocols.http_limits().is_some())
        .max_concurrent_streams(limits.max_concurrent_streams)
        .initial_stream_window_size(limits.stream_window)
        .initial_connection_window_size(limits.connection_window)
        .max_header_list_size(limits.max_header_list)
        .max_send_buf_size(MAX_SEND_BUFFER)
        .keep_alive_interval(limits.keepalive_interval)
        .keep_alive_timeout(limits.keepalive_timeout)
        .max_pending_accept_reset_streams(MAX_PENDING_ACCEPT_RESET_STREAMS)
        .max_local_error_reset_streams(MAX_LOCAL_ERROR_RESET_STREAMS);
    builder
}
