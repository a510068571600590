//! Calls by idempotency key: the work of a key is joined if it is in flight, and otherwise started in a spawned task.
//! Not here: what that task does (`work`).

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use opentelemetry::trace::FutureExt;

use super::{
    errors,
    key_locks::KeyLocks,
    records::Records,
    remote_calls::{RemoteCall, RemoteCalls},
    replay::{decode, replay},
    work::{Work, detach},
};
use crate::pipeline::{
    Call, CallResult, InFlight, Inner,
    call_record::{self, about, digest_of, records_itself},
    confirm,
    in_flight::{Guard, Part},
    refusals::{full, unavailable},
};
use toolwire_base::offload;
use toolwire_contract::{ConfirmationCause, ConsoleLinks, Refusal, ToolError};
use toolwire_db::StoreError;
use toolwire_state::{
    confirmations::{Admission, Confirmation},
    idempotency::{Beginning, Begun, Key},
};
use toolwire_tool::{
    context::Cancellation,
    single_flight::{SingleFlight, UnattendedPolicy, Waiter},
};

/// The calls in flight that have an idempotency key. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct KeyedCalls {
    records: Records,
    work: SingleFlight<Key, CallResult>,
    /// The calls of other processes that callers here wait for.
    pub(super) remote_calls: RemoteCalls,
    key_locks: KeyLocks,
    in_flight: InFlight,
    /// The longest that a call may run.
    cap: Duration,
}

/// The result of resolving a `request_id`.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every call has ended, and its result is moved and not boxed"
)]
pub(super) enum Resolution<S> {
    /// The call is in flight in this process.
    InFlight(Waiter<CallResult>),
    Ended(CallResult),
    /// A person must approve it first; nothing was begun.
    AwaitsConfirmation(Box<Confirmation>),
    /// Another process owns the call. The service was not used and is returned.
    Remote(RemoteCall, S),
}

/// The state of a key's work, as a call finds it under the key's lock.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every call has ended, and its result is moved and not boxed"
)]
enum WorkState {
    /// There is none: the call starts it.
    New,
    /// In flight in this process, and joined.
    Joined(Waiter<CallResult>),
    Ended(CallResult),
    /// A person must approve it first.
    AwaitsConfirmation(Box<Confirmation>),
    /// Begun at the given time, if it is known, and not in flight in this process.
    Unowned {
        since: Option<SystemTime>,
    },
}

impl KeyedCalls {
    /// No calls yet. Writes are registered in `in_flight`, since they may outlive their callers.
    pub(super) fn new(records: Records, in_flight: InFlight, cap: Duration) -> Self {
        let remote_calls = RemoteCalls::new(Arc::clone(&records.calls));
        Self {
            records,
            work: SingleFlight::default(),
            remote_calls,
            key_locks: KeyLocks::default(),
            in_flight,
            cap,
        }
    }

    /// Where persons decide on confirmations.
    pub(super) fn console(&self) -> &ConsoleLinks {
        &self.records.console
    }

    /// Joins the work of a call, or starts it. Must run in a spawned task: dropped between the record and the start, it
    /// would leave a call that is recorded as begun and never runs.
    pub(super) async fn join_or_start<S: Inner>(self, mut call: Box<Call>, inner: S) -> Resolution<S> {
        let key = call_record::key_of(&call);
        let cancellation = Cancellation::new();
        // Before the record exists, since a drain waits for registered work only. A read ends with its last waiter, and
        // waiters are registered themselves.
        let guard = call.writes().then(|| self.in_flight.enter(&call, cancellation.clone(), Part::Work));
        // Held until the work can be joined: another caller would find the record without the work.
        let _lock = self.key_locks.lock(&key).await;
        if call.context.cancellation.is_cancelled() {
            return Resolution::Ended(Ok(call.failed(ToolError::cancelled())));
        }
        let joined = match self.open(&call, &key).await {
            WorkState::New => None,
            WorkState::Joined(waiter) => Some(waiter),
            WorkState::Ended(result) => return Resolution::Ended(result),
            WorkState::AwaitsConfirmation(confirmation) => {
                return Resolution::AwaitsConfirmation(confirmation);
            }
            WorkState::Unowned { since } => {
                // Another process may own the call, and then decides its outcome.
                if let Some(since) = since
                    && let Some(remote) = self.remote_calls.find(&call, since, self.longest(&call)).await
                {
                    return Resolution::Remote(remote, inner);
                }
                // The call has no known owner. A read can be repeated safely; a write cannot.
                if call.runs_once() {
                    return Resolution::Ended(Ok(call.failed(self.unknown_outcome(since))));
                }
                None
            }
        };
        call.accept();
        Resolution::InFlight(joined.unwrap_or_else(|| self.start(&call, cancellation, guard, inner)))
    }

