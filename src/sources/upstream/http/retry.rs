//! Retry: asks again where that may help and the deadline leaves time.
//!
//! Above the limit, so that each attempt takes its own permit. Not here: whether a failure is worth another attempt and
//! after which wait, which `backoff` knows.

mod backoff;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use tokio::{select, time::sleep};
use tower::ServiceExt;

use self::backoff::Backoff;
use super::{
    Failure, FailureKind, Profile,
    layer::{End, Inner},
    request::Request,
};
use crate::upstream::{limiter::Limiter, stack::wait};
use toolwire_base::middleware::Middleware;
use toolwire_tool::context::UserId;

/// Repeats requests that failed.
#[derive(Clone, Debug)]
pub(super) struct Retry {
    profile: Profile,
    limiter: Arc<dyn Limiter>,
}

impl Retry {
    /// Retries at a source; the limiter says how long one waits where the source does not.
    pub(super) fn new(profile: Profile, limiter: Arc<dyn Limiter>) -> Self {
        Self { profile, limiter }
    }

    /// The backoff of one request, which allows no retry of a request that is not safe to repeat.
    fn backoff(&self, request: &Request) -> Backoff {
        Backoff::new(self.profile.may_retry && request.outgoing.is_repeatable)
    }

    /// Adds a wait to a rate limit that states none: twice the limiter's wait, and at least the user's spacing.
    async fn with_wait(&self, failure: Failure, user: &UserId) -> Failure {
        if failure.kind != FailureKind::RateLimited || failure.retry_after.is_some() {
            return failure;
        }
        let source = self.profile.name;
        let spacing = self.limiter.budgets(source).map(|budgets| budgets.per_user.min_delay);
        let wait = self.limiter.wait_time(source, user).await * 2;
        failure.with_retry_after(Some(wait.max(spacing.unwrap_or_default())))
    }

    async fn pause(&self, delay: Duration, request: &Request) -> Result<(), Failure> {
        wait::report(&request.context, delay, self.profile.title);
        select! {
            biased;
            () = request.context.cancellation.cancelled() => Err(Failure::cancelled()),
            () = sleep(delay) => Ok(()),
        }
    }
}

impl<S: Inner> Middleware<Request, S> for Retry {
    type Future = End;

    fn call(&self, request: Request, inner: &mut S) -> End {
        let (layer, mut inner) = (self.clone(), inner.clone());
        Box::pin(async move {
            let mut backoff = layer.backoff(&request);
            let mut earlier = None;
            loop {
                let failure = match inner.ready().await?.call(request.clone()).await {
                    Ok(answer) => return Ok(answer),
                    Err(failure) => failure,
                };
                if failure.kind == FailureKind::OverBudget {
                    // The limiter rejected the retry: the first failure says more, unless that was a limit too.
                    let earlier =
                        earlier.filter(|earlier: &Failure| earlier.kind != FailureKind::RateLimited);
                    return Err(earlier.unwrap_or(failure));
                }
                let failure = layer.with_wait(failure, &request.context.user.id).await;
                let Some(delay) = backoff.delay(&failure) else { return Err(failure) };
                // A retry needs a permit as well: without time for both, the failure is returned now, not at the
                // deadline.
                let permit_wait = layer.limiter.wait_time(layer.profile.name, &request.context.user.id).await;
                if delay.max(permit_wait) >= request.context.remaining() {
                    return Err(failure);
                }
                layer.pause(delay, &request).await?;
                earlier = Some(failure);
            }
        })
    }
}
