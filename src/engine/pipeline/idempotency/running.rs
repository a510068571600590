//! The work of calls with a `request_id`: joined or started, in a spawned task that records its outcome.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use opentelemetry::trace::FutureExt;
use tokio::{pin, select, time::sleep_until};

use super::{
    elsewhere::{Carried, Elsewhere},
    errors,
    key_locks::KeyLocks,
    records::Records,
    stored::{readable, stored},
};
use crate::pipeline::{
    Call, CallResult, InFlight, Inner, confirm,
    in_flight::{Guard, Part},
    recorded::{self, about, digest_of, records_itself},
    refusals::{full, unavailable},
};
use toolwire_base::clock;
use toolwire_contract::{ConfirmationCause, ErrorCode, Refusal, Terminal, ToolError, ToolResult, status};
use toolwire_store::{
    StoreError,
    confirmations::{Admission, Confirmation},
    idempotency::{Beginning, Begun, Idempotency, Key},
};
use toolwire_tool::{
    context::{Cancellation, StopCause},
    single_flight::{SingleFlight, UnattendedPolicy, Waiter},
};

/// The calls in flight that have a `request_id`. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct Running {
    records: Records,
    work: SingleFlight<Key, CallResult>,
    /// The calls of other processes that callers here wait for.
    pub(super) elsewhere: Elsewhere,
    key_locks: KeyLocks,
    in_flight: InFlight,
    /// The longest that a call may run.
    cap: Duration,
}

/// What a `request_id` resolves to.
pub(super) enum Found<S> {
    /// The call is in flight in this process.
    UnderWay(Waiter<CallResult>),
    Ended(CallResult),
    /// A person must approve it first; nothing was begun.
    Asks(Box<Confirmation>),
    /// Another process owns the call. The service was not used and is returned.
    Elsewhere(Carried, S),
}

impl Running {
    /// No calls yet. Writes are registered in `in_flight`, since they may outlive their callers.
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

