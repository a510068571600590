//! Limit: each request takes a permit, or is refused at once where none comes in time.
//!
//! Not here: when a permit comes, which the limiter knows.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{
    select,
    time::{Instant, sleep_until},
};
use tracing::{Span, info_span};

use super::{Subject, hold_off::HoldOff, record, wait};
use crate::upstream::{
    failure::{Failure, FailureKind},
    limiter::{Limiter, Permit, Refused},
};
use toolwire_base::clock;
use toolwire_telemetry::attribute;
use toolwire_tool::context::{ToolContext, UserId};

/// The limits of a source, and the pauses that it asks for.
#[derive(Clone, Debug)]
pub(in crate::upstream) struct Limit {
    subject: Subject,
    limiter: Arc<dyn Limiter>,
    hold_off: HoldOff,
}

/// A wait, with its span and metric. Both are recorded when it is dropped, also by a cancelled call.
struct Waiting<'a> {
    source: &'a str,
    since: Instant,
    _span: Span,
}

impl Limit {
    pub(in crate::upstream) fn new(subject: Subject, limiter: Arc<dyn Limiter>, hold_off: HoldOff) -> Self {
        Self { subject, limiter, hold_off }
    }

    /// Waits for a permit outside of any hold-off.
    pub(in crate::upstream) async fn permit(
        &self,
        context: &ToolContext,
        deadline: Instant,
    ) -> Result<(), Failure> {
        // Before the permit: one that is taken during a hold-off could not be used at its instant.
        self.wait_for_hold_off(context, deadline).await?;
        self.acquire(context, deadline).await?;
        // A hold-off may have begun while the permit was waited for.
        self.wait_for_hold_off(context, deadline).await
    }

    /// Takes a permit back whose request was never made.
    pub(super) fn give_back(&self, user: &UserId, permit: Permit) {
        self.limiter.give_back(&self.subject.source, user, permit);
    }

    /// Begins a hold-off if the source asked for a pause.
    pub(in crate::upstream) async fn note(&self, failure: &Failure) {
        self.hold_off.note(failure).await;
    }

    /// Waits until no hold-off is in force. Refuses at once if that is past the deadline.
    pub(super) async fn wait_for_hold_off(
        &self,
        context: &ToolContext,
        deadline: Instant,
    ) -> Result<(), Failure> {
        while let Some(at) = self.hold_off.until().await {
            if at >= deadline {
                record::limiter_refused(&self.subject.source);
                return Err(over_budget(&self.subject.title, Refused::TooLate { at }));
            }
            wait::report(context, clock::remaining(at), &self.subject.title);
            let _waiting = Waiting::new(&self.subject.source);
            select! {
                biased;
                () = context.cancellation.cancelled() => return Err(Failure::cancelled()),
                () = sleep_until(at) => {}
            }
        }
        Ok(())
    }

    pub(super) async fn acquire(&self, context: &ToolContext, deadline: Instant) -> Result<Permit, Failure> {
        let waiting = OnceLock::new();
        let report = |length: Duration| {
            wait::report(context, length, &self.subject.title);
            let _ = waiting.get_or_init(|| Waiting::new(&self.subject.source));
        };
        let permit = self.limiter.acquire(&self.subject.source, &context.user.id, deadline, &report);
        let permit = select! {
            biased;
            () = context.cancellation.cancelled() => return Err(Failure::cancelled()),
            permit = permit => permit,
        };
        permit.map_err(|refused| {
            record::limiter_refused(&self.subject.source);
            over_budget(&self.subject.title, refused)
        })
    }
}

impl<'a> Waiting<'a> {
    fn new(source: &'a str) -> Self {
        let span = info_span!("wait for limiter", { attribute::SOURCE_NAME } = source);
        Self { source, since: clock::now(), _span: span }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        record::limiter_waited(self.source, clock::now() - self.since);
    }
}

/// After how long a state that did not answer may answer again.
const STATE_RETRY_AFTER: Duration = Duration::from_secs(1);

/// The failure for the caller. It has the exact instant for a caller that plans, and the wait for one without a clock.
fn over_budget(title: &str, refused: Refused) -> Failure {
    let (at, why) = match refused {
        Refused::TooLate { at } => (at, "which is past the deadline of this call"),
        Refused::Crowded { at } => (at, "and too many of your requests wait for it already"),
        Refused::Uncounted => {
            return Failure::new(FailureKind::Uncounted, "the state does not answer")
                .with_retry_after(Some(STATE_RETRY_AFTER));
        }
    };
    let left = clock::remaining(at);
    let instant = clock::rfc3339_millis(clock::wall_at(at));
    let message =
        format!("{title} may be asked again at {instant} (in {}), {why}.", clock::wait_in_words(left));
    Failure::new(FailureKind::OverBudget, format!("the limiter refused: {refused:?}"))
        .with_message(message)
        .with_retry_after(Some(left))
}
