//! Idempotency: a repeated `request_id` meets the stored outcome, the call under way, or a conflict; it spends nothing.
//!
//! Required for anything but a read. A write runs in a task of its own from here on: it outlives its caller.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::{BoxFuture, Either, ready};
use opentelemetry::trace::FutureExt;
use sha2::{Digest, Sha256};
use tokio::{pin, select, time::sleep_until};
use tower::Service;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

pub(super) use self::wait::own;
use self::{turns::Turns, wait::wait};
use super::{
    Call, InFlight,
    flight::{Flight, Flights, Landed, Unattended},
};
use crate::{
    clock,
    context::{Cancellation, RequestId, StopCause},
    contract::{ErrorCode, Event, Refusal, Terminal, ToolError, ToolResult, Violation, json},
    registry::Category,
    store::idempotency::{ArgumentsDigest, Begun, Idempotency, Key},
};

mod turns;
mod wait;

/// When to try again after all records are taken.
const FULL_RETRY_AFTER: Duration = Duration::from_mins(1);

/// Carries each `request_id` out once.
#[derive(Clone, Debug)]
pub struct Layer {
    store: Arc<dyn Idempotency>,
    flights: Flights<Key, Landed>,
    turns: Turns,
    in_flight: InFlight,
}

/// See [`Layer`].
#[derive(Clone, Debug)]
pub struct Idempotent<S> {
    inner: S,
    layer: Layer,
}

impl Layer {
    /// Remembers in the given store, and lists what may outlive its callers.
    pub fn new(store: Arc<dyn Idempotency>, in_flight: InFlight) -> Self {
        Self { store, flights: Flights::default(), turns: Turns::default(), in_flight }
    }
}

impl<S> tower::Layer<S> for Layer {
    type Service = Idempotent<S>;

    fn layer(&self, inner: S) -> Idempotent<S> {
        Idempotent { inner, layer: self.clone() }
    }
}

impl<S> Service<Call> for Idempotent<S>
where
    S: Service<Call, Response = Terminal, Error = Refusal> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Terminal;
    type Error = Refusal;
    type Future = Either<S::Future, BoxFuture<'static, Landed>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut call: Call) -> Self::Future {
        // Cancelled beforehand: nothing is recorded and nothing begins, not even a write (spec 001).
        if call.context.cancellation.is_cancelled() {
            return Either::Right(Box::pin(ready(Ok(call.failed(ToolError::cancelled())))));
        }
        let reads = !writes(&call);
        match call.request_id {
            None if reads => {
                accept(&call);
                Either::Left(self.inner.call(call))
            }
            None if call.context.depth == 0 => Either::Right(Box::pin(async { Err(request_id_required()) })),
            // The outer call's identifier already keeps a nested write from being repeated.
            None => {
                call.request_id = Some(RequestId::generate());
                Either::Right(self.once(call))
            }
            Some(_) => Either::Right(self.once(call)),
        }
    }
}

impl<S> Idempotent<S>
where
    S: Service<Call, Response = Terminal, Error = Refusal> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    fn once(&mut self, call: Call) -> BoxFuture<'static, Landed> {
        // The ready service goes with the call; its clone stays.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let layer = self.layer.clone();
        Box::pin(layer.once(call, inner))
    }
}

impl Layer {
    async fn once<S>(self, call: Call, inner: S) -> Landed
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        let key = key_of(&call);
        let reads = !writes(&call);
        // Until the flight is listed: another caller would find its record and no flight.
        let turn = self.turns.of(&key).await;
        let flight = match self.store.begin(&key, digest_of(&call)).await {
            Begun::Conflict => {
                return Err(Refusal::RequestIdReused { request_id: key.request_id.to_string() });
            }
            Begun::Full => return Err(full()),
            Begun::Ended(result) => return Ok(stored(&call, *result)),
            Begun::New => self.depart(&call, key, inner),
            Begun::Unfinished => match self.flights.join(&key, &call.context.cancellation) {
                Some(flight) => flight,
                // A read that was lost is harmless to repeat; a write is not.
                None if reads => self.depart(&call, key, inner),
                None => return Ok(call.failed(outcome_unknown())),
            },
        };
        drop(turn);
        accept(&call);
        wait(&call, flight).await
    }

    /// Starts the work in a task of its own.
    fn depart<S>(&self, call: &Call, key: Key, mut inner: S) -> Flight<Landed>
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        let work = detached(call);
        let cancellation = work.context.cancellation.clone();
        let unattended = if writes(call) { Unattended::GoesOn } else { Unattended::Ends };
        let caller = &call.context.cancellation;
        let (pilot, flight) = self.flights.begin(key.clone(), cancellation.clone(), unattended, caller);
        let listed =
            self.in_flight.enter(key.user.clone(), work.context.call_id, Some(key.request_id), cancellation);
        let Self { store, turns, .. } = self.clone();
        // The trace goes on, but the caller's span must be able to end first.
        let trace = Span::current().context();
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
fn detached(call: &Call) -> Call {
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

/// Keeps the outcome, unless nothing was done and the same call may well succeed later.
async fn record(store: &dyn Idempotency, key: &Key, call: &Call, landed: &Landed) {
    match landed {
        Ok(Terminal::Result(result)) if is_final(call, result) => store.end(key, result).await,
        _ => store.forget(key).await,
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

/// Whether the call may do more than read.
fn writes(call: &Call) -> bool {
    call.tool().definition.category != Category::Read
}

/// The outcome of an earlier call as the outcome of this one.
fn stored(call: &Call, result: ToolResult) -> Terminal {
    call.facts.hit();
    own(call, Terminal::Result(result))
}

fn accept(call: &Call) {
    if !call.context.events.is_heard() {
        return;
    }
    let definition = &call.tool().definition;
    call.context.events.accepted(Event::Accepted {
        tool: definition.name.clone(),
        digest: definition.digest.clone(),
        deadline: clock::wall_at(call.context.deadline),
    });
}

fn key_of(call: &Call) -> Key {
    Key {
        user: call.context.user.id.clone(),
        tool: call.tool().definition.name.clone(),
        request_id: call.request_id.expect("only calls with a request_id come here"),
    }
}

fn digest_of(call: &Call) -> ArgumentsDigest {
    let canonical = json::canonical(&call.arguments);
    Sha256::digest(canonical).into()
}

fn request_id_required() -> Refusal {
    Refusal::InvalidRequest(vec![Violation {
        pointer: "request_id".to_owned(),
        rule: "required".to_owned(),
        description:
            "request_id is required for a tool that does not only read: send a new UUID, and the same one \
                      again when you repeat the call"
                .to_owned(),
    }])
}

fn outcome_unknown() -> ToolError {
    ToolError::new(
        ErrorCode::OutcomeUnknown,
        "The write was started and its outcome is not known yet. Call again with the same request_id to learn it; \
         nothing will be done twice.",
    )
}

fn full() -> Refusal {
    Refusal::Overloaded { what: "too many calls with a request_id".to_owned(), retry_after: FULL_RETRY_AFTER }
}
