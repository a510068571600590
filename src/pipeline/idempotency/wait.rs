//! Waiting for a flight: as long as the manifest allows. Not here: the call's deadline, which bounds this too.

use std::convert::Infallible;

use futures_util::future::pending;
use tokio::{select, time::timeout_at};

use super::{lost, outcome_unknown, writes};
use crate::{
    clock,
    context::{Cancellation, StopCause},
    contract::{Terminal, ToolResult},
    pipeline::{
        Call,
        flight::{Flight, Landed},
        timed_out,
    },
};

/// Waits as long as the manifest allows; a write goes on beyond that.
pub(super) async fn wait(call: &Call, mut flight: Flight<Landed>) -> Landed {
    // Work that only reads may have others who wait for it: a caller who cancels leaves, and no more.
    let work = writes(call).then(|| flight.cancellation().clone());
    let told = tell(&call.context.cancellation, work);
    let patience = clock::now() + call.tool().definition.timeout;
    let landed = select! {
        landed = timeout_at(patience, flight.landed()) => landed,
        () = forced_end(&call.context.cancellation) => Ok(None),
        never = told => match never {},
    };
    match landed {
        Ok(Some(landed)) => landed.map(|terminal| own(call, terminal)),
        Err(_) if !writes(call) => Ok(call.failed(timed_out(call))),
        Ok(None) if !writes(call) => Err(lost(call)),
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
async fn tell(caller: &Cancellation, work: Option<Cancellation>) -> Infallible {
    caller.cancelled().await;
    if let Some(work) = work.filter(|_| caller.cause() == Some(StopCause::Cancelled)) {
        work.cancel(StopCause::Cancelled);
    }
    pending().await
}

/// The outcome of another call as the outcome of this one.
pub(in crate::pipeline) fn own(call: &Call, terminal: Terminal) -> Terminal {
    match terminal {
        Terminal::Result(result) => Terminal::Result(ToolResult { fetched_at: call.arrived.wall, ..result }),
        other @ Terminal::ConfirmationRequired(_) => other,
    }
}
