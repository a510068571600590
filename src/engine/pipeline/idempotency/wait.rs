//! Waiting for work in flight, for the time-out in the manifest. Not here: the call's deadline, which is enforced
//! above.

use std::convert::Infallible;

use futures_util::future::pending;
use tokio::{select, time::timeout_at};

use super::errors::outcome_unknown;
use crate::pipeline::{Call, CallResult, timeout_error};
use toolwire_base::clock;
use toolwire_tool::{
    context::{Cancellation, StopCause},
    single_flight::Waiter,
};

/// Waits for the outcome until the manifest's time-out. A write continues after it.
pub(super) async fn wait(call: &Call, mut waiter: Waiter<CallResult>) -> CallResult {
    // A read may have other waiters: a caller that cancels only stops waiting.
    let work = call.writes().then(|| waiter.cancellation().clone());
    let forwarding = forward_cancellation(&call.context.cancellation, work);
    let times_out = clock::now() + call.tool().definition.timeout;
    let result = select! {
        result = timeout_at(times_out, waiter.outcome()) => result,
        () = forced_end(&call.context.cancellation) => Ok(None),
        never = forwarding => match never {},
    };
    match result {
        Ok(Some(result)) => result.map(|terminal| call.adopt(terminal)),
        Err(_) if !call.writes() => Ok(call.failed(timeout_error(call))),
        Ok(None) if !call.writes() => Err(call.internal()),
        Ok(None) | Err(_) => Ok(call.failed(outcome_unknown())),
    }
}

/// Waits for the forced end of a drain: work in flight then has an unknown outcome.
pub(super) async fn forced_end(caller: &Cancellation) {
    caller.cancelled().await;
    if caller.cause() != Some(StopCause::Shutdown) {
        pending::<()>().await;
    }
}

/// Forwards a caller's `CancelCall` to the work. A caller that disconnects does not cancel it.
async fn forward_cancellation(caller: &Cancellation, work: Option<Cancellation>) -> Infallible {
    caller.cancelled().await;
    if let Some(work) = work.filter(|_| caller.cause() == Some(StopCause::Cancelled)) {
        work.cancel(StopCause::Cancelled);
    }
    pending().await
}
