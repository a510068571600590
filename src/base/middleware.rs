//! Middleware for `tower::ServiceBuilder`: a type says what it does around the rest of a stack, and nothing else.
//!
//! Not here: what tower has for a change of the request or of the response alone, `map_request` and `map_response`.

use std::{
    mem,
    task::{Context, Poll},
};

use tower::Service;

/// What a layer does with requests `R` around the rest of the stack, `S`.
pub trait Middleware<R, S> {
    /// Of a `Result` with the error of `S`. Named, so that a call costs no box where it needs none.
    type Future;

    /// Carries a request out. `inner` is ready for one request; a future that is to call it later takes it along, by
    /// [`take_ready`].
    fn call(&self, request: R, inner: &mut S) -> Self::Future;
}

/// A middleware as a layer of a stack. It is ready when the rest of the stack is.
#[derive(Clone, Copy, Debug)]
pub struct Layer<M>(pub M);

/// A middleware over the rest of its stack.
#[derive(Clone, Copy, Debug)]
pub struct Layered<M, S> {
    middleware: M,
    inner: S,
}

impl<M: Clone, S> tower::Layer<S> for Layer<M> {
    type Service = Layered<M, S>;

    fn layer(&self, inner: S) -> Layered<M, S> {
        Layered { middleware: self.0.clone(), inner }
    }
}

impl<M, S, R, T> Service<R> for Layered<M, S>
where
    M: Middleware<R, S, Future: Future<Output = Result<T, S::Error>>>,
    S: Service<R>,
{
    type Response = T;
    type Error = S::Error;
    type Future = M::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> M::Future {
        self.middleware.call(request, &mut self.inner)
    }
}

/// Takes the service that is ready, and leaves its clone, which need not be.
pub fn take_ready<S: Clone>(inner: &mut S) -> S {
    let clone = inner.clone();
    mem::replace(inner, clone)
}
