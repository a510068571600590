//! HTTP/1 on a connection: one request after another.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::body::Body;
use tower::Service;

use super::{Connection, Course, Ready, Silent, with_peer};
use crate::faces::transport::{
    peer::Peer,
    preface::OtherProtocol,
    requests::Heard,
    speech::Either,
    stream::one_after_another,
    write_buffer::{Io, Turns},
};

/// Serves a stream of which the beginning was read.
pub(super) async fn serve<S, B, T>(connection: Connection<S>, opened: OtherProtocol<T>, bounds: Either)
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let OtherProtocol { stream, beginning, .. } = opened;
    let peer = connection.peer();
    let requests = peer.requests.clone().expect("they are kept wherever HTTP/1 is spoken");
    let stream = Heard::new(stream, requests);
    // Counted as one stream: that is what a forced end cuts.
    let streams = connection.signals.streams.clone();
    let served = Turns::new(stream, beginning, |io| run(connection, peer, bounds, io));
    streams.track_future(one_after_another(served)).await;
}

async fn run<S, B, T>(connection: Connection<S>, peer: Peer, bounds: Either, io: Io<T>)
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let Connection { service, config, signals, .. } = connection;
    let service = with_peer(service, peer.clone());
    let connection = builder(bounds).serve_connection(TokioIo::new(io), Ready(service));
    Course { peer, config, signals }
        .run(connection, Silent::Dropped, |connection| connection.graceful_shutdown())
        .await;
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
