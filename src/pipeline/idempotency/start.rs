//! The work of a call with a `request_id`, in a task of its own, and the record of its end.

use opentelemetry::trace::FutureExt;
use tokio::{pin, select, time::sleep_until};
use tower::Service;

use super::{Layer, key_of, outcome_unknown, writes};
use crate::{
    context::{Cancellation, StopCause},
    contract::{ErrorCode, Refusal, Terminal, ToolError, ToolResult},
    pipeline::{Call, CallResult, in_flight::Guard},
    single_flight::{Waiter, WhenUnattended},
    store::idempotency::{Idempotency, Key},
};

impl Layer {
    /// Lists work before it is recorded: who ends the server waits for what is listed.
    pub(super) fn list(&self, work: &Call) -> Guard {
        let context = &work.context;
        let user = context.user.id.clone();
        self.in_flight.enter(user, context.call_id, work.request_id, context.cancellation.clone())
    }

    /// Starts the work in a task of its own, within the trace of this one.
    pub(super) fn start<S>(
        &self,
        call: &Call,
        work: Call,
        listed: Option<Guard>,
        mut inner: S,
    ) -> Waiter<CallResult>
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        let key = key_of(&work);
        let cancellation = work.context.cancellation.clone();
        let when_unattended = if writes(&work) { WhenUnattended::Continue } else { WhenUnattended::Cancel };
        let caller = &call.context.cancellation;
        let (leader, waiter) = self.running.lead(key.clone(), cancellation, when_unattended, caller);
        let Self { store, key_locks, .. } = self.clone();
        let task = async move {
            let result = carry_out(inner.call(work.clone()), &work).await;
            let _lock = key_locks.lock(&key).await;
            if leader.is_current() {
                record(&*store, &key, &work, &result).await;
            }
            drop(listed);
            leader.finish(result);
        };
        tokio::spawn(task.with_current_context());
        waiter
    }
}

/// The call as its own task carries it out.
pub(super) fn detached(call: &Call) -> Call {
    let mut work = call.clone();
    work.context.cancellation = Cancellation::new();
    if writes(call) {
        work.context.deadline = call.context.latest;
    }
    work
}

/// Carries the work out: a write until the cap, a read until nobody waits for it.
async fn carry_out(work: impl Future<Output = CallResult>, call: &Call) -> CallResult {
    let cancellation = &call.context.cancellation;
    pin!(work);
    select! {
        biased;
        () = cancellation.cancelled(), if !writes(call) => Ok(call.failed(ToolError::cancelled())),
        () = sleep_until(call.context.deadline), if writes(call) => {
            cancellation.cancel(StopCause::Deadline);
            Ok(call.failed(outcome_unknown()))
        }
        result = &mut work => result,
    }
}

/// Keeps the outcome, unless nothing was done and the same call may well succeed later. Where that fails, those who
/// wait still learn the outcome; a repeat meets a call that seems unfinished.
async fn record(store: &dyn Idempotency, key: &Key, call: &Call, result: &CallResult) {
    let recorded = match result {
        Ok(Terminal::Result(result)) if is_final(call, result) => store.end(key, result).await,
        _ => store.forget(key).await,
    };
    if let Err(error) = recorded {
        let call_id = call.context.call_id;
        tracing::error!(%error, %call_id, tool_name = key.tool, "the end of a call is not recorded");
    }
}

fn is_final(call: &Call, result: &ToolResult) -> bool {
    let Err(error) = &result.outcome else { return true };
    match error.code {
        ErrorCode::RateLimited | ErrorCode::Unavailable | ErrorCode::Cancelled => false,
        // A read does nothing, so whatever may succeed later is tried again.
        _ => writes(call) || !error.retryable,
    }
}
