//! The work of a call with a `request_id`, in a task of its own, and the record of its end.

use opentelemetry::{Context as Trace, trace::FutureExt};
use tokio::{pin, select, time::sleep_until};
use tower::Service;

use super::{Layer, key_of, outcome_unknown, writes};
use crate::{
    context::{Cancellation, StopCause},
    contract::{ErrorCode, Refusal, Terminal, ToolError, ToolResult},
    pipeline::{
        Call,
        flight::{Flight, Landed, Unattended},
        in_flight::Guard,
    },
    store::idempotency::{Idempotency, Key},
};

impl Layer {
    /// Lists work before it is recorded: who ends the server waits for what is listed.
    pub(super) fn list(&self, work: &Call) -> Guard {
        let context = &work.context;
        let user = context.user.id.clone();
        self.in_flight.enter(user, context.call_id, work.request_id, context.cancellation.clone())
    }

    /// Starts the work in a task of its own.
    pub(super) fn depart<S>(
        &self,
        call: &Call,
        work: Call,
        listed: Option<Guard>,
        mut inner: S,
        trace: Trace,
    ) -> Flight<Landed>
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        let key = key_of(&work);
        let cancellation = work.context.cancellation.clone();
        let unattended = if writes(&work) { Unattended::GoesOn } else { Unattended::Ends };
        let caller = &call.context.cancellation;
        let (pilot, flight) = self.flights.begin(key.clone(), cancellation, unattended, caller);
        let Self { store, turns, .. } = self.clone();
        let journey = async move {
            let landed = fly(inner.call(work.clone()), &work).await;
            let _turn = turns.of(&key).await;
            if pilot.is_listed() {
                record(&*store, &key, &work, &landed).await;
            }
            drop(listed);
            pilot.land(landed);
        };
        tokio::spawn(journey.with_context(trace));
        flight
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
async fn fly(work: impl Future<Output = Landed>, call: &Call) -> Landed {
    let cancellation = &call.context.cancellation;
    pin!(work);
    select! {
        biased;
        () = cancellation.cancelled(), if !writes(call) => Ok(call.failed(ToolError::cancelled())),
        () = sleep_until(call.context.deadline), if writes(call) => {
            cancellation.cancel(StopCause::Deadline);
            Ok(call.failed(outcome_unknown()))
        }
        landed = &mut work => landed,
    }
}

/// Keeps the outcome, unless nothing was done and the same call may well succeed later. Where that fails, those who
/// wait still learn the outcome; a repeat meets a call that seems unfinished.
async fn record(store: &dyn Idempotency, key: &Key, call: &Call, landed: &Landed) {
    let recorded = match landed {
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
