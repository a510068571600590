//! A call of a host's tool: executed on a slot, and its end when the slot is lost.
//!
//! | lost after `Start` | what happens |
//! |---|---|
//! | a read or a repeatable write, not cancelled, no chunk passed on, 1 s left, the first time | once more elsewhere |
//! | a read or a repeatable write otherwise | UNAVAILABLE |
//! | any other write | `Late` within 10 s is the outcome; else `OUTCOME_UNKNOWN`, which a later `Late` replaces |
//!
//! A call that was not sent yet is not lost: it takes another slot.

mod running;

use std::{future::pending, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::{
    pin, select,
    sync::oneshot,
    time::{Instant, sleep_until, timeout_at},
};

use self::running::Running;
use crate::{
    bounds::{LATE_WAIT, MAX_ARGUMENTS, MAX_PROGRESS, RETRY_AFTER, RETRY_NEEDS, WAIT_MARGIN},
    outcome::{self, Effect},
    pool::{Acquired, Lease, Pool},
    spec::Spec,
    start::{CallEnd, CallEvent, Incoming, Start},
    throttle::Throttle,
    wire::outcome::Outcome,
};
use toolwire_base::clock;
use toolwire_contract::{ErrorCode, Origin, Payload, ToolError, arguments::Arguments};
use toolwire_tool::context::ToolContext;

/// A call under way.
pub(crate) struct HostCall<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) spec: &'a Arc<Spec>,
    pub(crate) context: &'a ToolContext,
}

/// How one attempt ended.
enum Attempt {
    Ended(Outcome),
    /// The slot was lost before the call was sent.
    Unsent,
    Lost {
        /// Of a write.
        late: Option<oneshot::Receiver<Outcome>>,
        has_passed_chunk: bool,
    },
}

