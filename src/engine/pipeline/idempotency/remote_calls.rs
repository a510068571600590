//! Calls that another process owns. A repeat here waits for their outcome, as it would in the owner; all waiters for
//! one call share one poll of the state. Not here: finding the owner, which is the store's.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::pending;
use tokio::{select, time::timeout};

use super::{
    errors::outcome_unknown,
    replay::{decode, replay},
    wait::forced_end,
};
use crate::pipeline::{Call, CallResult, call_record};
use toolwire_contract::ToolError;
use toolwire_state::idempotency::{Idempotency, Key, Owner, RemoteEnd};
use toolwire_tool::{
    context::{CallId, StopCause},
    single_flight::{SingleFlight, UnattendedPolicy, Waiter},
};

/// The calls of other processes that callers here wait for. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct RemoteCalls {
    calls: Arc<dyn Idempotency>,
    waiting: SingleFlight<Key, RemoteEnd>,
}

/// A call that another process owns.
#[derive(Clone, Copy, Debug)]
pub(super) struct RemoteCall {
    /// The call's id in the owner; `None` if it has just ended.
    call_id: Option<CallId>,
    /// The longest that it can still run.
    time_left: Duration,
}

impl RemoteCalls {
    /// Finds owners, and the outcomes of their calls, in `calls`.
    pub(super) fn new(calls: Arc<dyn Idempotency>) -> Self {
        Self { calls, waiting: SingleFlight::default() }
    }

    /// The owner of an unfinished call that began at `begun`, if it is another process that is alive and `longest`, the
    /// bound on a call's duration, has not passed.
    pub(super) async fn find(&self, call: &Call, begun: SystemTime, longest: Duration) -> Option<RemoteCall> {
        let time_left =
            (begun + longest).duration_since(self.calls.now()).ok().filter(|left| !left.is_zero())?;
        match self.calls.owner(&call_record::key_of(call)).await {
            Ok(Owner::Remote(call_id)) => Some(RemoteCall { call_id: Some(call_id), time_left }),
            Ok(Owner::Over) => Some(RemoteCall { call_id: None, time_left }),
            Ok(Owner::Lost) => None,
            Err(error) => {
                let call_id = call.context.call_id;
                tracing::error!(%error, %call_id, "the owner of a call cannot be read");
                None
            }
        }
    }

    /// Waits for the outcome of a call that another process owns; `None` if the record must be read again, because the
    /// owner did not settle it. The caller's deadline is enforced by a layer above.
    pub(super) async fn attach(&self, call: &Call, remote: RemoteCall) -> Option<CallResult> {
        let call_id = remote.call_id?;
        let mut waiter = self.join(call, call_id, remote.time_left);
        let end = select! {
            end = waiter.outcome() => end?,
            () = forced_end(&call.context.cancellation), if call.writes() => {
                return Some(Ok(call.failed(outcome_unknown())));
            }
            never = self.forward_cancellation(call, call_id) => match never {},
        };
        match end {
            RemoteEnd::Ended(result) => decode(call, *result).map(|result| Ok(replay(call, result))),
            RemoteEnd::Cancelled => Some(Ok(call.failed(ToolError::cancelled()))),
            RemoteEnd::Unsettled => None,
        }
    }

    /// Joins the waiters of the call, or starts the poll that they share.
    fn join(&self, call: &Call, call_id: CallId, time_left: Duration) -> Waiter<RemoteEnd> {
        let (key, caller) = (call_record::key_of(call), &call.context.cancellation);
        let (leader, waiter) = self.waiting.join_or_lead(key.clone(), UnattendedPolicy::Cancel, caller);
        if let Some(leader) = leader {
            let (calls, unattended) = (Arc::clone(&self.calls), waiter.cancellation().clone());
            tokio::spawn(async move {
                select! {
                    end = timeout(time_left, calls.wait_for_remote_end(&key, call_id)) => {
                        leader.finish(end.unwrap_or(RemoteEnd::Unsettled));
                    }
                    () = unattended.cancelled() => {}
                }
            });
        }
        waiter
    }

    /// Forwards a caller's `CancelCall` to the owner of a write. A read may have other waiters, so its caller only
    /// stops waiting.
    async fn forward_cancellation(&self, call: &Call, call_id: CallId) -> Infallible {
        let caller = &call.context.cancellation;
        caller.cancelled().await;
        if call.writes() && caller.cause() == Some(StopCause::Cancelled) {
            let requested = self.calls.cancel_owner(&call.context.user.id, call_id).await;
            if let Err(error) = requested {
                tracing::error!(%error, %call_id, "the owner of a call cannot be asked to cancel it");
            }
        }
        pending().await
    }
}
