//! HTTP/2 on a connection.

use bytes::Bytes;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::lifecycle::{ConnectionLifecycle, Layers, Ready, Silent, with_peer};
use crate::faces::transport::{
    Config,
    defer_poll::Late,
    preface::PREFACE,
    stream::Executor,
    write_buffer::{Io, Turns},
};

/// Bytes of one stream that may wait in HTTP/2 for a slow reader.
const MAX_SEND_BUFFER: usize = 64 * 1024;

/// Streams that a peer may open and reset before they are accepted (rapid reset).
const MAX_PENDING_ACCEPT_RESET_STREAMS: usize = 20;

/// Streams that may be reset because the peer broke the protocol (RUSTSEC-2024-0003).
const MAX_LOCAL_ERROR_RESET_STREAMS: usize = 1_024;

/// Serves a stream whose preface was read, after the calls on it that are ready.
pub(super) async fn serve<S, T>(course: ConnectionLifecycle<S>, stream: T)
where
    S: Layers,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    Late::new(Turns::new(stream, Bytes::from_static(&PREFACE), |io| run(course, io))).await;
}

async fn run<S, T>(course: ConnectionLifecycle<S>, io: Io<T>)
where
    S: Layers,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = with_peer(course.service.clone(), course.peer.clone());
    let builder = builder(&course.config, Executor { streams: course.signals.streams.clone() });
    let connection = builder.serve_connection(TokioIo::new(io), Ready(service));
    course.run(connection, Silent::Ends, http2::Connection::graceful_shutdown).await;
}

fn builder(config: &Config, executor: Executor) -> http2::Builder<Executor> {
    let limits = &config.limits;
    let mut builder = http2::Builder::new(executor);
    builder
        .timer(TokioTimer::new())
        .auto_date_header(config.protocols.either().is_some())
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
