//! The work of calls with a `request_id`: found or started, in a task of its own, with the record of its end.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use opentelemetry::trace::FutureExt;
use tokio::{pin, select, time::sleep_until};
use tower::Service;

use super::{
    elsewhere::{Carried, Elsewhere},
    errors,
    key_locks::KeyLocks,
    records::Records,
    stored::{readable, stored},
};
use crate::{
    clock,
    context::{Cancellation, StopCause},
    contract::{ConfirmationCause, ErrorCode, Refusal, Terminal, ToolError, ToolResult, status},
    pipeline::{
        Call, CallResult, InFlight, confirm,
        in_flight::{Guard, Part},
        recorded::{self, about, digest_of, records_itself},
    },
    single_flight::{SingleFlight, UnattendedPolicy, Waiter},
    store::{
        StoreError,
        confirmations::{Confirmation, Opened},
        idempotency::{Beginning, Begun, Idempotency, Key},
    },
};

/// Everything under way that has a `request_id`. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct Running {
    records: Records,
    work: SingleFlight<Key, CallResult>,
    /// What another process carries out and is waited for here.
    pub(super) elsewhere: Elsewhere,
    key_locks: KeyLocks,
    in_flight: InFlight,
    /// The longest that a call may run.
    cap: Duration,
}

/// What a call with a `request_id` finds.
pub(super) enum Found<S> {
    /// It is being carried out.
    UnderWay(Waiter<CallResult>),
    /// Its end.
    Ended(CallResult),
    /// A person must approve it first; nothing was begun.
    Asks(Box<Confirmation>),
    /// Another process carries it out; with the service, which was not used.
    Elsewhere(Carried, S),
}

impl Running {
    /// Nothing yet. Remembers in the given store, and lists what may outlive its callers.
    pub(super) fn new(records: Records, in_flight: InFlight, cap: Duration) -> Self {
        let elsewhere = Elsewhere::new(Arc::clone(&records.calls));
        Self {
            records,
            work: SingleFlight::default(),
            elsewhere,
            key_locks: KeyLocks::default(),
            in_flight,
            cap,
        }
    }

    /// Finds the work of a call, or starts it. Runs in a task of its own: a caller who left between the record and the
    /// start would leave a call that is recorded as begun and never was. Shared work belongs to a call that was
    /// accepted before.
    pub(super) async fn find_or_start<S>(self, mut call: Call, inner: S) -> Found<S>
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        let key = recorded::key_of(&call);
        let cancellation = Cancellation::new();
        // A read ends by its callers, who are listed themselves: others may wait for it.
        let listed = call.writes().then(|| self.list(&call, cancellation.clone()));
        // Until the work can be joined: another caller would find its record and no work.
        let _lock = self.key_locks.lock(&key).await;
        if call.context.cancellation.is_cancelled() {
            return Found::Ended(Ok(call.failed(ToolError::cancelled())));
        }
        if records_itself(&call) && call.cause.is_none() {
            call.accept();
            let joined = self.work.join(&key, &call.context.cancellation);
            return Found::UnderWay(joined.unwrap_or_else(|| self.start(&call, cancellation, listed, inner)));
        }
        let opened = match recorded::task_call(&call) {
            None => self.begin(&call, &key).await,
            Some(task) => match self.records.begin_of(&call, &task).await {
                Ok(opened) => opened,
                Err(refusal) => return refused(refusal),
            },
        };
        let begun = match opened {
            Opened::Begun(begun) => begun,
            Opened::Asks(confirmation) => return Found::Asks(confirmation),
            Opened::TooMany { crowding, own, until } => {
                return refused(errors::too_many_confirmations(until, crowding, own));
            }
        };
        // What a person approved is carried out once, be it a read: without a record it is not carried out at all.
        let only_once = call.writes() || call.cause.is_some();
        let is_new = matches!(begun, Begun::New);
        let unfinished_since = if let Begun::Unfinished { begun } = begun { Some(begun) } else { None };
        let joined = match begun {
            Begun::Conflict => {
                return refused(Refusal::RequestIdReused { request_id: key.request_id.to_string() });
            }
            Begun::Full { until, bound } if only_once => return refused(errors::full(until, bound)),
            Begun::Unavailable(error) => {
                log_unavailable(&call, &error);
                return refused(errors::unavailable());
            }
            Begun::Ended(result) => match readable(&call, *result) {
                Some(result) => return Found::Ended(Ok(stored(&call, result))),
                None => self.work.join(&key, &call.context.cancellation),
            },
            // What waits for a person is begun by `begin_confirmed` only.
            Begun::Asked => return refused(call.internal()),
            // A read without a record is read again by whoever repeats it.
            Begun::Full { .. } | Begun::Unfinished { .. } => self.work.join(&key, &call.context.cancellation),
            Begun::New => None,
        };
        if joined.is_none()
            && let Some(begun) = unfinished_since
            && let Some(carried) = self.elsewhere.find(&call, begun, self.longest(&call, only_once)).await
        {
            return Found::Elsewhere(carried, inner);
        }
        // Nobody is known to carry it out. A read is harmless to repeat; a write is not.
        if joined.is_none() && !is_new && only_once {
            return Found::Ended(Ok(call.failed(self.unknown_outcome(unfinished_since))));
        }
        call.accept();
        Found::UnderWay(joined.unwrap_or_else(|| self.start(&call, cancellation, listed, inner)))
    }

    /// Records the beginning: of a call that a person must approve, by using its confirmation. One that was asked for
    /// stays needed although a repeat does not ask for it.
    async fn begin(&self, call: &Call, key: &Key) -> Opened {
        let Records { calls, confirmations, .. } = &self.records;
        let effect = recorded::effect_of(call);
        let (about, now) = (about(call), clock::wall());
        let begins = Beginning { key, effect, digest: digest_of(call), about: &about };
        let mut cause = call.cause;
        if cause.is_none() {
            match calls.begin(begins, now).await {
                Begun::Asked => cause = Some(ConfirmationCause::Caller),
                begun => return Opened::Begun(begun),
            }
        }
        let asked = confirm::asked(call, cause.unwrap_or(ConfirmationCause::Caller));
        let until = self.records.decide_until(call, now);
        confirmations.begin_confirmed(begins, &asked, until, now).await
    }

    /// Of a write that no process is known to carry out. Until the cap one may all the same, such as that of an earlier
    /// program.
    fn unknown_outcome(&self, unfinished_since: Option<SystemTime>) -> ToolError {
        match unfinished_since {
            Some(since) if clock::wall() < since + self.cap => errors::outcome_elsewhere(),
            _ => errors::outcome_lost(),
        }
    }

    /// How long a call goes on at most, in whichever process: a write until the cap, a read until its time-out.
    fn longest(&self, call: &Call, only_once: bool) -> Duration {
        if only_once { self.cap } else { call.tool().definition.timeout }
    }

    /// Lists work before it is recorded: who ends the server waits for what is listed.
    fn list(&self, call: &Call, cancellation: Cancellation) -> Guard {
        self.in_flight.enter(call, cancellation, Part::Work)
    }

    /// Starts the work in a task of its own, within the trace of this one.
    fn start<S>(
        &self,
        call: &Call,
        cancellation: Cancellation,
        listed: Option<Guard>,
        mut inner: S,
    ) -> Waiter<CallResult>
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        let (key, work) = (recorded::key_of(call), detached(call, cancellation.clone()));
        let unattended_policy =
            if work.writes() { UnattendedPolicy::Continue } else { UnattendedPolicy::Cancel };
        let caller = &call.context.cancellation;
        let (leader, waiter) = self.work.lead(key.clone(), cancellation, unattended_policy, caller);
        let (records, key_locks) = (self.records.clone(), self.key_locks.clone());
        let task = async move {
            let result = carry_out(inner.call(work.clone()), &work).await;
            let _lock = key_locks.lock(&key).await;
            if leader.is_current() {
                match recorded::task_call(&work) {
                    Some(task) => records.end_of(&work, &task, &result).await,
                    None if records_itself(&work) => {}
                    None => keep(&*records.of(&work), &key, &work, &result).await,
                }
            }
            drop(listed);
            leader.finish(result);
        };
        tokio::spawn(task.with_current_context());
        waiter
    }
}

