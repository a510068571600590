//! Idempotency: a repeated `request_id` gets the stored outcome, joins the call in flight, or is refused as a conflict.
//! A repeat consumes nothing.
//!
//! Required for anything but a read. A write runs in a task of its own from here on: it outlives its caller.

use std::time::Duration;

use futures_util::future::{BoxFuture, Either, ready};
use tokio::select;

pub(super) use self::key_locks::KeyLocks;
pub use self::{equal_writes::ResumeEqualWrites, records::Records};
use self::{
    errors::{outcome_unknown, request_id_required},
    keyed_calls::{KeyedCalls, Resolution},
    wait::{forced_end, wait},
};
use super::{Call, CallResult, InFlight, Inner, Stage};
use toolwire_base::{
    middleware::{Middleware, take_ready},
    offload,
};
use toolwire_contract::{Terminal, ToolError};
use toolwire_telemetry::continuing_trace;

mod equal_writes;
mod errors;
mod key_locks;
mod keyed_calls;
mod outcome;
mod records;
mod remote_calls;
mod replay;
mod task_records;
mod wait;
mod work;

/// Passes on the first call of each `request_id`, and answers repeats from its record.
#[derive(Clone, Debug)]
pub struct Idempotent(KeyedCalls);

impl Idempotent {
    /// Records calls in `records`, and registers writes, which may outlive their callers, in `in_flight`. `cap` bounds
    /// every call.
    pub fn new(records: Records, in_flight: InFlight, cap: Duration) -> Self {
        Self(KeyedCalls::new(records, in_flight, cap))
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for Idempotent {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, mut call: Box<Call>, inner: &mut S) -> Self::Future {
        // Cancelled before it began: nothing is recorded or executed, not even a write.
        if call.context.cancellation.is_cancelled() {
            return Either::Right(Box::pin(ready(Ok(call.failed(ToolError::cancelled())))));
        }
        let reads = !call.writes();
        match call.request_id {
            None if reads && call.step_ref.is_none() => {
                call.accept();
                Either::Left(inner.call(call))
            }
            None if call.context.depth == 0 && !reads => {
                Either::Right(Box::pin(async { Err(request_id_required()) }))
            }
            // A call in a timeline is recorded although it cannot be repeated. The id of a nested call is derived, so
            // that a repeat of the outermost call makes the same nested calls.
            None => {
                call.request_id = Some(call.context.lineage.request_id());
                Either::Right(Box::pin(self.clone().call_once(call, take_ready(inner))))
            }
            Some(request_id) => {
                call.context.lineage = call.context.lineage.with_request_id(request_id);
                Either::Right(Box::pin(self.clone().call_once(call, take_ready(inner))))
            }
        }
    }
}

impl Idempotent {
    async fn call_once(self, mut call: Box<Call>, mut inner: impl Inner) -> CallResult {
        call.facts.note(Stage::Recording);
        if call.writes() {
            // Set before the record can exist: a recorded write runs even if its caller leaves.
            call.facts.detach();
        }
        loop {
            // Spawned: a caller that leaves must not drop it between the record and the start of the work.
            let resolving = continuing_trace(self.0.clone().join_or_start(call.clone(), inner));
            let resolution = select! {
                // The task fails only if it panicked.
                resolution = tokio::spawn(offload::on_behalf(offload::user(), resolving)) => {
                    resolution.unwrap_or_else(|_| Resolution::Ended(Err(call.internal())))
                }
                () = forced_end(&call.context.cancellation), if call.writes() => {
                    Resolution::Ended(Ok(call.failed(outcome_unknown())))
                }
            };
            match resolution {
                Resolution::InFlight(waiter) => return wait(&call, waiter).await,
                Resolution::Ended(result) => return result,
                Resolution::AwaitsConfirmation(confirmation) => {
                    // Nothing was begun: a caller that leaves or cancels only ends its wait.
                    call.facts.attach();
                    let required = confirmation.required(self.0.console());
                    tracing::debug!(
                        call_id = %call.context.call_id,
                        confirmation_id = %required.confirmation_id,
                        url = required.url,
                        "a call awaits confirmation"
                    );
                    return Ok(Terminal::ConfirmationRequired(Box::new(required)));
                }
                Resolution::Remote(remote, service) => {
                    call.accept();
                    if let Some(end) = self.0.remote_calls.attach(&call, remote).await {
                        return end;
                    }
                    // Nothing was done, or the owner has ended: read the record again.
                    inner = service;
                }
            }
        }
    }
}
