//! The outcome of a call as its record needs it, and how it is recorded.

use std::time::Duration;

use tokio::time::sleep;

use super::{Records, key_locks::KeyLocks};
use crate::pipeline::{
    Call, CallResult,
    call_record::{records_itself, task_call},
};
use toolwire_base::clock;
use toolwire_contract::{Terminal, ToolResult, status};
use toolwire_state::{idempotency::Key, tasks::TaskError};

/// The delay between attempts to record an outcome.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The time for which recording an outcome is retried.
const RETRY_FOR: Duration = Duration::from_mins(10);

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

/// Whether an outcome is recorded as final, so that a repeat gets it without another attempt.
pub(super) fn is_final(call: &Call, result: &ToolResult) -> bool {
    let Err(error) = &result.outcome else { return true };
    // A read has no effect, so retryable errors are not stored.
    error.code.is_final() && (call.writes() || !error.retryable)
}

impl Records {
    /// Stores the outcome, unless nothing was done and a retry may succeed. If that fails, waiters still get it, and a
    /// repeat at another process meets an unfinished call. `is_again`: an attempt before this one failed, or so it
    /// seemed.
    pub(super) async fn record_end(
        &self,
        key: &Key,
        call: &Call,
        result: &CallResult,
        is_again: bool,
    ) -> Result<(), TaskError> {
        if let Some(task) = task_call(call) {
            return self.end_task_call(call, &task, result, is_again).await;
        }
        if records_itself(call) {
            return Ok(());
        }
        let store = self.of(call);
        Ok(match result {
            Ok(Terminal::Result(result)) if is_final(call, result) && call.runs_once() => {
                store.end(key, result).await
            }
            Ok(Terminal::Result(result)) if is_final(call, result) => store.end_read(key, result).await,
            Ok(Terminal::ConfirmationRequired(_)) => store.suspend(key).await,
            end => store.forget(key, code_of(end)).await,
        }?)
    }

    /// Retries to store the outcome of a call that runs once, after its waiters received it. Until it is stored, a
    /// repeat at another process finds an unfinished call.
    pub(super) async fn record_end_late(
        &self,
        key: &Key,
        call: &Call,
        result: &CallResult,
        key_locks: &KeyLocks,
    ) {
        let (call_id, tool_name) = (call.context.call_id, &key.tool);
        let until = clock::now() + RETRY_FOR;
        loop {
            sleep(RETRY_DELAY).await;
            // Not held between the attempts: a repeat joins the work meanwhile.
            let _lock = key_locks.lock(key).await;
            match self.record_end(key, call, result, true).await {
                Ok(()) => return tracing::info!(%call_id, %tool_name, "the end of a call is recorded late"),
                Err(TaskError::Store(_)) if clock::now() < until => {}
                Err(error) => {
                    return tracing::error!(%error, %call_id, %tool_name, "the end of a call is lost");
                }
            }
        }
    }
}
