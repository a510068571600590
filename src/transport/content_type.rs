//! Passes only POST requests of `application/grpc` with protobuf messages. Another content type, including gRPC-Web and
//! gRPC with another codec, gets HTTP 415 as the gRPC specification requires, and another method 405: proxies may retry
//! requests of safe methods, which therefore must not make calls.
//!
//! The response ends only that stream. It has no `grpc-status`, since the caller does not speak this kind of gRPC, but
//! a line of text that names the protocol of this port and the port of HTTP.

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

#[derive(Debug, Clone, Copy)]
pub(super) struct RequireGrpc;

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for RequireGrpc
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: Default,
{
    type Future = Reply<MapOk<S::Future, fn(Response<ResB>) -> Response<Body<ResB>>>, Body<ResB>>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let is_grpc_proto = is_grpc_proto(request.headers());
        if is_grpc_proto && request.method() == Method::POST {
            return Reply::forward(inner.call(request).map_ok(forward));
        }
        let mut response = if is_grpc_proto {
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
        Reply::respond(response)
    }
}

fn refusal<B: Default>(status: StatusCode, text: Bytes) -> Response<Body<B>> {
    let mut response = Response::new(Body { inner: B::default(), text: Some(text) });
    *response.status_mut() = status;
    response
}

fn forward<B>(response: Response<B>) -> Response<Body<B>> {
    response.map(|inner| Body { inner, text: None })
}

pin_project! {
    /// A line of text, or the inner body.
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

/// Whether a request is gRPC with any codec: `application/grpc`, alone or with a `+codec` or `;parameters`. Its caller
/// understands gRPC statuses only.
pub fn is_grpc(headers: &HeaderMap) -> bool {
    after_grpc(headers).is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// Whether a request is gRPC with protobuf: `application/grpc` or `application/grpc+proto`, alone or with
/// `;parameters`.
fn is_grpc_proto(headers: &HeaderMap) -> bool {
    let rest = after_grpc(headers).map(|rest| after(rest, PROTO).unwrap_or(rest));
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b';')))
}

fn after_grpc(headers: &HeaderMap) -> Option<&[u8]> {
    after(headers.get(CONTENT_TYPE)?.as_bytes(), GRPC)
}

/// Strips a prefix, ignoring case.
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
            assert!(is_grpc_proto(&of(value)) && is_grpc(&of(value)), "{value}");
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
            assert!(!is_grpc_proto(&of(value)) && !is_grpc(&of(value)), "{value}");
        }
        assert!(!is_grpc_proto(&HeaderMap::new()) && !is_grpc(&HeaderMap::new()));
    }

    #[test]
    fn another_codec_is_grpc_that_is_not_spoken_here() {
        for codec in ["+json", "+json;charset=utf-8", "+thrift", "+", "+protobuf", "+proto+json"] {
            let headers = of(&format!("application/grpc{codec}"));
            assert!(is_grpc(&headers) && !is_grpc_proto(&headers), "{codec}");
        }
    }
}
