//! The lifecycle of a connection of either protocol: requests go to the layers, and it is closed by age, idleness or
//! drain.

use std::{
    convert::Infallible,
    error::Error,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use http::{Request, Response, Version};
use hyper::{body::Incoming, service::service_fn};
use pin_project_lite::pin_project;
use tokio::time::{sleep, timeout};
use tonic::body::Body;
use tower::Service;

use super::{
    abandoned_body::{AbandonedBody, discard},
    request_body::RequestBody,
};
use crate::{Config, frames, peer::Peer, requests, signals::Signals};

/// A connection whose protocol is known.
pub(super) struct ConnectionLifecycle<S> {
    pub(super) service: S,
    pub(super) peer: Peer,
    pub(super) config: Arc<Config>,
    pub(super) signals: Arc<Signals>,
}

/// The service of a connection's requests: the layers over the routes.
pub(in super::super) trait Layers:
    Service<
        Request<Body>,
        Response = Response<<Self as Layers>::ResponseBody>,
        Error = Infallible,
        Future: Send,
    > + Clone
    + Send
    + 'static
{
    type ResponseBody: http_body::Body<Data = Bytes, Error: Error + Send + Sync> + Send + 'static;
}

impl<S, B> Layers for S
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: http_body::Body<Data = Bytes, Error: Error + Send + Sync> + Send + 'static,
{
    type ResponseBody = B;
}

/// The treatment of an idle connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnIdle {
    /// It is closed gracefully, as at its maximum age.
    GoAway,
    /// It is dropped, since it may be in the middle of a request.
    Drop,
}

impl<S> ConnectionLifecycle<S> {
    /// Drives a connection to its end. `end` starts its graceful shutdown: it accepts no more requests, and ends when
    /// those in flight are answered.
    pub(super) async fn run<C>(self, connection: C, on_idle: OnIdle, end: impl FnOnce(Pin<&mut C>))
    where
        C: Future<Output = hyper::Result<()>>,
    {
        let (address, mut connection) = (self.peer.address, pin!(connection));
        tokio::select! {
            // First, so that a connection that was accepted during the drain sends its SETTINGS before the GOAWAY.
            biased;
            result = connection.as_mut() => return log_closed(address, result),
            () = self.signals.go_away.cancelled() => {}
            () = sleep(self.config.age.with_jitter()) => {}
            () = requests::idle(self.peer.requests.as_deref(), self.config.protocols.http_limits()) => {
                if on_idle == OnIdle::Drop {
                    return tracing::debug!(%address, "connection closed: no request on it");
                }
            }
        }
        // Watches first: they would keep the connection open for the whole grace.
        self.peer.watches_end.cancel();
        end(connection.as_mut());
        let Ok(result) = timeout(self.config.age.grace, connection).await else {
            return tracing::debug!(%address, "connection dropped: its grace period has passed");
        };
        log_closed(address, result);
    }
}

/// Adapts `service` to hyper: converts the bodies, and inserts the peer into every request. hyper has no `poll_ready`,
/// but all layers here and tonic's generated servers are always ready.
pub(super) fn with_peer<S: Layers>(
    service: S,
    peer: Peer,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response<frames::Body<S::ResponseBody>>,
    Error = Infallible,
    Future: Send,
> {
    service_fn(move |mut request: Request<Incoming>| {
        peer.state.record_request();
        request.extensions_mut().insert(peer.clone());
        let is_http2 = request.version() == Version::HTTP_2;
        let abandoned = if is_http2 { AbandonedBody::of(&request) } else { None };
        let body = |incoming| {
            if is_http2 {
                RequestBody::http2(incoming, abandoned.clone())
            } else {
                RequestBody::http1(incoming, peer.requests.as_ref())
            }
        };
        let request = request.map(|incoming| Body::new(body(incoming)));
        ResponseFuture { response: service.clone().call(request), abandoned, discarding: None }
    })
}

pin_project! {
    /// The response of a request. A body that was abandoned is discarded before. An async block or combinators would
    /// move the large future of the service once more.
    struct ResponseFuture<F: Future> {
        #[pin]
        response: F,
        abandoned: Option<AbandonedBody>,
        // Boxed, since it is rare.
        discarding: Option<BoxFuture<'static, F::Output>>,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
    B: Send + 'static,
{
    type Output = Result<Response<frames::Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.discarding.is_none() {
            let response = ready!(this.response.poll(cx));
            let Some(rest) = this.abandoned.take().and_then(AbandonedBody::take) else {
                return Poll::Ready(framed(response));
            };
            *this.discarding = Some(discard(rest).map(|()| response).boxed());
        }
        let discarding = this.discarding.as_mut().expect("it was begun");
        discarding.poll_unpin(cx).map(framed)
    }
}

fn framed<B>(response: Result<Response<B>, Infallible>) -> Result<Response<frames::Body<B>>, Infallible> {
    response.map(|it| it.map(frames::Body::new))
}

fn log_closed(address: SocketAddr, result: hyper::Result<()>) {
    match result {
        Ok(()) => tracing::debug!(%address, "connection closed"),
        Err(error) => tracing::debug!(%address, %error, "connection lost"),
    }
}
