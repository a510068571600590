//! Retry: asks again where that may help and the deadline has room (spec 004 §4.3, §5.1, appendix B).
//!
//! Above the limit, so that each attempt takes its own permit. Whether and when is the policy's, the waiting is the
//! service's.

mod policy;
#[cfg(test)]
mod tests;

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio::{select, time::sleep};
use tower::{Service, ServiceExt};

use super::{Answer, Failure, FailureKind, Profile, request::Request, wait};
use crate::{context::UserId, upstream::limiter::Limiter};

use policy::{Policy, Usual};

/// Repeats requests that failed, as the usual policy says.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    profile: Profile,
    limiter: Arc<dyn Limiter>,
}

/// See [`Layer`].
#[derive(Clone, Debug)]
pub(super) struct Retry<S> {
    inner: S,
    layer: Layer,
}

impl Layer {
    /// Retries at a source; the limiter says how long one waits where the source does not.
    pub(super) fn new(profile: Profile, limiter: Arc<dyn Limiter>) -> Self {
        Self { profile, limiter }
    }

    /// The policy for one request. What is not safe to repeat is not repeated.
    fn policy(&self, request: &Request) -> Usual {
        Usual::new(self.profile.may_retry && request.outgoing.is_repeatable)
    }

    /// The same failure; one that says to wait says how long.
    async fn with_wait(&self, failure: Failure, user: &UserId) -> Failure {
        if failure.kind != FailureKind::RateLimited || failure.retry_after.is_some() {
            return failure;
        }
        let source = self.profile.name;
        let spacing = self.limiter.policy(source).map(|policy| policy.per_user.min_delay);
        let wait = self.limiter.wait_time(source, user).await * 2;
        failure.with_retry_after(Some(wait.max(spacing.unwrap_or_default())))
    }

    async fn run<S>(self, mut inner: S, request: Request) -> Result<Answer, Failure>
    where
        S: Service<Request, Response = Answer, Error = Failure>,
    {
        let mut policy = self.policy(&request);
        let mut earlier = None;
        loop {
            let failure = match inner.ready().await?.call(request.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if failure.kind == FailureKind::OverBudget {
                // The limit left no room for the retry: what made it necessary says more, unless that was a limit too.
                let earlier = earlier.filter(|earlier: &Failure| earlier.kind != FailureKind::RateLimited);
                return Err(earlier.unwrap_or(failure));
            }
            let failure = self.with_wait(failure, &request.context.user.id).await;
            let Some(delay) = policy.delay(&failure) else { return Err(failure) };
            let turn = self.limiter.wait_time(self.profile.name, &request.context.user.id).await;
            if delay.max(turn) >= request.context.remaining() {
                return Err(failure);
            }
            self.pause(delay, &request).await?;
            earlier = Some(failure);
        }
    }

    async fn pause(&self, delay: Duration, request: &Request) -> Result<(), Failure> {
        wait::tell(&request.context, delay, self.profile.title);
        select! {
            biased;
            () = request.context.cancellation.cancelled() => Err(Failure::cancelled()),
            () = sleep(delay) => Ok(()),
        }
    }
}

impl<S> tower::Layer<S> for Layer {
    type Service = Retry<S>;

    fn layer(&self, inner: S) -> Retry<S> {
        Retry { inner, layer: self.clone() }
    }
}

impl<S> Service<Request> for Retry<S>
where
    S: Service<Request, Response = Answer, Error = Failure> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Answer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Answer, Failure>>;

    /// Always ready: each attempt waits for what is below by itself.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { inner, layer } = self.clone();
        Box::pin(layer.run(inner, request))
    }
}
