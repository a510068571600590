//! Single flight: one execution for all concurrent equal calls, whose result is stored.
//!
//! It runs in a spawned task, under the user and the deadline of the first caller, until it ends or its last waiter
//! leaves.

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
    hit::{decode, hit},
    key::ExecutionKey,
};
use crate::pipeline::{Call, CallResult, Inner, execute};
use toolwire_base::{clock, offload};
use toolwire_contract::{ErrorCode, Payload, Refusal, Terminal, ToolResult};
use toolwire_state::results::{ResultKey, Results, StoredResult};
use toolwire_telemetry::continuing_trace;
use toolwire_tool::{
    context::{Cancellation, EventSink, StopCause, Subscribers, UserId},
    single_flight::{Leader, SingleFlight, UnattendedPolicy, Waiter},
};

/// Maximum time to live of a `NOT_FOUND`.
const NOT_FOUND_TTL: Duration = Duration::from_mins(1);

/// Maximum time that storing a result delays its callers.
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// The minimum difference of deadlines for which a waiter starts a second execution after the first one ran out of
/// time.
const MIN_EXTRA_TIME: Duration = Duration::from_millis(100);

/// The executions in flight; leader and waiters share the subscribers of the events.
#[derive(Clone, Debug, Default)]
pub(super) struct Executions(SingleFlight<ExecutionKey, Completion, Subscribers>);

#[derive(Clone, Debug)]
struct Completion {
    /// The user under whose identity it ran.
    user: UserId,
    end: End,
    at: Instant,
    /// The deadline of the first caller.
    deadline: Instant,
}

#[derive(Clone, Debug)]
enum End {
    /// An earlier execution stored the result between the lookup and the start.
    Stored(Box<StoredResult<Payload>>),
    Done(Box<CallResult>),
    OutOfTime,
}

/// The destination of a result, and its time to live.
struct Destination {
    store: Arc<dyn Results>,
    key: ResultKey,
    ttl: Duration,
}

impl Executions {
    /// The result of the call, by joining an execution in flight or leading a new one.
    pub(super) async fn join_or_execute(
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
                let destination = store.clone().map(|store| Destination { store, key: key.result, ttl });
                start(share(call, &waiter), leader, destination, inner.clone());
            }
            // There is no outcome only if code outside the tool panicked.
            let Some(completion) = waiter.outcome().await else { return Err(call.internal()) };
            if !completion.is_cut_short_for(call) {
                return completion.into_result(call);
            }
            let is_out_of_time = matches!(completion.end, End::OutOfTime);
            if is_out_of_time && call.context.deadline.at() - completion.deadline <= MIN_EXTRA_TIME {
                // Too late for another execution: the deadline layer ends the call.
                return pending().await;
            }
            // Otherwise again: by this caller's deadline and user, unless another waiter leads first.
        }
    }
}

/// The call as the shared execution: its events reach all waiters, and it is cancelled when the last of them leaves.
fn share(call: &Call, waiter: &Waiter<Completion, Subscribers>) -> Box<Call> {
    let mut work = Box::new(call.clone());
    work.context.cancellation = waiter.cancellation().clone();
    work.context.events = EventSink::to_subscribers(waiter.shared().clone());
    work
}

/// Executes the call in a spawned task.
fn start(
    call: Box<Call>,
    leader: Leader<ExecutionKey, Completion, Subscribers>,
    destination: Option<Destination>,
    inner: impl Inner,
) {
    let of_user = call.context.user.id.shared();
    let execution = async move {
        let (deadline, cancellation) = (call.context.deadline.at(), call.context.cancellation.clone());
        let user = call.context.user.id.clone();
        let work = async {
            if let Some(stored) = find_stored(destination.as_ref(), &call).await {
                return End::Stored(Box::new(stored));
            }
            End::Done(Box::new(inner.oneshot(call.clone()).await))
        };
        if let Some(end) = run_until(deadline, work, &cancellation).await {
            // The instant before the result is stored: a retry delay counts from it.
            let at = clock::now();
            store(destination.as_ref(), &call, &end).await;
            leader.finish(Completion { user, end, at, deadline });
        }
    };
    tokio::spawn(continuing_trace(offload::on_behalf(of_user, execution)));
}

/// Runs the work; drops it at the deadline, or without an end when its last waiter leaves.
async fn run_until(
    deadline: Instant,
    work: impl Future<Output = End>,
    cancellation: &Cancellation,
) -> Option<End> {
    pin!(work);
    select! {
        // Cancellation first: an execution without waiters has no end to report. The deadline wins a tie with the
        // result.
        biased;
        () = cancellation.cancelled() => None,
        () = sleep_until(deadline) => {
            cancellation.cancel(StopCause::Deadline);
            Some(End::OutOfTime)
        }
        end = &mut work => Some(end),
    }
}

/// Looks the result up again: another execution may have ended after this call's lookup and before its start.
async fn find_stored(destination: Option<&Destination>, call: &Call) -> Option<StoredResult<Payload>> {
    let Destination { store, key, .. } = destination?;
    // The first lookup has logged an error of the store.
    let stored = store.get(key, now(call)).await.ok().flatten()?;
    decode(call, stored)
}

async fn store(destination: Option<&Destination>, call: &Call, end: &End) {
    let Some(Destination { store, key, ttl }) = destination else { return };
    let End::Done(done) = end else { return };
    let Ok(Terminal::Result(result)) = &**done else { return };
    let Some(stored) = to_store(result, call, *ttl) else { return };
    match timeout(STORE_TIMEOUT, store.put(key, &stored)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(tool_name = %result.tool, %error, "a result could not be cached"),
        Err(_) => tracing::warn!(tool_name = %result.tool, "a cache took too long to keep a result"),
    }
}

/// The part of a result that may answer later calls: data within the size limit, or for a short time `NOT_FOUND`.
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

/// The wall clock at the call's arrival plus the monotonic time since: ages agree with the call's deadline even if the
/// wall clock is set.
fn now(call: &Call) -> SystemTime {
    call.arrived.wall + (clock::now() - call.arrived.at)
}

impl Completion {
    /// The result of a call that waited for it.
    fn into_result(self, call: &Call) -> CallResult {
        match self.end {
            End::Stored(stored) => Ok(hit(call, *stored)),
            End::Done(result) => result.map(|terminal| call.adopt(terminal)),
            End::OutOfTime => Err(Refusal::DeadlineExceeded),
        }
    }

    /// Whether it failed only because the first caller had less time than this one, or because that user's own rate
    /// limit was reached.
    fn is_cut_short_for(&self, call: &Call) -> bool {
        let deadline = call.context.deadline.at();
        if self.user != call.context.user.id && self.retry_at().is_some() {
            return true;
        }
        let is_limited = || {
            // Before the first caller's deadline it could have waited, so the limit was not the reason.
            self.retry_at().is_some_and(|at| self.deadline <= at && at < deadline)
        };
        deadline > self.deadline && (matches!(self.end, End::OutOfTime) || is_limited())
    }

    /// The time from which the source's rate limit would have admitted the call, if that was the reason of its failure.
    fn retry_at(&self) -> Option<Instant> {
        let End::Done(done) = &self.end else { return None };
        let Ok(Terminal::Result(result)) = &**done else { return None };
        let error = result.outcome.as_ref().err().filter(|error| error.code == ErrorCode::RateLimited)?;
        self.at.checked_add(error.retry_after?)
    }
}
