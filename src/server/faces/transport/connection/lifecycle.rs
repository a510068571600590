//! The course of a connection, whatever is spoken on it: requests to the layers, and the end by age, silence or drain.

use std::{
    convert::Infallible,
    error::Error,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
};

use bytes::Bytes;
use http::{Request, Response, Version};
use hyper::body::Incoming;
use tokio::time::{sleep, timeout};
use tonic::body::Body;
use tower::{Service, ServiceBuilder};

use super::request_body::RequestBody;
use crate::faces::transport::{Config, frames, peer::Peer, requests, signals::Signals};

/// What serves a connection, and by what it goes on or ends.
pub(super) struct ConnectionLifecycle<S> {
    pub(super) service: S,
    pub(super) peer: Peer,
    pub(super) config: Arc<Config>,
    pub(super) signals: Arc<Signals>,
}

/// What a connection's requests are handed to: the layers over the routes.
pub(in super::super) trait Layers:
    Service<Request<Body>, Response = Response<<Self as Layers>::Answer>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + 'static
{
    type Answer: http_body::Body<Data = Bytes, Error: Error + Send + Sync> + Send + 'static;
}

impl<S, B> Layers for S
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: http_body::Body<Data = Bytes, Error: Error + Send + Sync> + Send + 'static,
{
    type Answer = B;
}

/// A service in hyper's terms. Nobody asks whether it is ready: every layer here always is, and so are the servers that
/// tonic generates.
pub(super) struct Ready<S>(pub(super) S);

/// What is done with a connection on which nothing happens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Silent {
    /// It is told to go, as one is that has its age.
    Ends,
    /// It is dropped: it may be in the middle of a request.
    Dropped,
}

impl<S> ConnectionLifecycle<S> {
    /// Drives a connection to its end; `end` makes it take no more requests, and end when those are answered that were
    /// taken.
    pub(super) async fn run<C>(self, connection: C, silent: Silent, end: impl FnOnce(Pin<&mut C>))
    where
        C: Future<Output = hyper::Result<()>>,
    {
        let (address, mut connection) = (self.peer.address, pin!(connection));
        tokio::select! {
            // First: a connection that was accepted late sends its SETTINGS before the final GOAWAY.
            biased;
            result = connection.as_mut() => return closed(address, result),
            () = self.signals.go_away.cancelled() => {}
            () = sleep(self.config.age.jittered()) => {}
            () = requests::silence(self.peer.requests.as_deref(), self.config.protocols.either()) => {
                if silent == Silent::Dropped {
                    return tracing::debug!(%address, "connection closed: nothing was asked on it");
                }
            }
        }
        self.peer.watches_end.cancel();
        end(connection.as_mut());
        let Ok(result) = timeout(self.config.age.grace, connection).await else {
            return tracing::debug!(%address, "connection dropped: its grace has passed");
        };
        closed(address, result);
    }
}

impl<S, A> hyper::service::Service<A> for Ready<S>
where
    S: Service<A> + Clone,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, request: A) -> S::Future {
        self.0.clone().call(request)
    }
}

/// `service` between hyper's bodies and ours. Every request carries its peer.
pub(super) fn with_peer<S: Layers>(
    service: S,
    peer: Peer,
) -> impl Service<
    Request<Incoming>,
    Response = Response<frames::Body<S::Answer>>,
    Error = Infallible,
    Future: Send,
> + Clone {
    ServiceBuilder::new()
        .map_request(move |request| add_peer(request, &peer))
        .map_response(|response: Response<S::Answer>| response.map(frames::Body::new))
        .service(service)
}

/// `request` in tonic's terms, with its peer.
fn add_peer(mut request: Request<Incoming>, peer: &Peer) -> Request<Body> {
    peer.known.hear();
    request.extensions_mut().insert(peer.clone());
    let is_http2 = request.version() == Version::HTTP_2;
    request.map(|body| Body::new(RequestBody::new(body, is_http2)))
}

fn closed(address: SocketAddr, result: hyper::Result<()>) {
    match result {
        Ok(()) => tracing::debug!(%address, "connection closed"),
        Err(error) => tracing::debug!(%address, %error, "connection lost"),
    }
}
