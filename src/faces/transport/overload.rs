//! Sheds load: at most so many requests in flight, the rest refused with UNAVAILABLE before any work.
//!
//! A permit is held until the response body has ended or is dropped, not only until the headers. Watches have permits
//! of their own, so that idle ones do not keep calls out. Never shed are public methods, because a health check that
//! fails under load makes orchestrators kill a server that is merely busy, and `CancelCall`, because it makes room.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use http::{Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use super::{
    reply::Reply,
    rules::{Access, Lifetime, Rule},
};
use crate::contract::status;

const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// Admits so many requests at once.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    bounds: Bounds,
}

/// The permits, and what is said when there are none.
#[derive(Debug, Clone)]
struct Bounds {
    calls: Arc<Semaphore>,
    watches: Arc<Semaphore>,
    retry_after: Duration,
}

impl Layer {
    pub(super) fn new(max_concurrent_requests: usize, retry_after: Duration) -> Self {
        let permits = || Arc::new(Semaphore::new(max_concurrent_requests));
        Self { bounds: Bounds { calls: permits(), watches: permits(), retry_after } }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Service<S> {
    inner: S,
    bounds: Bounds,
}

/// What happens to a request.
enum Decision {
    Exempt,
    Admitted(OwnedSemaphorePermit),
    Shed,
}

impl Bounds {
    fn decide(&self, rule: Option<&Rule>) -> Decision {
        let permits = match rule {
            Some(Rule { access: Access::Public, .. } | Rule { lifetime: Lifetime::Instant, .. }) => {
                return Decision::Exempt;
            }
            Some(Rule { lifetime: Lifetime::Uncapped, .. }) => &self.watches,
            _ => &self.calls,
        };
        permits.clone().try_acquire_owned().map_or(Decision::Shed, Decision::Admitted)
    }
}

impl<S> tower::Layer<S> for Layer {
    type Service = Service<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Service { inner, bounds: self.bounds.clone() }
    }
}

impl<S, ReqB, ResB> tower::Service<Request<ReqB>> for Service<S>
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: Default,
{
    type Response = Response<Body<ResB>>;
    type Error = Infallible;
    type Future = Reply<ResponseFuture<S::Future>, Body<ResB>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqB>) -> Self::Future {
        let permit = match self.bounds.decide(request.extensions().get()) {
            Decision::Exempt => None,
            Decision::Admitted(permit) => Some(permit),
            Decision::Shed => return Reply::refused(overloaded(self.bounds.retry_after)),
        };
        Reply::passed(ResponseFuture { inner: self.inner.call(request), permit })
    }
}

pin_project! {
    /// The answer, whose body takes the permit over.
    #[derive(Debug)]
    pub(super) struct ResponseFuture<F> {
        #[pin]
        inner: F,
        permit: Option<OwnedSemaphorePermit>,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
{
    type Output = Result<Response<Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Ok(response) = ready!(this.inner.poll(cx));
        let permit = this.permit.take();
        Poll::Ready(Ok(response.map(|inner| Body { inner, permit })))
    }
}

pin_project! {
    /// The body below; the permit goes with it.
    #[derive(Debug, Default)]
    pub(super) struct Body<B> {
        #[pin]
        inner: B,
        permit: Option<OwnedSemaphorePermit>,
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().inner.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

fn overloaded(retry_after: Duration) -> Status {
    let details = ErrorDetails::with_retry_info(Some(retry_after));
    let message = "the server has as many requests in flight as it takes; try again later";
    let mut status = status::status(Code::Unavailable, "OVERLOADED", message, details);
    let milliseconds = retry_after.as_millis().to_string();
    let milliseconds = milliseconds.parse().expect("digits are a valid header value");
    status.metadata_mut().insert(PUSHBACK, milliseconds);
    status
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tonic_types::StatusExt;
    use tower::{Layer as _, Service as _, ServiceExt, service_fn};

    use super::*;
    use crate::faces::transport::refusal;

    type Empty = tonic::body::Body;

    #[tokio::test]
    async fn a_request_beyond_the_limit_is_told_when_to_come_back() {
        let layer = Layer::new(1, Duration::from_millis(1_500));
        let held = layer.layer(service_fn(quick)).oneshot(request(Access::User)).await.unwrap();

        let shed = layer.layer(service_fn(quick)).oneshot(request(Access::User)).await.unwrap();
        let status = Status::from_header_map(shed.headers()).unwrap();
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(status.get_details_error_info().unwrap().reason, "OVERLOADED");
        assert_eq!(status.get_details_retry_info().unwrap().retry_delay, Some(Duration::from_millis(1_500)));
        assert_eq!(shed.headers()[PUSHBACK], "1500");

        drop(held);
        let admitted = layer.layer(service_fn(quick)).oneshot(request(Access::User)).await.unwrap();
        assert_eq!(refusal::code_in(admitted.headers()), None);
    }

    #[tokio::test]
    async fn a_call_that_is_dropped_gives_its_permit_back() {
        let layer = Layer::new(1, Duration::ZERO);
        let never = service_fn(|_: Request<()>| pending::<Result<Response<Empty>, Infallible>>());
        let call = layer.layer(never).call(request(Access::User));
        assert_eq!(layer.bounds.calls.available_permits(), 0);
        drop(call);
        assert_eq!(layer.bounds.calls.available_permits(), 1);
    }

    #[tokio::test]
    async fn public_methods_are_never_shed() {
        let layer = Layer::new(0, Duration::ZERO);
        let response = layer.layer(service_fn(quick)).oneshot(request(Access::Public)).await.unwrap();
        assert_eq!(refusal::code_in(response.headers()), None);
    }

    #[tokio::test]
    async fn watches_do_not_keep_calls_out_and_a_cancellation_always_comes_in() {
        let layer = Layer::new(1, Duration::ZERO);
        let ask = |lifetime| layer.layer(service_fn(quick)).oneshot(of(Access::User, lifetime));
        let _watch = ask(Lifetime::Uncapped).await.unwrap();
        let _call = ask(Lifetime::Capped).await.unwrap();
        for (lifetime, code) in [
            (Lifetime::Uncapped, Some(Code::Unavailable)),
            (Lifetime::Capped, Some(Code::Unavailable)),
            (Lifetime::Instant, None),
        ] {
            assert_eq!(refusal::code_in(ask(lifetime).await.unwrap().headers()), code, "{lifetime:?}");
        }
    }

    fn quick(_: Request<()>) -> std::future::Ready<Result<Response<Empty>, Infallible>> {
        ready(Ok(Response::new(Empty::empty())))
    }

    fn request(access: Access) -> Request<()> {
        of(access, Lifetime::Capped)
    }

    fn of(access: Access, lifetime: Lifetime) -> Request<()> {
        let mut request = Request::new(());
        request.extensions_mut().insert(Rule { access, lifetime });
        request
    }
}
