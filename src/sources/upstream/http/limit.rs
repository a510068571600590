//! Limit: each request takes a permit, or is refused at once where none comes in time (spec 004 §4.2 `acquire`).
//!
//! Not here: when a permit comes, which the limiter knows.

#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{
    select,
    time::{Instant, sleep_until},
};
use tower::ServiceExt;
use tracing::{Span, info_span};

use super::{
    Failure, FailureKind, Profile,
    hold_off::HoldOff,
    layer::{End, Inner},
    record,
    request::Request,
    wait,
};
use crate::upstream::limiter::{Limiter, Refused};
use toolwire_base::{clock, middleware::Middleware};
use toolwire_telemetry::attribute;
use toolwire_tool::context::ToolContext;

/// Sends requests to a source when its limiter admits them.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    profile: Profile,
    limiter: Arc<dyn Limiter>,
    hold_off: HoldOff,
}

/// A wait, with its span and metric. Both are recorded when it is dropped, also by a cancelled call.
struct Waiting {
    source: &'static str,
    since: Instant,
    _span: Span,
}

impl Limit {
    /// The limits of a source.
    pub(super) fn new(profile: Profile, limiter: Arc<dyn Limiter>, hold_off: HoldOff) -> Self {
        Self { profile, limiter, hold_off }
    }

    /// Waits for a permit outside of any hold-off.
    async fn permit(&self, context: &ToolContext) -> Result<(), Failure> {
        // Before the permit: one that is taken during a hold-off could not be used at its instant.
        self.wait_for_hold_off(context).await?;
        self.acquire(context).await?;
        // A hold-off may have begun while the permit was waited for.
        self.wait_for_hold_off(context).await
    }

    /// Waits until no hold-off is in force. Refuses at once if that is past the deadline.
    async fn wait_for_hold_off(&self, context: &ToolContext) -> Result<(), Failure> {
        while let Some(at) = self.hold_off.until().await {
            if at >= context.deadline.at() {
                record::limiter_refused(self.profile.name);
                return Err(over_budget(self.profile.title, Refused::TooLate { at }));
            }
            wait::tell(context, clock::remaining(at), self.profile.title);
            let _waiting = Waiting::new(self.profile.name);
            select! {
                biased;
                () = context.cancellation.cancelled() => return Err(Failure::cancelled()),
                () = sleep_until(at) => {}
            }
        }
        Ok(())
    }

    async fn acquire(&self, context: &ToolContext) -> Result<(), Failure> {
        let waiting = OnceLock::new();
        let tell = |length: Duration| {
            wait::tell(context, length, self.profile.title);
            let _ = waiting.set(Waiting::new(self.profile.name));
        };
        let permit = self.limiter.acquire(self.profile.name, &context.user.id, context.deadline.at(), &tell);
        let permit = select! {
            biased;
            () = context.cancellation.cancelled() => return Err(Failure::cancelled()),
            permit = permit => permit,
        };
        permit.map_err(|refused| {
            record::limiter_refused(self.profile.name);
            over_budget(self.profile.title, refused)
        })
    }
}

impl Waiting {
    fn new(source: &'static str) -> Self {
        let span = info_span!("wait for limiter", { attribute::SOURCE_NAME } = source);
        Self { source, since: clock::now(), _span: span }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        record::limiter_waited(self.source, clock::now() - self.since);
    }
}

/// The failure for the caller. It has the exact instant for a caller that plans, and the wait for one without a clock.
fn over_budget(title: &str, refused: Refused) -> Failure {
    let (at, why) = match refused {
        Refused::TooLate { at } => (at, "which is past the deadline of this call"),
        Refused::Crowded { at } => (at, "and too many of your requests wait for it already"),
    };
    let left = clock::remaining(at);
    let instant = clock::rfc3339_millis(clock::wall_at(at));
    let message = format!(
        "{title} may be asked again at {instant} (in {}), {why}. Call again then, or go on without it.",
        clock::wait_in_words(left)
    );
    Failure::new(FailureKind::OverBudget, format!("the limiter refused: {refused:?}"))
        .saying(message)
        .with_retry_after(Some(left))
}

impl<S: Inner> Middleware<Request, S> for Limit {
    type Future = End;

    fn call(&self, request: Request, inner: &mut S) -> End {
        let (layer, inner) = (self.clone(), inner.clone());
        Box::pin(async move {
            layer.permit(&request.context).await?;
            let end = inner.oneshot(request).await;
            layer.hold_off.note(&end).await;
            end
        })
    }
}
