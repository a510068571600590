//! Calls that another process carries out. A repeat here waits for their end, as it would in that process; however many
//! repeats there are, one look at the state serves all. Not here: whether another process carries a call out.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::pending;
use tokio::{select, time::timeout};

use super::{
    errors::outcome_unknown,
    stored::{readable, stored},
    wait::forced_end,
};
use crate::{
    clock,
    context::{CallId, StopCause},
    contract::ToolError,
    pipeline::{Call, CallResult, recorded},
    single_flight::{SingleFlight, UnattendedPolicy, Waiter},
    store::idempotency::{EndElsewhere, Idempotency, Key, Owner},
};

/// What other processes carry out and is waited for here. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    calls: Arc<dyn Idempotency>,
    waiting: SingleFlight<Key, EndElsewhere>,
}

/// A call that another process carries out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// As which call; `None` if it has ended just now.
    call_id: Option<CallId>,
    /// It cannot go on for longer.
    left: Duration,
}

impl Elsewhere {
    /// As the records of these calls say.
    pub(super) fn new(calls: Arc<dyn Idempotency>) -> Self {
        Self { calls, waiting: SingleFlight::default() }
    }

    /// An unfinished call that began at the given time, if another process carries it out and may still do so: no call
    /// goes on for longer than the given time.
    pub(super) async fn find(&self, call: &Call, begun: SystemTime, longest: Duration) -> Option<Carried> {
        let left = (begun + longest).duration_since(clock::wall()).ok().filter(|left| !left.is_zero())?;
        match self.calls.owner(&recorded::key_of(call)).await {
            Ok(Owner::Elsewhere(call_id)) => Some(Carried { call_id: Some(call_id), left }),
            Ok(Owner::Over) => Some(Carried { call_id: None, left }),
            Ok(Owner::Lost) => None,
            Err(error) => {
                let call_id = call.context.call_id;
                tracing::error!(%error, %call_id, "the owner of a call cannot be read");
                None
            }
        }
    }

    /// Waits for the end of a call that another process carries out; `None` if what the call meets now is to be looked
    /// at again. The caller's deadline bounds this too.
    pub(super) async fn attach(&self, call: &Call, carried: Carried) -> Option<CallResult> {
        let call_id = carried.call_id?;
        let mut waiter = self.join(call, call_id, carried.left);
        let end = select! {
            end = waiter.outcome() => end?,
            () = forced_end(&call.context.cancellation), if call.writes() => {
                return Some(Ok(call.failed(outcome_unknown())));
            }
            never = self.pass_cancel_on(call, call_id) => match never {},
        };
        match end {
            EndElsewhere::Ended(result) => readable(call, *result).map(|result| Ok(stored(call, result))),
            EndElsewhere::Cancelled => Some(Ok(call.failed(ToolError::cancelled()))),
            EndElsewhere::Unsettled => None,
        }
    }

    /// Joins those who wait for it already.
    fn join(&self, call: &Call, call_id: CallId, left: Duration) -> Waiter<EndElsewhere> {
        let (key, caller) = (recorded::key_of(call), &call.context.cancellation);
        let (leader, waiter) = self.waiting.join_or_lead(key.clone(), UnattendedPolicy::Cancel, caller);
        if let Some(leader) = leader {
            let (calls, unattended) = (Arc::clone(&self.calls), waiter.cancellation().clone());
            tokio::spawn(async move {
                select! {
                    end = timeout(left, calls.ended_elsewhere(&key, call_id)) => {
                        leader.finish(end.unwrap_or(EndElsewhere::Unsettled));
                    }
                    () = unattended.cancelled() => {}
                }
            });
        }
        waiter
    }

    /// Passes a caller's `CancelCall` on to the process that carries the call out, if it writes. A read may have others
    /// who wait for it: its caller only leaves.
    async fn pass_cancel_on(&self, call: &Call, call_id: CallId) -> Infallible {
        let caller = &call.context.cancellation;
        caller.cancelled().await;
        if call.writes() && caller.cause() == Some(StopCause::Cancelled) {
            let asked = self.calls.cancel_owner(&call.context.user.id, call_id).await;
            if let Err(error) = asked {
                tracing::error!(%error, %call_id, "the owner of a call cannot be asked to cancel it");
            }
        }
        pending().await
    }
}
