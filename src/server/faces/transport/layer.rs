//! The frame that layers share which may wait: a layer says what it does around the rest of the stack, and nothing
//! else.
//!
//! Not here: layers that decide at once, which need no future of their own (`reply`).

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;
use http::{Request, Response};

/// The rest of the stack, as a layer above it sees it.
pub(super) trait Inner<A, B>:
    tower::Service<Request<A>, Response = Response<B>, Error = Infallible, Future: Send> + Clone + Send + 'static
{
}

impl<S, A, B> Inner<A, B> for S where
    S: tower::Service<Request<A>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static
{
}

/// What a layer does with requests whose body is an `A` and answers whose body is a `B`.
pub(super) trait Around<A, B>: Clone + Send + 'static {
    type Body;

    /// Answers a request; `inner` is called once at most.
    fn call(
        self,
        request: Request<A>,
        inner: impl Inner<A, B>,
    ) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// A layer for [`tower::ServiceBuilder`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Layer<T>(pub(super) T);

/// See [`Layer`].
#[derive(Debug, Clone)]
pub(super) struct Service<T, S> {
    around: T,
    inner: S,
}

impl<T: Clone, S> tower::Layer<S> for Layer<T> {
    type Service = Service<T, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Service { around: self.0.clone(), inner }
    }
}

impl<T, S, A, B> tower::Service<Request<A>> for Service<T, S>
where
    T: Around<A, B>,
    S: tower::Service<Request<A>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    A: Send + 'static,
    B: 'static,
{
    type Response = Response<T::Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<T::Body>, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        // The ready service goes into the future, its clone stays.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let around = self.around.clone();
        Box::pin(async move { Ok(around.call(request, inner).await) })
    }
}
