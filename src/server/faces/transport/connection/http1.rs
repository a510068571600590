//! HTTP/1 on a connection: one request after another.

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::lifecycle::{ConnectionLifecycle, Layers, Ready, Silent, with_peer};
use crate::faces::transport::{
    framing::StrictFraming,
    preface::OtherProtocol,
    protocols::Either,
    requests::LingeringClose,
    stream::one_after_another,
    write_buffer::{Io, Turns},
};

/// Serves a stream of which the beginning was read.
pub(super) async fn serve<S, T>(course: ConnectionLifecycle<S>, opened: OtherProtocol<T>, bounds: Either)
where
    S: Layers,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let OtherProtocol { stream, beginning, .. } = opened;
    let requests = course.peer.requests.clone().expect("they are kept wherever HTTP/1 is spoken");
    let stream = LingeringClose::new(stream, requests);
    // Counted as one stream: that is what a forced end cuts.
    let streams = course.signals.streams.clone();
    let served = Turns::new(stream, beginning, |io| run(course, bounds, io));
    streams.track_future(one_after_another(served)).await;
}

async fn run<S, T>(course: ConnectionLifecycle<S>, bounds: Either, io: Io<T>)
where
    S: Layers,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let service = with_peer(course.service.clone(), course.peer.clone());
    let connection = builder(bounds).serve_connection(TokioIo::new(StrictFraming::new(io)), Ready(service));
    course.run(connection, Silent::Dropped, http1::Connection::graceful_shutdown).await;
}

fn builder(bounds: Either) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // Ours also tells a connection that rests from one whose request does not get on.
        .header_read_timeout(None)
        .max_header_size(bounds.max_header_bytes)
        .max_buf_size(bounds.max_header_bytes);
    builder
}
