//! Deadline: one absolute instant, fixed when the call arrives, bounds everything below.
//!
//! Also owns the call's cancellation: by `CancelCall`, and by a caller that disconnects. A write that has started is
//! not cut: it continues, detached, and only its caller's wait ends here.

use std::{sync::Arc, task::Poll, time::Duration};

use futures_util::{future::BoxFuture, poll};
use tokio::{pin, select, time::sleep_until};

use super::{ArrivalTime, Call, CallResult, Facts, InFlight, Inner, in_flight::Part};
use toolwire_base::{clock, middleware::Middleware};
use toolwire_contract::{Provenance, Refusal, Terminal, ToolError, ToolResult};
use toolwire_tool::context::{Cancellation, Deadline, EventSink, StopCause, ToolContext};

/// A caller that disconnects within this time before its deadline is taken to have reached it: the timers of client and
/// server differ by their clocks and by the way of the request.
const SKEW: Duration = Duration::from_millis(50);

/// Lists calls for cancellation, and ends each by its deadline, at most `cap` after its arrival.
#[derive(Clone, Debug)]
pub struct EnforceDeadline {
    cap: Duration,
    in_flight: InFlight,
}

impl EnforceDeadline {
    /// Bounds calls to `cap`, and lists them in `in_flight` while they run.
    pub fn new(cap: Duration, in_flight: InFlight) -> Self {
        Self { cap, in_flight }
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for EnforceDeadline {
    type Future = BoxFuture<'static, CallResult>;

    fn call(&self, mut call: Box<Call>, inner: &mut S) -> Self::Future {
        call.context.deadline = call.context.deadline.cap(call.arrived.at + self.cap);
        call.begin_stages();
        let guard = self.in_flight.enter(&call, call.context.cancellation.clone(), Part::Call);
        let (limits, facts) = (Limits::of(&call), Arc::clone(&call.facts));
        let inner = inner.call(call);
        Box::pin(async move {
            let end = limits.run(inner).await;
            guard.end(&end, &facts);
            end
        })
    }
}

/// The events that can end a call before its work is done.
struct Limits {
    deadline: Deadline,
    cancellation: Cancellation,
    events: EventSink,
    arrived: ArrivalTime,
    facts: Arc<Facts>,
}

impl Limits {
    fn of(call: &Call) -> Self {
        let ToolContext { deadline, cancellation, events, .. } = &call.context;
        Self {
            deadline: *deadline,
            cancellation: cancellation.clone(),
            events: events.clone(),
            arrived: call.arrived,
            facts: Arc::clone(&call.facts),
        }
    }

    async fn run(self, inner: impl Future<Output = CallResult>) -> CallResult {
        if clock::now() >= self.deadline.at() {
            return self.stop(StopCause::Deadline);
        }
        pin!(inner);
        // Most reads are ready at the first poll and need no timer.
        if let Poll::Ready(end) = poll!(&mut inner) {
            // Work that never yields cannot be cut; its result is discarded if the deadline has passed.
            return if clock::now() < self.deadline.at() { end } else { self.stop(StopCause::Deadline) };
        }
        let mut is_cancellable = true;
        loop {
            select! {
                // The deadline wins a tie. A result that is ready wins over a caller that left or cancelled meanwhile.
                biased;
                () = sleep_until(self.deadline.at()) => return self.stop(StopCause::Deadline),
                end = &mut inner => return end,
                () = self.events.closed() => return self.stop(self.cause_of_leaving()),
                () = self.cancellation.cancelled(), if is_cancellable => {
                    if !self.facts.is_detached() {
                        return self.stop(StopCause::Cancelled);
                    }
                    // A write that has started sees the cancellation itself and may stop; wait for its end. A
                    // cancellation stays cancelled, so another wait for it would return immediately.
                    is_cancellable = false;
                }
            }
        }
    }

    fn cause_of_leaving(&self) -> StopCause {
        if self.deadline.remaining() <= SKEW { StopCause::Deadline } else { StopCause::CallerGone }
    }

    /// Cancels the work below; the caller drops it. The first cause decides the result. Detached work continues, so its
    /// result is that of the wait, which ended by `cause`.
    fn stop(&self, cause: StopCause) -> CallResult {
        self.cancellation.cancel(cause);
        let first = self.cancellation.cause().filter(|_| !self.facts.is_detached());
        match first.unwrap_or(cause) {
            StopCause::Deadline => Err(Refusal::DeadlineExceeded),
            StopCause::CallerGone => Err(Refusal::CallerGone),
            StopCause::Shutdown => Err(Refusal::ShuttingDown),
            // `Timeout` reaches a nested call only: the tool that made it has timed out.
            StopCause::Cancelled | StopCause::Timeout => self.cancelled_result(),
        }
    }

    /// The result of a cancelled call; a refusal if its tool is not resolved yet, since a result names its tool.
    fn cancelled_result(&self) -> CallResult {
        let tool = self.facts.tool().ok_or(Refusal::CallerGone)?;
        Ok(Terminal::Result(ToolResult {
            tool: tool.definition.name.clone(),
            fetched_at: self.arrived.wall,
            outcome: Err(ToolError::cancelled()),
            provenance: Provenance::default(),
            kept: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::{Instant, sleep};
    use tower::{Layer as _, ServiceExt, service_fn};

    use super::*;
    use crate::pipeline::Target;
    use toolwire_base::middleware::Layer;
    use toolwire_contract::arguments::Arguments;
    use toolwire_tool::context::{EventSink, User};

    const CAP: Duration = Duration::from_mins(2);

    fn call(timeout: Duration) -> Call {
        let user = User::new("demo".parse().expect("valid"));
        let context = ToolContext::new(user, clock::now() + timeout);
        Call::new(context, Target::Tool("x".to_owned()), Ok(Arguments::new()))
    }

    fn done(call: &Call) -> Terminal {
        let payload = toolwire_contract::Payload::from_json(serde_json::json!({}));
        Terminal::Result(ToolResult {
            tool: "x".parse().expect("a name"),
            fetched_at: call.arrived.wall,
            outcome: Ok(payload),
            provenance: Provenance::default(),
            kept: None,
        })
    }

    async fn run<F>(call: Call, work: impl Fn(Box<Call>) -> F + Clone + Send + Sync + 'static) -> CallResult
    where
        F: Future<Output = CallResult> + Send + 'static,
    {
        Layer(EnforceDeadline::new(CAP, InFlight::default()))
            .layer(service_fn(work))
            .oneshot(Box::new(call))
            .await
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_ends_at_its_deadline() {
        let started = clock::now();
        let call = call(Duration::from_millis(200));
        let context = call.context.clone();
        let end = run(call, |_| pending()).await;
        assert_eq!(end.unwrap_err(), Refusal::DeadlineExceeded);
        assert_eq!(clock::now() - started, Duration::from_millis(200));
        assert_eq!(context.cancellation.cause(), Some(StopCause::Deadline));
    }

    #[tokio::test(start_paused = true)]
    async fn no_call_outlasts_the_cap() {
        let started = clock::now();
        let end = run(call(Duration::from_hours(2)), |_| pending()).await;
        assert_eq!(end.unwrap_err(), Refusal::DeadlineExceeded);
        assert_eq!(clock::now() - started, CAP);
    }

    #[tokio::test(start_paused = true)]
    async fn the_deadline_wins_a_tie() {
        let end = run(call(Duration::from_millis(200)), |call| async move {
            sleep(Duration::from_millis(200)).await;
            Ok(done(&call))
        });
        assert_eq!(end.await.unwrap_err(), Refusal::DeadlineExceeded);
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_is_ready_at_once_needs_no_timer_but_some_time() {
        assert!(run(call(Duration::from_millis(1)), |call| ready(Ok(done(&call)))).await.is_ok());
        let end = run(call(Duration::ZERO), |call| ready(Ok(done(&call)))).await;
        assert_eq!(end.unwrap_err(), Refusal::DeadlineExceeded);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_who_leaves_stops_the_work() {
        assert_eq!(leaving(Duration::from_secs(1)).await, Some(StopCause::CallerGone));
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_who_leaves_just_before_the_deadline_left_because_of_it() {
        assert_eq!(leaving(Duration::from_millis(4_950)).await, Some(StopCause::Deadline));
    }

    /// The cause recorded for a caller with a deadline of 5 s who leaves after the given time.
    async fn leaving(after: Duration) -> Option<StopCause> {
        let (sink, events) = EventSink::not_accepted();
        let mut call = call(Duration::from_secs(5));
        call.context.events = sink;
        let context = call.context.clone();
        tokio::spawn(async move {
            sleep(after).await;
            drop(events);
        });
        let left: Instant = clock::now() + after;
        assert!(run(call, |_| pending()).await.is_err());
        assert_eq!(clock::now(), left);
        context.cancellation.cause()
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_cancelled_before_its_tool_is_known_is_refused() {
        let call = call(Duration::from_secs(5));
        let cancellation = call.context.cancellation.clone();
        tokio::spawn(async move {
            sleep(Duration::from_secs(1)).await;
            cancellation.cancel(StopCause::Cancelled);
        });
        assert_eq!(run(call, |_| pending()).await.unwrap_err(), Refusal::CallerGone);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_has_started_is_only_notified() {
        let call = call(Duration::from_secs(5));
        call.facts.detach();
        call.context.cancellation.cancel(StopCause::Cancelled);
        let end = run(call, |call| async move {
            sleep(Duration::from_secs(1)).await;
            Ok(done(&call))
        });
        assert!(matches!(end.await, Ok(Terminal::Result(result)) if result.outcome.is_ok()));
    }
}
