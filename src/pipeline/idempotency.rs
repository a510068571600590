//! Idempotency: a repeated `request_id` meets the stored outcome, the call under way, or a conflict; it spends nothing.
//!
//! Required for anything but a read. A write runs in a task of its own from here on: it outlives its caller.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::{BoxFuture, Either, ready};
use opentelemetry::{Context as Trace, trace::FutureExt};
use sha2::{Digest, Sha256};
use tokio::select;
use tower::Service;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

pub(super) use self::wait::own;
use self::{
    depart::detached,
    turns::Turns,
    wait::{forced_end, wait},
};
use super::{
    Call, InFlight,
    flight::{Flight, Flights, Landed},
};
use crate::{
    clock,
    context::Lineage,
    contract::{ErrorCode, Event, Refusal, Terminal, ToolError, ToolResult, Violation, json},
    registry::Category,
    store::{
        StoreError,
        idempotency::{ArgumentsDigest, Begun, Idempotency, Key},
    },
};

mod depart;
mod turns;
mod wait;

/// When to try again after all records are taken.
const FULL_RETRY_AFTER: Duration = Duration::from_mins(1);

/// When to try again after the store has failed.
const UNAVAILABLE_RETRY_AFTER: Duration = Duration::from_secs(5);

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

/// What a call with a `request_id` finds.
enum Boarded {
    /// The flight that carries it out.
    On(Flight<Landed>),
    /// Its end.
    Ended(Landed),
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
            // A repeat of the outermost call makes the same nested ones.
            None => {
                call.request_id = Some(call.context.lineage.request_id());
                Either::Right(self.once(call))
            }
            Some(request_id) => {
                call.context.lineage = Lineage::of(request_id);
                Either::Right(self.once(call))
            }
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
        if writes(&call) {
            // From here on it may be recorded, and then it is carried out whoever leaves.
            call.facts.detach();
        }
        // The trace goes on, but the caller's span must be able to end first.
        let trace = Span::current().context();
        let boarding = self.board(call.clone(), inner, trace.clone()).with_context(trace);
        let boarded = select! {
            boarded = tokio::spawn(boarding) => boarded.unwrap_or_else(|_| Boarded::Ended(Err(lost(&call)))),
            () = forced_end(&call.context.cancellation), if writes(&call) => {
                Boarded::Ended(Ok(call.failed(outcome_unknown())))
            }
        };
        match boarded {
            Boarded::On(flight) => {
                accept(&call);
                wait(&call, flight).await
            }
            Boarded::Ended(landed) => landed,
        }
    }

    /// Finds or begins the flight of a call. In a task of its own: a caller who left between the record and the departure
    /// would leave a call that is recorded as begun and never was.
    async fn board<S>(self, call: Call, inner: S, trace: Trace) -> Boarded
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        let key = key_of(&call);
        let work = detached(&call);
        // A read ends by its callers, who are listed themselves: others may wait for it.
        let listed = writes(&work).then(|| self.list(&work));
        // Until the flight is listed: another caller would find its record and no flight.
        let _turn = self.turns.of(&key).await;
        if call.context.cancellation.is_cancelled() {
            return Boarded::Ended(Ok(call.failed(ToolError::cancelled())));
        }
        let landed = match self.store.begin(&key, digest_of(&call), clock::wall()).await {
            Begun::Conflict => Err(Refusal::RequestIdReused { request_id: key.request_id.to_string() }),
            Begun::Full => Err(full()),
            Begun::Unavailable(error) => Err(unavailable(&call, &error)),
            Begun::Ended(result) => Ok(stored(&call, *result)),
            Begun::New => return Boarded::On(self.depart(&call, work, listed, inner, trace)),
            Begun::Unfinished => match self.flights.join(&key, &call.context.cancellation) {
                Some(flight) => return Boarded::On(flight),
                // A read that was lost is harmless to repeat; a write is not.
                None if !writes(&call) => return Boarded::On(self.depart(&call, work, listed, inner, trace)),
                None => Ok(call.failed(outcome_unknown())),
            },
        };
        Boarded::Ended(landed)
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

/// The detail is for operators alone.
fn unavailable(call: &Call, error: &StoreError) -> Refusal {
    let call_id = call.context.call_id;
    tracing::error!(%error, %call_id, tool_name = call.tool().definition.name, "a call cannot be recorded");
    Refusal::StateUnavailable { retry_after: UNAVAILABLE_RETRY_AFTER }
}

fn lost(call: &Call) -> Refusal {
    Refusal::Internal { call_id: call.context.call_id.to_string() }
}

fn full() -> Refusal {
    Refusal::Overloaded { what: "too many calls with a request_id".to_owned(), retry_after: FULL_RETRY_AFTER }
}
