//! Idempotency: a repeated `request_id` meets the stored outcome, the call under way, or a conflict; it spends nothing.
//!
//! Required for anything but a read. A write runs in a task of its own from here on: it outlives its caller.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::{BoxFuture, Either, ready};
use sha2::{Digest, Sha256};
use tokio::select;
use tower::Service;

use self::{
    key_locks::KeyLocks,
    start::detached,
    wait::{forced_end, wait},
};
use super::{Call, CallResult, InFlight};
use crate::{
    clock,
    context::Lineage,
    contract::{
        ErrorCode, Event, Refusal, Terminal, ToolError, ToolResult, Violation, json, payload::StoredPayload,
    },
    registry::Category,
    single_flight::{SingleFlight, Waiter},
    store::{
        StoreError,
        idempotency::{ArgumentsDigest, Begun, Idempotency, Key},
    },
    telemetry::continuing_trace,
};

mod key_locks;
mod start;
mod wait;

/// When to try again after all records are taken.
const FULL_RETRY_AFTER: Duration = Duration::from_mins(1);

/// When to try again after the store has failed.
const UNAVAILABLE_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Carries each `request_id` out once.
#[derive(Clone, Debug)]
pub struct Layer {
    store: Arc<dyn Idempotency>,
    running: SingleFlight<Key, CallResult>,
    key_locks: KeyLocks,
    in_flight: InFlight,
}

/// See [`Layer`].
#[derive(Clone, Debug)]
pub struct Idempotent<S> {
    inner: S,
    layer: Layer,
}

/// What a call with a `request_id` finds.
enum Found {
    /// It is being carried out.
    Running(Waiter<CallResult>),
    /// Its end.
    Ended(CallResult),
}

impl Layer {
    /// Remembers in the given store, and lists what may outlive its callers.
    pub fn new(store: Arc<dyn Idempotency>, in_flight: InFlight) -> Self {
        Self { store, running: SingleFlight::default(), key_locks: KeyLocks::default(), in_flight }
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
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

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
    fn once(&mut self, call: Call) -> BoxFuture<'static, CallResult> {
        // The ready service goes with the call; its clone stays.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let layer = self.layer.clone();
        Box::pin(layer.once(call, inner))
    }
}

impl Layer {
    async fn once<S>(self, call: Call, inner: S) -> CallResult
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        if writes(&call) {
            // From here on it may be recorded, and then it is carried out whoever leaves.
            call.facts.detach();
        }
        let finding = continuing_trace(self.find_or_start(call.clone(), inner));
        let found = select! {
            found = tokio::spawn(finding) => found.unwrap_or_else(|_| Found::Ended(Err(call.internal()))),
            () = forced_end(&call.context.cancellation), if writes(&call) => {
                Found::Ended(Ok(call.failed(outcome_unknown())))
            }
        };
        match found {
            Found::Running(waiter) => {
                accept(&call);
                wait(&call, waiter).await
            }
            Found::Ended(result) => result,
        }
    }

    /// Finds the work of a call, or starts it. Runs in a task of its own: a caller who left between the record and the start
    /// would leave a call that is recorded as begun and never was.
    async fn find_or_start<S>(self, call: Call, inner: S) -> Found
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        let key = key_of(&call);
        let work = detached(&call);
        // A read ends by its callers, who are listed themselves: others may wait for it.
        let listed = writes(&work).then(|| self.list(&work));
        // Until the work can be joined: another caller would find its record and no work.
        let _lock = self.key_locks.lock(&key).await;
        if call.context.cancellation.is_cancelled() {
            return Found::Ended(Ok(call.failed(ToolError::cancelled())));
        }
        let begun = self.store.begin(&key, digest_of(&call), clock::wall()).await;
        let start = || self.start(&call, work, listed, inner);
        let result = match begun {
            Begun::Conflict => Err(Refusal::RequestIdReused { request_id: key.request_id.to_string() }),
            Begun::Full => Err(full()),
            Begun::Unavailable(error) => Err(unavailable(&call, &error)),
            Begun::Ended(result) => match readable(&call, *result) {
                Some(result) => Ok(stored(&call, result)),
                None => return self.resume(&key, &call, start),
            },
            Begun::New => return Found::Running(start()),
            Begun::Unfinished => return self.resume(&key, &call, start),
        };
        Found::Ended(result)
    }

    /// Joins a call whose end is not recorded, or carries it out again.
    fn resume(&self, key: &Key, call: &Call, start: impl FnOnce() -> Waiter<CallResult>) -> Found {
        match self.running.join(key, &call.context.cancellation) {
            Some(waiter) => Found::Running(waiter),
            // Its process is gone. A read is harmless to repeat; a write is not.
            None if !writes(call) => Found::Running(start()),
            None => Found::Ended(Ok(call.failed(outcome_unknown()))),
        }
    }
}

/// Whether the call may do more than read.
fn writes(call: &Call) -> bool {
    call.tool().definition.category != Category::Read
}

/// The outcome of an earlier call. One that cannot be read any more counts as unfinished: nothing is carried out twice.
fn readable(call: &Call, result: ToolResult<StoredPayload>) -> Option<ToolResult> {
    let read = result.read(call.tool().output.as_ref());
    let tool_name = &call.tool().definition.name;
    read.inspect_err(|error| tracing::warn!(tool_name, %error, "the outcome of an earlier call is lost")).ok()
}

/// The outcome of an earlier call as the outcome of this one.
fn stored(call: &Call, result: ToolResult) -> Terminal {
    call.facts.hit();
    call.adopt(Terminal::Result(result))
}

fn accept(call: &Call) {
    if !call.context.events.has_reader() {
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

fn full() -> Refusal {
    Refusal::Overloaded { what: "too many calls with a request_id".to_owned(), retry_after: FULL_RETRY_AFTER }
}
