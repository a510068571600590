//! One execution for all equal calls at one time, and what is kept of it.
//!
//! It runs in a task of its own, under the identity and the deadline of the first caller, until it ends or its last
//! waiter leaves.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::pending;
use tokio::{
    pin, select,
    time::{Instant, sleep_until, timeout},
};
use tower::ServiceExt;

use super::{
    hit::{hit, readable},
    key::ExecutionKey,
};
use crate::pipeline::{Call, CallResult, Inner, execute};
use toolwire_base::clock;
use toolwire_contract::{ErrorCode, Payload, Refusal, Terminal, ToolResult};
use toolwire_store::results::{ResultKey, Results, StoredResult};
use toolwire_telemetry::continuing_trace;
use toolwire_tool::{
    context::{Cancellation, EventSink, StopCause, Subscribers, UserId},
    single_flight::{Leader, SingleFlight, UnattendedPolicy, Waiter},
};

/// How long it is known that there is nothing (spec 004 §6).
const NOT_FOUND_TTL: Duration = Duration::from_mins(1);

/// How long callers wait for their result to be stored.
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// A caller with less time left than this after an execution ran out of its own begins no other.
const LEAST_TIME: Duration = Duration::from_millis(100);

/// The executions under way; leader and waiters share who reads the events.
#[derive(Clone, Debug, Default)]
pub(super) struct Executions(SingleFlight<ExecutionKey, Ended, Subscribers>);

/// How an execution ended, and by when it had to.
#[derive(Clone, Debug)]
struct Ended {
    /// Under whose identity it ran.
    user: UserId,
    end: End,
    at: Instant,
    deadline: Instant,
}

#[derive(Clone, Debug)]
enum End {
    /// An earlier execution had stored the result between the look and the start.
    Found(Box<StoredResult<Payload>>),
    Done(Box<CallResult>),
    OutOfTime,
}

/// Where an execution stores its result, and for how long.
struct Target {
    store: Arc<dyn Results>,
    key: ResultKey,
    ttl: Duration,
}

impl Executions {
    /// The result of the call, from an execution that is under way or from its own.
    pub(super) async fn result(
        &self,
        call: &Call,
        key: ExecutionKey,
        store: Option<Arc<dyn Results>>,
        ttl: Duration,
        inner: impl Inner,
    ) -> CallResult {
        loop {
            let caller = &call.context.cancellation;
            let (leader, mut waiter) = self.0.join_or_lead(key, UnattendedPolicy::Cancel, caller);
            call.context.events.subscribe_to(waiter.shared());
            if let Some(leader) = leader {
                let target = store.clone().map(|store| Target { store, key: key.result, ttl });
                start(shared(call, &waiter), leader, target, inner.clone());
            }
            // There is no outcome only when something outside the tool panicked.
            let Some(ended) = waiter.outcome().await else { return Err(call.internal()) };
            if !ended.is_cut_short_for(call) {
                return ended.result_of(call);
            }
            let is_out_of_time = matches!(ended.end, End::OutOfTime);
            if is_out_of_time && call.context.deadline.at() - ended.deadline <= LEAST_TIME {
                // The call's own deadline ends it.
                return pending().await;
            }
        }
    }
}

/// The call as it is executed: its events reach all who wait, and it stops when the last of them leaves.
fn shared(call: &Call, waiter: &Waiter<Ended, Subscribers>) -> Call {
    let mut work = call.clone();
    work.context.cancellation = waiter.cancellation().clone();
    work.context.events = EventSink::to_subscribers(waiter.shared().clone());
    work
}

/// Executes the call in a task of its own.
fn start(
    call: Call,
    leader: Leader<ExecutionKey, Ended, Subscribers>,
    target: Option<Target>,
    inner: impl Inner,
) {
    let execution = async move {
        let (deadline, cancellation) = (call.context.deadline.at(), call.context.cancellation.clone());
        let user = call.context.user.id.clone();
        let work = async {
            if let Some(stored) = stored_meanwhile(target.as_ref(), &call).await {
                return End::Found(Box::new(stored));
            }
            End::Done(Box::new(inner.oneshot(call.clone()).await))
        };
        // None: nobody waits.
        if let Some(end) = bounded(work, deadline, &cancellation).await {
            let at = clock::now();
            store(target.as_ref(), &call, &end).await;
            leader.finish(Ended { user, end, at, deadline });
        }
    };
    tokio::spawn(continuing_trace(execution));
}

