//! The frame that the layers of the stack share: a layer says what it does around the rest of the stack, and nothing
//! else.
//!
//! Not here: what any layer does.

use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use tower::Service;

use super::{Answer, Failure, request::Request};

/// The rest of the stack, as a layer above it sees it.
pub(super) trait Inner:
    Service<Request, Response = Answer, Error = Failure, Future: Send> + Clone + Send + 'static
{
}

impl<S> Inner for S where
    S: Service<Request, Response = Answer, Error = Failure, Future: Send> + Clone + Send + 'static
{
}

/// What a layer does with a request, and with what the rest of the stack makes of it.
pub(super) trait Around: Clone + Send + 'static {
    /// Carries a request out; `inner` is asked as often as the layer likes, also never.
    fn call(
        self,
        request: Request,
        inner: impl Inner,
    ) -> impl Future<Output = Result<Answer, Failure>> + Send;
}

/// A layer for [`tower::ServiceBuilder`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer<A>(pub(super) A);

#[derive(Clone, Debug)]
pub(super) struct Layered<A, S> {
    around: A,
    inner: S,
}

impl<A: Clone, S> tower::Layer<S> for Layer<A> {
    type Service = Layered<A, S>;

    fn layer(&self, inner: S) -> Layered<A, S> {
        Layered { around: self.0.clone(), inner }
    }
}

impl<A: Around, S: Inner> Service<Request> for Layered<A, S> {
    type Response = Answer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Answer, Failure>>;

    /// Always ready: the rest of the stack is awaited within the call, after what comes before it.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { around, inner } = self.clone();
        Box::pin(around.call(request, inner))
    }
}
