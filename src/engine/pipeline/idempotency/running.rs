//! The work of calls with a `request_id`: joined or started, in a spawned task that records its outcome.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use opentelemetry::trace::FutureExt;
use tokio::{pin, select, time::sleep_until};

use super::{
    elsewhere::{Elsewhere, RemoteCall},
    errors,
    key_locks::KeyLocks,
    outcome::{code_of, is_final},
    records::Records,
    replay::{decode, replay},
};
use crate::pipeline::{
    Call, CallResult, InFlight, Inner,
    call_record::{self, about, digest_of, records_itself},
    confirm,
    in_flight::{Guard, Part},
    refusals::{full, unavailable},
};
use toolwire_base::clock;
use toolwire_contract::{ConfirmationCause, Refusal, Terminal, ToolError};
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

/// The result of resolving a `request_id`.
pub(super) enum Resolution<S> {
    /// The call is in flight in this process.
    UnderWay(Waiter<CallResult>),
    Ended(CallResult),
    /// A person must approve it first; nothing was begun.
    Asks(Box<Confirmation>),
    /// Another process owns the call. The service was not used and is returned.
    Elsewhere(RemoteCall, S),
}

/// The work of a call that has a record.
enum Work {
    New,
    /// In flight in this process.
    Joined(Waiter<CallResult>),
    Ended(CallResult),
    /// Begun at the given time, if it is known, and not in flight in this process.
    Unowned {
        since: Option<SystemTime>,
    },
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

    /// Joins the work of a call, or starts it. Must run in a spawned task: dropped between the record and the start, it
    /// would leave a call that is call_record as begun and never runs.
    pub(super) async fn find_or_start<S: Inner>(self, mut call: Call, inner: S) -> Resolution<S> {
        let key = call_record::key_of(&call);
        let cancellation = Cancellation::new();
        // A read ends with its last waiter, and waiters are registered themselves.
        let listed = call.writes().then(|| self.list(&call, cancellation.clone()));
        // Held until the work can be joined: another caller would find the record without the work.
        let _lock = self.key_locks.lock(&key).await;
        if call.context.cancellation.is_cancelled() {
            return Resolution::Ended(Ok(call.failed(ToolError::cancelled())));
        }
        let begun = if records_itself(&call) && call.cause.is_none() {
            // Its transaction writes the record and detects a repeat; here it can only join an equal call in flight.
            None
        } else {
            match self.open_record(&call, &key).await {
                Ok(Admission::Begun(begun)) => Some(begun),
                Ok(Admission::Asks(confirmation)) => return Resolution::Asks(confirmation),
                Ok(Admission::TooMany { crowding, own, until }) => {
                    return refuse(errors::too_many_confirmations(until, crowding, own));
                }
                Err(refusal) => return refuse(refusal),
            }
        };
        let joined = match begun.map(|begun| self.find(&call, &key, begun)) {
            None => self.work.join(&key, &call.context.cancellation),
            Some(Work::New) => None,
            Some(Work::Joined(waiter)) => Some(waiter),
            Some(Work::Ended(result)) => return Resolution::Ended(result),
            Some(Work::Unowned { since }) => {
                // Another process may own the call, and then decides its outcome.
                if let Some(since) = since
                    && let Some(remote) = self.elsewhere.find(&call, since, self.longest(&call)).await
                {
                    return Resolution::Elsewhere(remote, inner);
                }
                // The call has no known owner. A read can be repeated safely; a write cannot.
                if runs_once(&call) {
                    return Resolution::Ended(Ok(call.failed(self.unknown_outcome(since))));
                }
                None
            }
        };
        call.accept();
        Resolution::UnderWay(joined.unwrap_or_else(|| self.start(&call, cancellation, listed, inner)))
    }

    /// Opens the record of a call, with the entry in its task's timeline if it has a task.
    async fn open_record(&self, call: &Call, key: &Key) -> Result<Admission, Refusal> {
        match call_record::task_call(call) {
            None => Ok(self.begin(call, key).await),
            Some(task) => self.records.begin_of(call, &task).await,
        }
    }

    /// Finds the work of a call by its record, and joins it if it is in flight.
    fn find(&self, call: &Call, key: &Key, begun: Begun) -> Work {
        let since = match begun {
            Begun::New => return Work::New,
            Begun::Conflict => {
                let request_id = key.request_id.to_string();
                return Work::Ended(Err(Refusal::RequestIdReused { request_id }));
            }
            Begun::Full { until, bound } if runs_once(call) => return Work::Ended(Err(full(until, bound))),
            Begun::Unavailable(error) => {
                log_unavailable(call, &error);
                return Work::Ended(Err(unavailable()));
            }
            Begun::Ended(result) => match decode(call, *result) {
                Some(result) => return Work::Ended(Ok(replay(call, result))),
                None => None,
            },
            // Only `begin_confirmed` begins a call that waits for a confirmation.
            Begun::Asked => return Work::Ended(Err(call.internal())),
            // A repeat of a read without a record reads again.
            Begun::Full { .. } => None,
            Begun::Unfinished { begun } => Some(begun),
        };
        let joined = self.work.join(key, &call.context.cancellation);
        joined.map_or(Work::Unowned { since }, Work::Joined)
    }

    /// Records the begin of a call; a call that a person must approve consumes its confirmation. A confirmation that
    /// the first call asked for stays required for a repeat that does not ask for it.
    async fn begin(&self, call: &Call, key: &Key) -> Admission {
        let Records { calls, confirmations, .. } = &self.records;
        let effect = call_record::effect_of(call);
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
    fn longest(&self, call: &Call) -> Duration {
        if runs_once(call) { self.cap } else { call.tool().definition.timeout }
    }

    /// Registers work before it is call_record: a drain waits for registered work.
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
        let (key, work) = (call_record::key_of(call), detach(call, cancellation.clone()));
        let unattended_policy =
            if work.writes() { UnattendedPolicy::Continue } else { UnattendedPolicy::Cancel };
        let caller = &call.context.cancellation;
        let (leader, waiter) = self.work.lead(key.clone(), cancellation, unattended_policy, caller);
        let (records, key_locks) = (self.records.clone(), self.key_locks.clone());
        let task = async move {
            let result = carry_out(inner.call(work.clone()), &work).await;
            let _lock = key_locks.lock(&key).await;
            if leader.is_current() {
                match call_record::task_call(&work) {
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

/// Whether a call runs at most once. An approved call does, even a read: without a record it does not run.
fn runs_once(call: &Call) -> bool {
    call.writes() || call.cause.is_some()
}

fn log_unavailable(call: &Call, error: &StoreError) {
    let call_id = call.context.call_id;
    tracing::error!(%error, %call_id, tool_name = %call.tool().definition.name, "a call cannot be call_record");
}

fn refuse<S>(refusal: Refusal) -> Resolution<S> {
    Resolution::Ended(Err(refusal))
}

/// The call as the spawned task runs it: with its own cancellation, and for a write with the cap as its deadline.
fn detach(call: &Call, cancellation: Cancellation) -> Call {
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
    let call_record = match result {
        Ok(Terminal::Result(result)) if is_final(call, result) => store.end(key, result).await,
        Ok(Terminal::ConfirmationRequired(_)) => store.suspend(key).await,
        end => store.forget(key, code_of(end)).await,
    };
    if let Err(error) = call_record {
        let call_id = call.context.call_id;
        tracing::error!(%error, %call_id, tool_name = %key.tool, "the end of a call is not call_record");
    }
}
