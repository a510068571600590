//! Idempotency: a repeated `request_id` meets the stored outcome, the call under way, or a conflict; it spends nothing.
//!
//! Required for anything but a read. A write runs in a task of its own from here on: it outlives its caller.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::{BoxFuture, Either, ready};
use tokio::select;
use tower::Service;

pub use self::records::Records;
use self::{
    errors::{outcome_unknown, request_id_required},
    running::{Found, Running},
    wait::{forced_end, wait},
};
use super::{Call, CallResult, InFlight};
use toolwire_contract::{Refusal, Terminal, ToolError};
use toolwire_telemetry::continuing_trace;

mod elsewhere;
mod errors;
mod key_locks;
mod of_task;
mod records;
mod running;
mod stored;
mod wait;

/// Executes each `request_id` once.
#[derive(Clone, Debug)]
pub struct Layer(Running);

/// Passes on the first call of each `request_id`, and answers repeats from its record.
#[derive(Clone, Debug)]
pub struct Idempotent<S> {
    inner: S,
    layer: Layer,
}

impl Layer {
    /// Records calls in `records`, and registers writes, which may outlive their callers, in `in_flight`. `cap` bounds
    /// every call.
    pub fn new(records: Records, in_flight: InFlight, cap: Duration) -> Self {
        Self(Running::new(records, in_flight, cap))
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
        // Cancelled before it began: nothing is recorded or executed, not even a write (spec 001).
        if call.context.cancellation.is_cancelled() {
            return Either::Right(Box::pin(ready(Ok(call.failed(ToolError::cancelled())))));
        }
        let reads = !call.writes();
        match call.request_id {
            None if reads && call.turn.is_none() => {
                call.accept();
                Either::Left(self.inner.call(call))
            }
            None if call.context.depth == 0 && !reads => {
                Either::Right(Box::pin(async { Err(request_id_required()) }))
            }
            // A call in a timeline is recorded although it cannot be repeated. The id of a nested call is derived, so
            // that a repeat of the outermost call makes the same nested calls.
            None => {
                call.request_id = Some(call.context.lineage.request_id());
                Either::Right(self.once(call))
            }
            Some(request_id) => {
                call.context.lineage = call.context.lineage.named(request_id);
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
        // The ready service moves into the future; its clone stays.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let layer = self.layer.clone();
        Box::pin(layer.once(call, inner))
    }
}

impl Layer {
    async fn once<S>(self, mut call: Call, mut inner: S) -> CallResult
    where
        S: Service<Call, Response = Terminal, Error = Refusal> + Send + 'static,
        S::Future: Send + 'static,
    {
        if call.writes() {
            // From here on it may be recorded, and a recorded write runs even if its caller leaves.
            call.facts.detach();
        }
        loop {
            let finding = continuing_trace(self.0.clone().find_or_start(call.clone(), inner));
            let found = select! {
                found = tokio::spawn(finding) => found.unwrap_or_else(|_| Found::Ended(Err(call.internal()))),
                () = forced_end(&call.context.cancellation), if call.writes() => {
                    Found::Ended(Ok(call.failed(outcome_unknown())))
                }
            };
            match found {
                Found::UnderWay(waiter) => return wait(&call, waiter).await,
                Found::Ended(result) => return result,
                Found::Asks(confirmation) => {
                    // Nothing was begun: a caller that leaves or cancels only ends its wait.
                    call.facts.attach();
                    return Ok(Terminal::ConfirmationRequired(Box::new(confirmation.required())));
                }
                Found::Elsewhere(carried, ready) => {
                    call.accept();
                    if let Some(end) = self.0.elsewhere.attach(&call, carried).await {
                        return end;
                    }
                    // Nothing was done, or the owner has ended: read the record again.
                    inner = ready;
                }
            }
        }
    }
}