    /// Opens the record of a call, and finds its work. Runs under the key's lock.
    async fn open(&self, call: &Call, key: &Key) -> WorkState {
        if records_itself(call) && call.cause.is_none() {
            // Its transaction writes the record and detects a repeat; here it can only join a call in flight of its
            // key.
            let joined = self.work.join(key, &call.context.cancellation);
            return joined.map_or(WorkState::New, WorkState::Joined);
        }
        match self.open_record(call, key).await {
            Ok(Admission::Begun(begun)) => self.find(call, key, begun),
            Ok(Admission::Asks(confirmation)) => WorkState::AwaitsConfirmation(confirmation),
            Ok(Admission::TooMany { crowding, own, until }) => {
                WorkState::Ended(Err(errors::too_many_confirmations(until, crowding, own)))
            }
            Err(refusal) => WorkState::Ended(Err(refusal)),
        }
    }

    /// Opens the record, with the entry in the task's timeline if the call has a task.
    async fn open_record(&self, call: &Call, key: &Key) -> Result<Admission, Refusal> {
        match call_record::task_call(call) {
            None => Ok(self.begin(call, key).await),
            Some(task) => self.records.begin_task_call(call, &task).await,
        }
    }

    /// Finds the work of a call by its record, and joins it if it is in flight.
    fn find(&self, call: &Call, key: &Key, begun: Begun) -> WorkState {
        let since = match begun {
            Begun::New => return WorkState::New,
            Begun::Conflict => {
                let request_id = key.request_id.to_string();
                return WorkState::Ended(Err(Refusal::RequestIdReused { request_id }));
            }
            Begun::Full { until, bound } if call.runs_once() => {
                return WorkState::Ended(Err(full(until, bound)));
            }
            Begun::Unavailable(error) => {
                log_unavailable(call, &error);
                return WorkState::Ended(Err(unavailable()));
            }
            Begun::Ended(result) => match decode(call, *result) {
                Some(result) => return WorkState::Ended(Ok(replay(call, result))),
                None => None,
            },
            // Only `begin_confirmed` begins a call that waits for a confirmation.
            Begun::Asked => return WorkState::Ended(Err(call.internal())),
            // A repeat of a read without a record reads again.
            Begun::Full { .. } => None,
            Begun::Unfinished { begun } => Some(begun),
        };
        let joined = self.work.join(key, &call.context.cancellation);
        joined.map_or(WorkState::Unowned { since }, WorkState::Joined)
    }

    /// Records the beginning of a call; a call that a person must approve consumes its confirmation. A confirmation
    /// that the first call asked for stays required for a repeat that does not ask for it.
    async fn begin(&self, call: &Call, key: &Key) -> Admission {
        let Records { calls, confirmations, .. } = &self.records;
        let effect = call_record::effect_of(call);
        let about = about(call);
        let beginning = Beginning { key, effect, digest: digest_of(call), about: &about };
        let mut cause = call.cause;
        if cause.is_none() {
            match calls.begin(beginning).await {
                Begun::Asked => cause = Some(ConfirmationCause::Caller),
                begun => return Admission::Begun(begun),
            }
        }
        let request = confirm::request(call, cause.unwrap_or(ConfirmationCause::Caller));
        let within = self.records.decide_within(call);
        confirmations.begin_confirmed(beginning, &request, within).await
    }

    /// The error of a write without a known owner. Until the cap it may still have one, such as a process of an older
    /// version, which records no owner.
    fn unknown_outcome(&self, since: Option<SystemTime>) -> ToolError {
        match since {
            Some(since) if self.records.calls.now() < since + self.cap => errors::remote_outcome(),
            _ => errors::outcome_lost(),
        }
    }

    /// The longest that a call runs, in any process: the cap for a write, its time-out for a read.
    fn longest(&self, call: &Call) -> Duration {
        if call.runs_once() { self.cap } else { call.tool().definition.timeout }
    }

    /// Starts the work in a spawned task, in the current trace.
    fn start(
        &self,
        call: &Call,
        cancellation: Cancellation,
        guard: Option<Guard>,
        inner: impl Inner,
    ) -> Waiter<CallResult> {
        let (key, call_of_work) = (call_record::key_of(call), detach(call, cancellation.clone()));
        let unattended_policy =
            if call.writes() { UnattendedPolicy::Continue } else { UnattendedPolicy::Cancel };
        let caller = &call.context.cancellation;
        let (leader, waiter) = self.work.lead(key.clone(), cancellation, unattended_policy, caller);
        let (records, key_locks) = (self.records.clone(), self.key_locks.clone());
        let work = Work { key, call: call_of_work, leader, guard, records, key_locks };
        let user = call.context.user.id.shared();
        tokio::spawn(offload::on_behalf(user, work.run(inner)).with_current_context());
        waiter
    }
}

fn log_unavailable(call: &Call, error: &StoreError) {
    let call_id = call.context.call_id;
    tracing::error!(%error, %call_id, tool_name = %call.tool().definition.name, "a call cannot be recorded");
}
