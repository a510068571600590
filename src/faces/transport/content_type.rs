//! Only `application/grpc` goes on; anything else, gRPC-Web included, gets HTTP 415, as the gRPC specification asks.
//!
//! The answer ends that stream alone. It carries no `grpc-status`: the caller does not speak gRPC. A line of text says
//! what is spoken here, and where HTTP is.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{TryFutureExt, future::MapOk};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::{peer::Peer, polled_frame::PolledFrame, reply::Reply};
use crate::contract::status::wrong_port;

const GRPC: &[u8] = b"application/grpc";

/// Refuses what is not gRPC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layer;

#[derive(Debug, Clone)]
pub(super) struct Service<S> {
    inner: S,
}

impl<S> tower::Layer<S> for Layer {
    type Service = Service<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Service { inner }
    }
}

impl<S, ReqB, ResB> tower::Service<Request<ReqB>> for Service<S>
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: Default,
{
    type Response = Response<Body<ResB>>;
    type Error = Infallible;
    type Future = Reply<MapOk<S::Future, fn(Response<ResB>) -> Response<Body<ResB>>>, Body<ResB>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqB>) -> Self::Future {
        if is_grpc(request.headers()) {
            return Reply::passed(self.inner.call(request).map_ok(passed));
        }
        let http_at = request.extensions().get::<Peer>().and_then(|peer| peer.http_at);
        let text = wrong_port::is_grpc(http_at);
        let mut response = Response::new(Body { inner: ResB::default(), text: Some(text.into()) });
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        Reply::decided(response)
    }
}

fn passed<B>(response: Response<B>) -> Response<Body<B>> {
    response.map(|inner| Body { inner, text: None })
}

pin_project! {
    /// A line of text, or the body below.
    #[derive(Debug, Default)]
    pub(super) struct Body<B> {
        #[pin]
        inner: B,
        text: Option<Bytes>,
    }
}

impl<B: HttpBody<Data = Bytes>> HttpBody for Body<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let this = self.project();
        match this.text.take() {
            Some(text) => Poll::Ready(Some(Ok(Frame::data(text)))),
            None => this.inner.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.text.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.text
            .as_ref()
            .map_or_else(|| self.inner.size_hint(), |text| SizeHint::with_exact(text.len() as u64))
    }
}

/// `application/grpc`, alone or with a `+codec` or `;parameters`.
pub(in crate::faces) fn is_grpc(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE) else { return false };
    let Some((kind, rest)) = value.as_bytes().split_at_checked(GRPC.len()) else { return false };
    kind.eq_ignore_ascii_case(GRPC) && matches!(rest.first(), None | Some(b'+' | b';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_grpc_goes_on() {
        let judged = |value: &str| is_grpc(&HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]));
        for value in [
            "application/grpc",
            "application/grpc+proto",
            "application/grpc;charset=utf-8",
            "Application/gRPC",
        ] {
            assert!(judged(value), "{value}");
        }
        for value in
            ["application/grpc-web", "application/grpc-web+proto", "application/json", "application/grp", ""]
        {
            assert!(!judged(value), "{value}");
        }
        assert!(!is_grpc(&HeaderMap::new()));
    }
}