impl HostCall<'_> {
    pub(crate) async fn carry_out(&self, arguments: Arguments) -> Result<Payload, ToolError> {
        let arguments = Value::Object(arguments).to_string();
        if arguments.len() > MAX_ARGUMENTS {
            let text =
                format!("The arguments are {} bytes, over the limit of {MAX_ARGUMENTS}.", arguments.len());
            return Err(ToolError::new(ErrorCode::InvalidArgument, text));
        }
        let until = self.context.deadline.awaited().min(clock::now() + self.spec.timeout());
        let mut is_repeat = false;
        loop {
            let lease = self.slot(until).await?;
            match self.attempt(lease, &arguments).await {
                Attempt::Unsent => {}
                Attempt::Ended(outcome) => return self.read(outcome).await,
                Attempt::Lost { late, .. } if self.spec.effect() == Effect::Write => {
                    return self.wait_for_late(late).await;
                }
                Attempt::Lost { has_passed_chunk, .. } => {
                    let is_over =
                        self.context.cancellation.is_cancelled() || clock::remaining(until) < RETRY_NEEDS;
                    if is_repeat || has_passed_chunk || is_over {
                        return Err(self.loss());
                    }
                    is_repeat = true;
                }
            }
        }
    }

    /// Takes an idle slot, or waits for one, and says so. After the given instant the caller has its answer, and a
    /// write of which it knows no end must not begin.
    async fn slot(&self, until: Instant) -> Result<Lease, ToolError> {
        if self.context.cancellation.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        if clock::now() >= until {
            return Err(self.unavailable("its time was over before the call was sent"));
        }
        let provider = &self.spec.provider;
        match self.pool.acquire(provider, &self.spec.catalogue, &self.context.user.id) {
            Acquired::Slot(lease) => Ok(lease),
            Acquired::Full => Err(self.unavailable("too many of your calls wait for it already")),
            Acquired::Superseded => Err(self.superseded()),
            Acquired::Waits(waiting) => {
                let (began, waits_for) = (clock::now(), self.waits_for());
                self.context.events.progress(None, waits_for);
                let until = until.checked_sub(WAIT_MARGIN).unwrap_or_else(clock::now);
                select! {
                    lease = timeout_at(until, waiting.slot()) => match lease {
                        Ok(Some(lease)) => Ok(lease),
                        Ok(None) => Err(self.superseded()),
                        Err(_) => Err(self.no_slot(clock::now() - began)),
                    },
                    () = self.context.cancellation.cancelled() => Err(ToolError::cancelled()),
                }
            }
        }
    }

    async fn attempt(&self, lease: Lease, arguments: &str) -> Attempt {
        let (start, incoming) = Start::new(self.spec, self.context, arguments);
        let Ok(handle) = lease.start(Box::new(start)) else { return Attempt::Unsent };
        let Incoming { mut events, mut end, mut late } = incoming;
        let mut running = Running::new(handle, self.context);
        let (mut throttle, mut has_passed_chunk) = (Throttle::default(), false);
        let attempt = loop {
            select! {
                // What came before the end is passed on before it.
                biased;
                Some(event) = events.recv() => match event {
                    CallEvent::Progress(fraction, message) => {
                        self.report(throttle.offer((fraction, message), clock::now()));
                    }
                    CallEvent::Chunk(data) => {
                        has_passed_chunk = true;
                        self.pass_on(data, &mut running).await;
                    }
                },
                end = &mut end => break match end {
                    Ok(CallEnd::Outcome(outcome)) => Attempt::Ended(outcome),
                    Ok(CallEnd::Unsent) => Attempt::Unsent,
                    // Without a word the task of the stream is gone: the call may have been sent.
                    Ok(CallEnd::Lost) | Err(_) => Attempt::Lost { late, has_passed_chunk },
                },
                // It overtook the loss of the slot.
                outcome = receive(&mut late) => break Attempt::Ended(outcome),
                () = self.context.cancellation.cancelled(), if running.may_cancel() => running.cancel(),
                () = wait_until(throttle.due()) => self.report(throttle.take(clock::now())),
            }
        };
        running.end();
        attempt
    }

    /// Gives the caller a chunk. However slowly it reads, its host is asked to stop.
    async fn pass_on(&self, chunk: Map<String, Value>, running: &mut Running<'_>) {
        let passing = self.context.events.chunk(chunk);
        pin!(passing);
        loop {
            select! {
                biased;
                () = &mut passing => return,
                () = self.context.cancellation.cancelled(), if running.may_cancel() => running.cancel(),
            }
        }
    }

    async fn wait_for_late(&self, late: Option<oneshot::Receiver<Outcome>>) -> Result<Payload, ToolError> {
        // Gone before the end of the slot was read: nothing can come late, and the call may have been sent.
        let Some(late) = late else { return Err(outcome::unknown_outcome(&self.spec.tool)) };
        let until = (clock::now() + LATE_WAIT).min(self.context.deadline.at());
        match timeout_at(until, late).await {
            Ok(Ok(outcome)) => self.read(outcome).await,
            Ok(Err(_)) | Err(_) => Err(outcome::unknown_outcome(&self.spec.tool)),
        }
    }

    async fn read(&self, outcome: Outcome) -> Result<Payload, ToolError> {
        outcome::read(outcome, self.spec.effect(), &self.spec.output).await
    }

    fn report(&self, progress: Option<(Option<f64>, String)>) {
        if let Some((fraction, message)) = progress {
            let fraction = fraction.filter(|it| (0.0..=1.0).contains(it));
            self.context.events.progress(fraction, outcome::cut(&message, MAX_PROGRESS));
        }
    }

    fn loss(&self) -> ToolError {
        let text = format!("The host that carried {} out was lost. Call again.", self.spec.tool);
        ToolError::new(ErrorCode::Unavailable, text).with_retry_after(RETRY_AFTER)
    }

    /// Nothing was sent: a call under the definition that is served now is another call.
    fn superseded(&self) -> ToolError {
        self.unavailable("a newer version of its tools is in service; call again")
    }

    fn has_host(&self) -> bool {
        self.pool.count(self.spec.provider.as_str()).0 > 0
    }

    fn waits_for(&self) -> String {
        let provider = &self.spec.provider;
        if self.has_host() {
            format!("Waiting for a free slot of `{provider}`")
        } else {
            format!("No host of `{provider}` is connected: waiting for one")
        }
    }

    /// The time of the call is over: its deadline, or the time-out of the tool, which is that of the wait too.
    fn no_slot(&self, waited: Duration) -> ToolError {
        let timeout = self.spec.timeout();
        let limit = if waited + 2 * WAIT_MARGIN < timeout {
            "before the deadline of the call".to_owned()
        } else {
            format!("within the time-out of {}", clock::exact_in_words(timeout))
        };
        if self.has_host() {
            return self.unavailable(&format!("none of its slots became free {limit}"));
        }
        let Spec { provider, tool, .. } = &**self.spec;
        retry_later(format!(
            "No host of `{provider}` is connected, and none came {limit}. Start the program that serves {tool}, and call \
             again."
        ))
    }

    fn unavailable(&self, why: &str) -> ToolError {
        retry_later(format!("No host of `{}` is free: {why}.", self.spec.provider))
    }
}

/// Nothing was sent, and a slot may be there soon.
fn retry_later(text: String) -> ToolError {
    ToolError::new(ErrorCode::Unavailable, text).with_retry_after(RETRY_AFTER).with_origin(Origin::Service)
}

/// What comes late of a write. Never, for a read and once its sender is gone.
async fn receive(late: &mut Option<oneshot::Receiver<Outcome>>) -> Outcome {
    if let Some(receiver) = late {
        if let Ok(outcome) = receiver.await {
            return outcome;
        }
        *late = None;
    }
    pending().await
}

/// Never, without an instant.
async fn wait_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests;
