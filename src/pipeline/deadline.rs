//! Deadline: one absolute instant, fixed when the call enters; everything below is bounded by it.
//!
//! Also owns the call's cancellation: by `CancelCall`, and by a caller who went away. A write that has started is not
//! cut: it goes on, detached, and only its caller's wait ends here.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{future::BoxFuture, poll};
use tokio::{pin, select, time::sleep_until};
use tower::Service;

use super::{Arrived, Call, Facts, InFlight};
use crate::{
    clock,
    context::{StopCause, ToolContext},
    contract::{Provenance, Refusal, Terminal, ToolError, ToolResult},
};

/// A caller that goes away this shortly before its deadline did so because of the deadline.
const SKEW: Duration = Duration::from_millis(50);

/// Ends every call by its deadline, at most `cap` after it came.
#[derive(Clone, Debug)]
pub struct Layer {
    cap: Duration,
    in_flight: InFlight,
}

/// See [`Layer`].
#[derive(Clone, Debug)]
pub struct Deadline<S> {
    inner: S,
    layer: Layer,
}

impl Layer {
    /// Bounds calls to `cap` and lists them while they run.
    pub fn new(cap: Duration, in_flight: InFlight) -> Self {
        Self { cap, in_flight }
    }
}

impl<S> tower::Layer<S> for Layer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Deadline<S> {
        Deadline { inner, layer: self.clone() }
    }
}

impl<S> Service<Call> for Deadline<S>
where
    S: Service<Call, Response = Terminal, Error = Refusal>,
    S::Future: Send + 'static,
{
    type Response = Terminal;
    type Error = Refusal;
    type Future = BoxFuture<'static, Result<Terminal, Refusal>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut call: Call) -> Self::Future {
        call.context.deadline = call.context.deadline.min(call.arrived.at + self.layer.cap);
        let guard = self.layer.in_flight.enter(
            call.context.user.id.clone(),
            call.context.call_id,
            call.request_id,
            call.context.cancellation.clone(),
        );
        let bound = Bound::of(&call);
        let inner = self.inner.call(call);
        Box::pin(async move {
            let _running = guard;
            bound.run(inner).await
        })
    }
}

/// What ends a call before its work is done.
struct Bound {
    context: ToolContext,
    arrived: Arrived,
    facts: Arc<Facts>,
}

impl Bound {
    fn of(call: &Call) -> Self {
        Self { context: call.context.clone(), arrived: call.arrived, facts: Arc::clone(&call.facts) }
    }

    async fn run(self, inner: impl Future<Output = Result<Terminal, Refusal>>) -> Result<Terminal, Refusal> {
        if clock::now() >= self.context.deadline {
            return self.stop(StopCause::Deadline);
        }
        pin!(inner);
        // Most reads end here, without a timer.
        if let Poll::Ready(end) = poll!(&mut inner) {
            return end;
        }
        let mut may_cancel = true;
        loop {
            select! {
                // The deadline wins a tie.
                biased;
                () = sleep_until(self.context.deadline) => return self.stop(StopCause::Deadline),
                end = &mut inner => return end,
                () = self.context.events.closed() => return self.stop(self.cause_of_leaving()),
                () = self.context.cancellation.cancelled(), if may_cancel => {
                    if !self.facts.is_detached() {
                        return self.stop(StopCause::Cancelled);
                    }
                    // A write that has started was only told.
                    may_cancel = false;
                }
            }
        }
    }

    fn cause_of_leaving(&self) -> StopCause {
        match self.context.remaining() {
            left if left <= SKEW => StopCause::Deadline,
            _ => StopCause::CallerGone,
        }
    }

    /// Tells the work below to stop; it is dropped when this returns. The first cause counts.
    fn stop(&self, cause: StopCause) -> Result<Terminal, Refusal> {
        self.context.cancellation.cancel(cause);
        match self.context.cancellation.cause().unwrap_or(cause) {
            StopCause::Deadline => Err(Refusal::DeadlineExceeded),
            StopCause::CallerGone => Err(Refusal::CallerGone),
            StopCause::Shutdown => Err(Refusal::ShuttingDown),
            StopCause::Cancelled | StopCause::Timeout => Ok(self.cancelled()),
        }
    }

    fn cancelled(&self) -> Terminal {
        let tool = self.facts.tool().map(|tool| tool.definition.name.clone());
        Terminal::Result(ToolResult {
            tool: tool.unwrap_or_default(),
            fetched_at: self.arrived.wall,
            outcome: Err(ToolError::cancelled()),
            provenance: Provenance::default(),
        })
    }
}