/// The end of the work, which is dropped at once when its time is over or nobody waits for it.
async fn bounded(
    work: impl Future<Output = End>,
    deadline: Instant,
    cancellation: &Cancellation,
) -> Option<End> {
    pin!(work);
    select! {
        biased;
        () = cancellation.cancelled() => None,
        () = sleep_until(deadline) => {
            cancellation.cancel(StopCause::Deadline);
            Some(End::OutOfTime)
        }
        end = &mut work => Some(end),
    }
}

/// What is stored by now: another execution may have ended after this call looked and before it began its own.
async fn stored_meanwhile(target: Option<&Target>, call: &Call) -> Option<StoredResult<Payload>> {
    let Target { store, key, .. } = target?;
    // An error of the store was logged by the look before.
    let stored = store.get(key, now(call)).await.ok().flatten()?;
    readable(call, stored)
}

async fn store(target: Option<&Target>, call: &Call, end: &End) {
    let Some(Target { store, key, ttl }) = target else { return };
    let End::Done(done) = end else { return };
    let Ok(Terminal::Result(result)) = &**done else { return };
    let Some(stored) = to_store(result, call, *ttl) else { return };
    match timeout(STORE_TIMEOUT, store.put(key, &stored)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(tool_name = %result.tool, %error, "a result could not be cached"),
        Err(_) => tracing::warn!(tool_name = %result.tool, "a cache took too long to keep a result"),
    }
}

/// What may answer later calls: data that a client can take, or for a while that there is none.
fn to_store(result: &ToolResult, call: &Call, ttl: Duration) -> Option<StoredResult<Payload>> {
    let ttl = match &result.outcome {
        Ok(data) if execute::size_error(data).is_none() => ttl,
        Err(error) if error.code == ErrorCode::NotFound => ttl.min(NOT_FOUND_TTL),
        _ => return None,
    };
    Some(StoredResult {
        output_message: call.tool().definition.output_message.clone(),
        outcome: result.outcome.clone(),
        provenance: result.provenance.clone(),
        stored_at: now(call),
        ttl,
    })
}

/// The wall clock as the call sees it: from its arrival on it keeps time with its deadline.
fn now(call: &Call) -> SystemTime {
    call.arrived.wall + (clock::now() - call.arrived.at)
}

impl Ended {
    /// The result of a call that waited for it.
    fn result_of(self, call: &Call) -> CallResult {
        match self.end {
            End::Found(stored) => Ok(hit(call, *stored)),
            End::Done(result) => result.map(|terminal| call.adopt(terminal)),
            End::OutOfTime => Err(Refusal::DeadlineExceeded),
        }
    }

    /// Whether it ended so only because the first caller had less time than this one, or because of that user's own
    /// budget.
    fn is_cut_short_for(&self, call: &Call) -> bool {
        let deadline = call.context.deadline.at();
        if self.user != call.context.user.id && self.refused_turn().is_some() {
            return true;
        }
        let refused_turn = || {
            // A turn that the first caller could have waited for was refused for another reason.
            self.refused_turn().is_some_and(|turn| self.deadline <= turn && turn < deadline)
        };
        deadline > self.deadline && (matches!(self.end, End::OutOfTime) || refused_turn())
    }

    /// When the source would have had its turn for the call, if that was too late.
    fn refused_turn(&self) -> Option<Instant> {
        let End::Done(done) = &self.end else { return None };
        let Ok(Terminal::Result(result)) = &**done else { return None };
        let error = result.outcome.as_ref().err().filter(|error| error.code == ErrorCode::RateLimited)?;
        Some(self.at + error.retry_after?)
    }
}
