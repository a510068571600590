//! Only `application/grpc` goes on; anything else, gRPC-Web included, gets HTTP 415, as the gRPC specification asks.
//!
//! The answer ends that stream alone. It carries no `grpc-status`: the caller does not speak gRPC.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use http::{HeaderMap, Request, Response, StatusCode, header::CONTENT_TYPE};

use super::reply::Reply;

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
    type Response = Response<ResB>;
    type Error = Infallible;
    type Future = Reply<S::Future, ResB>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqB>) -> Self::Future {
        if is_grpc(request.headers()) {
            return Reply::passed(self.inner.call(request));
        }
        let mut response = Response::new(ResB::default());
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Reply::decided(response)
    }
}

/// `application/grpc`, alone or with a `+codec` or `;parameters`.
fn is_grpc(headers: &HeaderMap) -> bool {
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
