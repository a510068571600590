//! One execution for all equal calls at one time, and what is kept of it.
//!
//! It runs in a task of its own, under the identity and the deadline of the first caller, until it ends or its last
//! waiter leaves.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::pending;
use opentelemetry::trace::FutureExt;
use tokio::{
    pin, select,
    time::{Instant, sleep_until, timeout},
};
use tower::{Service, ServiceExt};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::{hit, key::Passage};
use crate::{
    clock,
    context::{Cancellation, EventSink, StopCause, UserId},
    contract::{ErrorCode, Refusal, Terminal, ToolResult},
    pipeline::{
        Call, execute,
        flight::{Flight, Flights, Landed, Pilot, Unattended},
        idempotency::own,
    },
    store::results::{ResultKey, Results, StoredResult},
};

/// How long it is known that there is nothing (spec 004 §6).
const NOT_FOUND_TTL: Duration = Duration::from_mins(1);

/// How long callers wait for their result to be kept.
const PATIENCE: Duration = Duration::from_secs(1);

/// A caller with less time left than this after a flight ran out of its own begins no other.
const WORTH_A_FLIGHT: Duration = Duration::from_millis(100);

/// The flights under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Board(Flights<Passage, Landing>);

/// How a flight ended, and by when it had to.
#[derive(Clone, Debug)]
struct Landing {
    /// Under whose identity it flew.
    user: UserId,
    end: End,
    at: Instant,
    deadline: Instant,
}

#[derive(Clone, Debug)]
enum End {
    /// An earlier flight had kept the result between the look and the start.
    Found(Box<StoredResult>),
    Done(Box<Landed>),
    OutOfTime,
}

/// Where a flight keeps its result, if it does.
struct Keeping {
    store: Arc<dyn Results>,
    key: ResultKey,
    ttl: Duration,
}

impl Board {
    /// The outcome of the call, from a flight that is under way or from its own.
    pub(super) async fn fly<S>(
        &self,
        call: &Call,
        passage: Passage,
        store: Option<Arc<dyn Results>>,
        ttl: Duration,
        inner: S,
    ) -> Landed
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        loop {
            let (pilot, mut flight) =
                self.0.join_or_begin(passage, Unattended::Ends, &call.context.cancellation);
            call.context.events.listen_to(flight.audience());
            if let Some(pilot) = pilot {
                let store = store.clone();
                let keeping = store.map(|store| Keeping { store, key: passage.key, ttl });
                depart(shared(call, &flight), pilot, keeping, inner.clone());
            }
            // The task is gone without a word only when something outside the tool panicked.
            let Some(landing) = flight.landed().await else { return Err(lost(call)) };
            if !landing.is_cut_short_for(call) {
                return landing.answer(call);
            }
            let is_out_of_time = matches!(landing.end, End::OutOfTime);
            if is_out_of_time && call.context.deadline - landing.deadline <= WORTH_A_FLIGHT {
                // The call's own deadline ends it.
                return pending().await;
            }
        }
    }
}

/// The call as the flight carries it out: it speaks to all who wait, and stops when the last of them leaves.
fn shared(call: &Call, flight: &Flight<Landing>) -> Call {
    let mut work = call.clone();
    work.context.cancellation = flight.cancellation().clone();
    work.context.events = EventSink::to_all(flight.audience().clone());
    work
}

fn depart<S>(call: Call, pilot: Pilot<Passage, Landing>, keeping: Option<Keeping>, inner: S)
where
    S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
    S::Future: Send + 'static,
{
    // The trace goes on, but the caller's span must be able to end first.
    let trace = Span::current().context();
    let journey = async move {
        let (deadline, cancellation) = (call.context.deadline, call.context.cancellation.clone());
        let user = call.context.user.id.clone();
        let work = async {
            if let Some(stored) = found(keeping.as_ref(), &call).await {
                return End::Found(Box::new(stored));
            }
            End::Done(Box::new(inner.oneshot(call.clone()).await))
        };
        // None: nobody waits.
        if let Some(end) = bounded(work, deadline, &cancellation).await {
            let at = clock::now();
            keep(keeping.as_ref(), &call, &end).await;
            pilot.land(Landing { user, end, at, deadline });
        }
    };
    tokio::spawn(journey.with_context(trace));
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

/// What is kept by now: a flight may have landed after this call looked and before it took off.
async fn found(keeping: Option<&Keeping>, call: &Call) -> Option<StoredResult> {
    let Keeping { store, key, .. } = keeping?;
    // Whoever looked before has said it if the store does not work.
    store.get(key, now(call)).await.ok().flatten()
}

async fn keep(keeping: Option<&Keeping>, call: &Call, end: &End) {
    let Some(Keeping { store, key, ttl }) = keeping else { return };
    let End::Done(landed) = end else { return };
    let Ok(Terminal::Result(result)) = &**landed else { return };
    let Some(stored) = to_keep(result, call, *ttl) else { return };
    match timeout(PATIENCE, store.put(key, &stored)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(tool_name = result.tool, %error, "a result could not be cached"),
        Err(_) => tracing::warn!(tool_name = result.tool, "a cache took too long to keep a result"),
    }
}

/// What may answer later calls: data that a client can take, or for a while that there is none.
fn to_keep(result: &ToolResult, call: &Call, ttl: Duration) -> Option<StoredResult> {
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

fn lost(call: &Call) -> Refusal {
    Refusal::Internal { call_id: call.context.call_id.to_string() }
}

impl Landing {
    /// What it says to one of its waiters.
    fn answer(self, call: &Call) -> Landed {
        match self.end {
            End::Found(stored) => Ok(hit(call, *stored)),
            End::Done(landed) => landed.map(|terminal| own(call, terminal)),
            End::OutOfTime => Err(Refusal::DeadlineExceeded),
        }
    }

    /// Whether it ended so only because the first caller had less time than this one, or because of that user's own
    /// budget.
    fn is_cut_short_for(&self, call: &Call) -> bool {
        let deadline = call.context.deadline;
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
        let End::Done(landed) = &self.end else { return None };
        let Ok(Terminal::Result(result)) = &**landed else { return None };
        let error = result.outcome.as_ref().err().filter(|error| error.code == ErrorCode::RateLimited)?;
        Some(self.at + error.retry_after?)
    }
}