fn log_unavailable(call: &Call, error: &StoreError) {
    let call_id = call.context.call_id;
    tracing::error!(%error, %call_id, tool_name = %call.tool().definition.name, "a call cannot be recorded");
}

fn refused<S>(refusal: Refusal) -> Found<S> {
    Found::Ended(Err(refusal))
}

/// The call as its own task carries it out.
fn detached(call: &Call, cancellation: Cancellation) -> Call {
    let mut work = call.clone();
    work.context.cancellation = cancellation;
    if call.writes() {
        work.context.deadline = call.context.deadline.of_detached_write();
    }
    work
}

/// Carries the work out: a write until the cap, a read until nobody waits for it.
async fn carry_out(work: impl Future<Output = CallResult>, call: &Call) -> CallResult {
    let cancellation = &call.context.cancellation;
    pin!(work);
    select! {
        biased;
        () = cancellation.cancelled(), if !call.writes() => Ok(call.failed(ToolError::cancelled())),
        () = sleep_until(call.context.deadline.at()), if call.writes() => {
            cancellation.cancel(StopCause::Deadline);
            Ok(call.failed(errors::outcome_lost()))
        }
        result = &mut work => result,
    }
}

/// Keeps the outcome, unless nothing was done and the same call may well succeed later. Where that fails, those who
/// wait still learn the outcome; a repeat meets a call that seems unfinished.
async fn keep(store: &dyn Idempotency, key: &Key, call: &Call, result: &CallResult) {
    let recorded = match result {
        Ok(Terminal::Result(result)) if is_final(call, result) => store.end(key, result).await,
        Ok(Terminal::ConfirmationRequired(_)) => store.suspend(key).await,
        end => store.forget(key, code_of(end)).await,
    };
    if let Err(error) = recorded {
        let call_id = call.context.call_id;
        tracing::error!(%error, %call_id, tool_name = %key.tool, "the end of a call is not recorded");
    }
}

/// How a call ended that did nothing.
pub(super) fn code_of(end: &CallResult) -> &'static str {
    match end {
        Ok(Terminal::Result(result)) => result.outcome.as_ref().err().map_or("OK", |error| error.code.name()),
        Ok(Terminal::ConfirmationRequired(_)) => "CONFIRMATION_REQUIRED",
        Err(refusal) => status::reason_of(refusal),
    }
}

pub(super) fn is_final(call: &Call, result: &ToolResult) -> bool {
    let Err(error) = &result.outcome else { return true };
    match error.code {
        ErrorCode::RateLimited | ErrorCode::Unavailable | ErrorCode::Cancelled => false,
        // A read does nothing, so whatever may succeed later is tried again.
        _ => call.writes() || !error.retryable,
    }
}
