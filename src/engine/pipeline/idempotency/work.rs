//! The work of an idempotency key, in a task of its own: the call runs, and its outcome is recorded.

use tokio::{pin, select, time::sleep_until};

use super::{errors, key_locks::KeyLocks, records::Records};
use crate::pipeline::{Call, CallResult, Inner, Stage, in_flight::Guard};
use toolwire_contract::ToolError;
use toolwire_state::{idempotency::Key, tasks::TaskError};
use toolwire_tool::{
    context::{Cancellation, StopCause},
    single_flight::Leader,
};

/// The work, with what its end needs.
pub(super) struct Work {
    pub(super) key: Key,
    /// The call as [`detach`] makes it.
    pub(super) call: Call,
    pub(super) leader: Leader<Key, CallResult>,
    /// Registers a write for drains. `None` for a read, which ends with its last waiter.
    pub(super) guard: Option<Guard>,
    pub(super) records: Records,
    pub(super) key_locks: KeyLocks,
}

/// The call as the spawned task runs it: with its own cancellation, and for a write with the cap as its deadline.
pub(super) fn detach(call: &Call, cancellation: Cancellation) -> Call {
    let mut work = call.clone();
    work.context.cancellation = cancellation;
    if call.writes() {
        work.context.deadline = call.context.deadline.of_detached_write();
    }
    work
}

impl Work {
    /// Runs the call, records its outcome, and then gives it to the waiters. If it cannot be recorded, the waiters get
    /// it nevertheless, and for a call that runs once recording is retried.
    pub(super) async fn run(self, mut inner: impl Inner) {
        let Self { key, call, leader, guard, records, key_locks } = self;
        let result = run_within_limits(inner.call(Box::new(call.clone())), &call).await;
        call.facts.note(Stage::Committing);
        // Held until the outcome is recorded and the waiters have it: a repeat finds either the work in flight or its
        // final record.
        let lock = key_locks.lock(&key).await;
        // A read that lost all its waiters may have been started again: the record is then that of its successor.
        let recorded =
            if leader.is_current() { records.record_end(&key, &call, &result, false).await } else { Ok(()) };
        if let Err(error) = &recorded {
            let call_id = call.context.call_id;
            tracing::error!(%error, %call_id, tool_name = %key.tool, "the end of a call is not recorded");
        }
        if matches!(recorded, Err(TaskError::Store(_))) && call.runs_once() {
            // The waiters do not wait for a state that may fail for minutes; a drain, which waits for `guard`, does.
            // Until the outcome is recorded, a repeat gets it from here.
            leader.publish(result.clone());
            drop(lock);
            records.record_end_late(&key, &call, &result, &key_locks).await;
            drop(guard);
            drop(leader);
        } else {
            // Only once the outcome is recorded, since a drain waits for it.
            drop(guard);
            leader.finish(result);
        }
    }
}

/// Runs a write until the cap, and a read until its last waiter has left.
async fn run_within_limits(work: impl Future<Output = CallResult>, call: &Call) -> CallResult {
    let cancellation = &call.context.cancellation;
    pin!(work);
    select! {
        // The limits win a tie, as the deadline of a call does.
        biased;
        () = cancellation.cancelled(), if !call.writes() => Ok(call.failed(ToolError::cancelled())),
        () = sleep_until(call.context.deadline.at()), if call.writes() => {
            cancellation.cancel(StopCause::Deadline);
            Ok(call.failed(errors::outcome_lost()))
        }
        result = &mut work => result,
    }
}