    /// Joins the work of a call, or starts it. Must run in a spawned task: dropped between the record and the start it
    /// would leave a call that is recorded as begun and never runs.
    pub(super) async fn find_or_start<S: Inner>(self, mut call: Call, inner: S) -> Found<S> {
        let key = recorded::key_of(&call);
        let cancellation = Cancellation::new();
        // A read ends with its last waiter, and waiters are registered themselves.
        let listed = call.writes().then(|| self.list(&call, cancellation.clone()));
        // Held until the work can be joined: another caller would find the record without the work.
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
            Admission::Begun(begun) => begun,
            Admission::Asks(confirmation) => return Found::Asks(confirmation),
            Admission::TooMany { crowding, own, until } => {
                return refused(errors::too_many_confirmations(until, crowding, own));
            }
        };
        // An approved call runs once, even a read: without a record it does not run.
        let only_once = call.writes() || call.cause.is_some();
        let is_new = matches!(begun, Begun::New);
        let unfinished_since = if let Begun::Unfinished { begun } = begun { Some(begun) } else { None };
        let joined = match begun {
            Begun::Conflict => {
                return refused(Refusal::RequestIdReused { request_id: key.request_id.to_string() });
            }
            Begun::Full { until, bound } if only_once => return refused(full(until, bound)),
            Begun::Unavailable(error) => {
                log_unavailable(&call, &error);
                return refused(unavailable());
            }
            Begun::Ended(result) => match readable(&call, *result) {
                Some(result) => return Found::Ended(Ok(stored(&call, result))),
                None => self.work.join(&key, &call.context.cancellation),
            },
            // Only `begin_confirmed` begins a call that waits for a confirmation.
            Begun::Asked => return refused(call.internal()),
            // A repeat of a read without a record reads again.
            Begun::Full { .. } | Begun::Unfinished { .. } => self.work.join(&key, &call.context.cancellation),
            Begun::New => None,
        };
        if joined.is_none()
            && let Some(begun) = unfinished_since
            && let Some(carried) = self.elsewhere.find(&call, begun, self.longest(&call, only_once)).await
        {
            return Found::Elsewhere(carried, inner);
        }
        // The call has no known owner. A read can be repeated safely; a write cannot.
        if joined.is_none() && !is_new && only_once {
            return Found::Ended(Ok(call.failed(self.unknown_outcome(unfinished_since))));
        }
        call.accept();
        Found::UnderWay(joined.unwrap_or_else(|| self.start(&call, cancellation, listed, inner)))
    }

    /// Records the begin of a call; a call that a person must approve consumes its confirmation. A confirmation that
    /// the first call asked for stays required for a repeat that does not ask for it.
    async fn begin(&self, call: &Call, key: &Key) -> Admission {
        let Records { calls, confirmations, .. } = &self.records;
        let effect = recorded::effect_of(call);
        let (about, now) = (about(call), clock::wall());
        let begins = Beginning { key, effect, digest: digest_of(call), about: &about };
        let mut cause = call.cause;
        if cause.is_none() {
            match calls.begin(begins, now).await {
                Begun::Asked => cause = Some(ConfirmationCause::Caller),
                begun => return Admission::Begun(begun),
            }
        }
        let asked = confirm::asked(call, cause.unwrap_or(ConfirmationCause::Caller));
        let until = self.records.decide_until(call, now);
        confirmations.begin_confirmed(begins, &asked, until, now).await
    }

    /// The error of a write without a known owner. Until the cap it may still have one, such as a process of an older
    /// version, which records no owner.
    fn unknown_outcome(&self, unfinished_since: Option<SystemTime>) -> ToolError {
        match unfinished_since {
            Some(since) if clock::wall() < since + self.cap => errors::outcome_elsewhere(),
            _ => errors::outcome_lost(),
        }
    }

    /// The longest that a call runs, in any process: the cap for a write, its time-out for a read.
    fn longest(&self, call: &Call, only_once: bool) -> Duration {
        if only_once { self.cap } else { call.tool().definition.timeout }
    }

    /// Registers work before it is recorded: a drain waits for registered work.
    fn list(&self, call: &Call, cancellation: Cancellation) -> Guard {
        self.in_flight.enter(call, cancellation, Part::Work)
    }

    /// Starts the work in a spawned task, in the current trace.
    fn start(
        &self,
        call: &Call,
        cancellation: Cancellation,
        listed: Option<Guard>,
        mut inner: impl Inner,
    ) -> Waiter<CallResult> {
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

/// The call as the spawned task runs it: with its own cancellation, and for a write with the cap as its deadline.
fn detached(call: &Call, cancellation: Cancellation) -> Call {
    let mut work = call.clone();
    work.context.cancellation = cancellation;
    if call.writes() {
        work.context.deadline = call.context.deadline.of_detached_write();
    }
    work
}

/// Runs the work: a write until the cap, a read until its last waiter has left.
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

/// Stores the outcome, unless nothing was done and a retry may succeed. If that fails, waiters still get the outcome,
/// and a repeat meets an unfinished call.
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

/// The code of an outcome, for the record of a call that had no effect.
pub(super) fn code_of(end: &CallResult) -> &'static str {
    match end {
        Ok(Terminal::Result(result)) => {
            result.outcome.as_ref().err().map_or("OK", |error| error.code.into_str())
        }
        Ok(Terminal::ConfirmationRequired(_)) => "CONFIRMATION_REQUIRED",
        Err(refusal) => status::reason_of(refusal),
    }
}

pub(super) fn is_final(call: &Call, result: &ToolResult) -> bool {
    let Err(error) = &result.outcome else { return true };
    match error.code {
        ErrorCode::RateLimited | ErrorCode::Unavailable | ErrorCode::Cancelled => false,
        // A read has no effect, so retryable errors are not stored.
        _ => call.writes() || !error.retryable,
    }
}
