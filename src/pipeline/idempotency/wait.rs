//! Waiting for work that is under way: as long as the manifest allows. Not here: the call's deadline, which bounds this
//! too.

use std::convert::Infallible;

use futures_util::future::pending;
use tokio::{select, time::timeout_at};

use super::errors::outcome_unknown;
use crate::{
    clock,
    context::{Cancellation, StopCause},
    pipeline::{Call, CallResult, timed_out},
    single_flight::Waiter,
};

/// Waits as long as the manifest allows; a write goes on beyond that.
pub(super) async fn wait(call: &Call, mut waiter: Waiter<CallResult>) -> CallResult {
    // Work that only reads may have others who wait for it: a caller who cancels leaves, and no more.
    let work = call.writes().then(|| waiter.cancellation().clone());
    let cancels = pass_cancels_on(&call.context.cancellation, work);
    let times_out = clock::now() + call.tool().definition.timeout;
    let result = select! {
        result = timeout_at(times_out, waiter.outcome()) => result,
        () = forced_end(&call.context.cancellation) => Ok(None),
        never = cancels => match never {},
    };
    match result {
        Ok(Some(result)) => result.map(|terminal| call.adopt(terminal)),
        Err(_) if !call.writes() => Ok(call.failed(timed_out(call))),
        Ok(None) if !call.writes() => Err(call.internal()),
        Ok(None) | Err(_) => Ok(call.failed(outcome_unknown())),
    }
}

/// Waits until the server is forced to end: what is under way then has an unknown outcome.
pub(super) async fn forced_end(caller: &Cancellation) {
    caller.cancelled().await;
    if caller.cause() != Some(StopCause::Shutdown) {
        pending::<()>().await;
    }
}

/// Passes a caller's `CancelCall` on to the work. A caller who leaves tells it nothing.
async fn pass_cancels_on(caller: &Cancellation, work: Option<Cancellation>) -> Infallible {
    caller.cancelled().await;
    if let Some(work) = work.filter(|_| caller.cause() == Some(StopCause::Cancelled)) {
        work.cancel(StopCause::Cancelled);
    }
    pending().await
}
