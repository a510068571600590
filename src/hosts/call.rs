//! One attempt at a call of a host's tool, on a slot. A write whose slot is lost waits up to 10 s for `Late`, which is
//! its outcome then; all other consequences of a loss are in `remote`.

mod running_call;

use std::{future::pending, time::Duration};

use serde_json::{Map, Value};
use tokio::{pin, select, sync::oneshot, time::timeout_at};

use self::running_call::RunningCall;
use crate::{
    bounds::LATE_WAIT,
    outcome,
    pool::{Acquired, Handle, Lease, Pool},
    start::{CallEnd, CallEvent, Incoming, Start},
    wire::outcome::Outcome,
};
use toolwire_base::clock;
use toolwire_contract::ToolError;
use toolwire_providers::{
    Attempt, Call, Effect, RemoteTool, Spec, Throttle,
    bounds::WAIT_MARGIN,
    ids::{CatalogueId, ProviderName},
};

/// A tool as the hosts of its provider know it.
#[derive(Clone, Debug)]
pub struct HostTool {
    pub pool: Pool,
    /// Only slots of this one know the tool by its definition.
    pub catalogue: CatalogueId,
    /// Of the definition.
    pub digest: String,
    /// Whether a cached result of one user answers others.
    pub is_shared: bool,
}

impl RemoteTool for HostTool {
    const KIND: &'static str = "host";

    async fn attempt(&self, call: &Call<'_>) -> Result<Attempt, ToolError> {
        loop {
            let lease = self.slot(call).await?;
            if let Some(attempt) = self.attempt_on(lease, call).await {
                return Ok(attempt);
            }
        }
    }
}

impl HostTool {
    /// Takes a slot of the catalogue, or of the one that has replaced it and has the tool by the same definition.
    async fn slot(&self, call: &Call<'_>) -> Result<Lease, ToolError> {
        let Spec { provider, tool, .. } = &**call.spec;
        let mut successor: Option<CatalogueId> = None;
        loop {
            let catalogue = successor.as_ref().unwrap_or(&self.catalogue);
            if let Some(lease) = self.slot_of(catalogue, call).await? {
                return Ok(lease);
            }
            let equal = self.pool.find_equal(provider, (tool, &self.digest));
            let next = equal.filter(|equal| equal != catalogue);
            successor = Some(next.ok_or_else(|| superseded(call))?);
        }
    }

    /// Takes an idle slot, or waits for one, and reports that. `None` once another catalogue has replaced this one.
    async fn slot_of(&self, catalogue: &CatalogueId, call: &Call<'_>) -> Result<Option<Lease>, ToolError> {
        call.check_time()?;
        let provider = &call.spec.provider;
        match self.pool.acquire(provider, catalogue, &call.context.user.id) {
            Acquired::Slot(lease) => Ok(Some(lease)),
            Acquired::Full => Err(no_host(call, "too many of your calls wait for it already")),
            Acquired::Superseded => Ok(None),
            Acquired::Waits(waiting) => {
                let began = clock::now();
                call.report(None, &self.waits_for(provider));
                match call.unless_cancelled(timeout_at(call.waits_until(), waiting.slot())).await? {
                    Ok(lease) => Ok(lease),
                    Err(_) => Err(self.no_slot(call, clock::now() - began)),
                }
            }
        }
    }

    fn has_host(&self, provider: &ProviderName) -> bool {
        self.pool.count(provider.as_str()).0 > 0
    }

    fn waits_for(&self, provider: &ProviderName) -> String {
        if self.has_host(provider) {
            format!("Waiting for a free slot of `{provider}`")
        } else {
            format!("No host of `{provider}` is connected: waiting for one")
        }
    }

    /// The time of the call is over: its deadline, or the time-out of the tool, which is that of the wait too.
    fn no_slot(&self, call: &Call<'_>, waited: Duration) -> ToolError {
        let Spec { provider, tool, timeout, .. } = &**call.spec;
        let limit = if waited + 2 * WAIT_MARGIN < *timeout {
            "before the deadline of the call".to_owned()
        } else {
            format!("within the time-out of {}", clock::exact_in_words(*timeout))
        };
        if self.has_host(provider) {
            return no_host(call, &format!("none of its slots became free {limit}"));
        }
        call.unavailable(format!(
            "No host of `{provider}` is connected, and none came {limit}. Start the program that serves {tool}, and call \
             again."
        ))
    }

