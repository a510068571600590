//! Only a POST of `application/grpc` with messages of protobuf goes on. Another content type, gRPC-Web and gRPC with
//! another codec included, gets HTTP 415, as the gRPC specification asks, and another method 405: a request of a safe
//! method, which proxies may send again, calls nothing.
//!
//! The answer ends that stream alone. It carries no `grpc-status`: the caller does not speak gRPC as it is spoken
//! here. A line of text says what is, and where HTTP is.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{TryFutureExt, future::MapOk};
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    header::{ALLOW, CONTENT_TYPE},
};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::{peer::Peer, polled_frame::PolledFrame, reply::Reply};
use toolwire_base::middleware::Middleware;
use toolwire_contract::status::wrong_port;

const GRPC: &[u8] = b"application/grpc";
const PROTO: &[u8] = b"+proto";

/// Refuses what is not gRPC.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequireGrpc;

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for RequireGrpc
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: Default,
{
    type Future = Reply<MapOk<S::Future, fn(Response<ResB>) -> Response<Body<ResB>>>, Body<ResB>>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let is_spoken = is_spoken(request.headers());
        if is_spoken && request.method() == Method::POST {
            return Reply::passed(inner.call(request).map_ok(passed));
        }
        let mut response = if is_spoken {
            let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, "A gRPC call is a POST.\n".into());
            if request.method() == Method::HEAD {
                response.body_mut().text = None;
            }
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            response
        } else {
            let http_at = request.extensions().get::<Peer>().and_then(|peer| peer.http_at);
            refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, wrong_port::is_grpc(http_at).into())
        };
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        Reply::decided(response)
    }
}

fn refusal<B: Default>(status: StatusCode, text: Bytes) -> Response<Body<B>> {
    let mut response = Response::new(Body { inner: B::default(), text: Some(text) });
    *response.status_mut() = status;
    response
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

/// `application/grpc`, alone or with a `+codec` or `;parameters`: its caller reads statuses of gRPC's and no others.
pub(in crate::faces) fn is_grpc(headers: &HeaderMap) -> bool {
    after_grpc(headers).is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// gRPC whose messages are read here: `application/grpc` or `application/grpc+proto`, alone or with `;parameters`.
fn is_spoken(headers: &HeaderMap) -> bool {
    let rest = after_grpc(headers).map(|rest| after(rest, PROTO).unwrap_or(rest));
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b';')))
}

fn after_grpc(headers: &HeaderMap) -> Option<&[u8]> {
    after(headers.get(CONTENT_TYPE)?.as_bytes(), GRPC)
}

/// What follows the prefix, in whatever case that is written.
fn after<'a>(value: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = value.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())])
    }

    #[test]
    fn only_grpc_with_messages_of_protobuf_goes_on() {
        for value in [
            "application/grpc",
            "application/grpc;",
            "application/grpc;charset=utf-8",
            "application/grpc; charset=utf-8",
            "application/grpc+proto",
            "application/grpc+proto;",
            "application/grpc+proto;charset=utf-8",
            "Application/gRPC",
            "APPLICATION/GRPC+PROTO",
        ] {
            assert!(is_spoken(&of(value)) && is_grpc(&of(value)), "{value}");
        }
        for value in [
            "application/grpcx",
            "application/grpc-web",
            "application/grpc-web+proto",
            "application/json",
            "application/proto",
            "application/grp",
            "",
        ] {
            assert!(!is_spoken(&of(value)) && !is_grpc(&of(value)), "{value}");
        }
        assert!(!is_spoken(&HeaderMap::new()) && !is_grpc(&HeaderMap::new()));
    }

    #[test]
    fn another_codec_is_grpc_that_is_not_spoken_here() {
        for codec in ["+json", "+json;charset=utf-8", "+thrift", "+", "+protobuf", "+proto+json"] {
            let headers = of(&format!("application/grpc{codec}"));
            assert!(is_grpc(&headers) && !is_spoken(&headers), "{codec}");
        }
    }
}