    /// `None` if the slot was lost before the call was sent: another slot may take it.
    async fn attempt_on(&self, lease: Lease, call: &Call<'_>) -> Option<Attempt> {
        call.context.note_request();
        let (start, mut incoming) = Start::new(call, &self.digest, self.is_shared);
        let handle = lease.start(Box::new(start)).ok()?;
        call.context.note_instance(handle.instance.shared());
        let mut has_passed_chunk = false;
        let outcome = match follow(call, handle, &mut incoming, &mut has_passed_chunk).await {
            CallEnd::Unsent => return None,
            CallEnd::Outcome(outcome) => Some(outcome),
            CallEnd::Lost if call.spec.effect == Effect::Write => wait_for_late(call, incoming.late).await,
            CallEnd::Lost => None,
        };
        Some(match outcome {
            Some(outcome) => {
                Attempt::Ended(outcome::read(outcome, call.spec.effect, &call.spec.output).await)
            }
            None => Attempt::Lost { has_passed_chunk },
        })
    }
}

/// Passes on what a call reports, and a request to stop, until it ends on its slot.
async fn follow(
    call: &Call<'_>,
    handle: Handle,
    Incoming { events, end, late }: &mut Incoming,
    has_passed_chunk: &mut bool,
) -> CallEnd {
    let cancellation = &call.context.cancellation;
    let mut running = RunningCall::new(handle, call.context);
    let mut throttle = Throttle::default();
    let end = loop {
        select! {
            // What came before the end is passed on before it.
            biased;
            Some(event) = events.recv() => match event {
                CallEvent::Progress(fraction, message) => {
                    report(call, throttle.offer((fraction, message), clock::now()));
                }
                CallEvent::Chunk(data) => {
                    *has_passed_chunk = true;
                    pass_on(call, data, &mut running).await;
                }
            },
            // Without a word the task of the stream is gone: the call may have been sent.
            end = &mut *end => break end.unwrap_or(CallEnd::Lost),
            // It overtook the loss of the slot.
            outcome = receive(late) => break CallEnd::Outcome(outcome),
            () = cancellation.cancelled(), if running.may_cancel() => running.cancel(),
            held = throttle.next() => report(call, held),
        }
    };
    running.end();
    end
}

/// Gives the caller a chunk. However slowly it reads, its host is asked to stop.
async fn pass_on(call: &Call<'_>, chunk: Map<String, Value>, running: &mut RunningCall<'_>) {
    let passing = call.context.events.chunk(chunk);
    pin!(passing);
    loop {
        select! {
            biased;
            () = &mut passing => return,
            () = call.context.cancellation.cancelled(), if running.may_cancel() => running.cancel(),
        }
    }
}

/// The outcome of a write whose slot was lost, should its host send it in time.
async fn wait_for_late(call: &Call<'_>, late: Option<oneshot::Receiver<Outcome>>) -> Option<Outcome> {
    let until = (clock::now() + LATE_WAIT).min(call.context.deadline.at());
    // Gone before the end of the slot was read: nothing can come late, and the call may have been sent.
    timeout_at(until, late?).await.ok()?.ok()
}

fn report(call: &Call<'_>, progress: Option<(Option<f64>, String)>) {
    if let Some((fraction, message)) = progress {
        call.report(fraction, &message);
    }
}

/// Nothing was sent: a call under the definition that is served now is another call.
fn superseded(call: &Call<'_>) -> ToolError {
    no_host(call, "another version of its tools is in service; call again")
}

fn no_host(call: &Call<'_>, why: &str) -> ToolError {
    call.unavailable(format!("No host of `{}` is free: {why}.", call.spec.provider))
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

#[cfg(test)]
mod tests;
