//! The task of an HTTP/2 stream, which ends when its call's deadline has passed while the reader stalls, or when too
//! much waits for readers and the backlog has ended it.
//!
//! hyper does not poll a response body while the reader's flow-control window is closed, so a deadline in the body has
//! no effect then, and the stream would hold its body, its permit and its memory indefinitely. The deadline layer
//! therefore publishes the deadline here, and the task drops the stream (`RST_STREAM`) shortly after it. A body that is
//! still polled always acts first: its caller gets `DEADLINE_EXCEEDED` in trailers. It is the same with the end of a
//! stream of the backlog.

use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::task::TaskTracker;

use super::limits::Limit;
use toolwire_base::{backlog, clock};

/// The time after the deadline in which the body can still report it itself.
const GRACE: Duration = Duration::from_millis(100);
/// A reset within this time before the deadline counts as caused by it: the caller's clock may be slightly ahead.
const MARGIN: Duration = Duration::from_millis(50);

tokio::task_local! {
    static STREAM: Current;
}

/// What the layers publish of the request that a task answers.
#[derive(Debug, Default)]
struct Current {
    deadline: Cell<Option<Instant>>,
    backlog: RefCell<Option<backlog::Stream>>,
}

/// Spawns and tracks the streams of a connection.
#[derive(Debug, Clone)]
pub(super) struct Executor {
    pub(super) streams: TaskTracker,
}

impl<F> hyper::rt::Executor<F> for Executor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        self.streams.spawn(STREAM.scope(Current::default(), Bounded { stream, timer: None }));
    }
}

/// Runs an HTTP/1 connection, whose requests share its task one after another.
pub(super) async fn run_connection(connection: impl Future<Output = ()>) {
    STREAM.scope(Current::default(), Bounded { stream: connection, timer: None }).await;
}

/// Sets the deadline of the current stream. Does nothing outside of a stream's task.
pub(super) fn set_deadline(deadline: Instant) {
    let _ = STREAM.try_with(|it| it.deadline.set(Some(deadline)));
}

/// Clears the deadline of the current task, which may continue with another call.
pub(super) fn clear_deadline() {
    let _ = STREAM.try_with(|it| it.deadline.set(None));
}

/// Sets what waits for the peer of the current stream. `None` once its end is sent.
pub(super) fn set_backlog(backlog: Option<backlog::Stream>) {
    let _ = STREAM.try_with(|it| it.backlog.replace(backlog));
}

/// What waits for the peer of the current stream. `None` outside of a stream's task.
pub fn backlog() -> Option<backlog::Stream> {
    STREAM.try_with(|it| it.backlog.borrow().clone()).ok().flatten()
}

/// Whether the deadline of the current stream has passed, or will within [`MARGIN`].
pub(super) fn is_past_deadline() -> bool {
    deadline().is_some_and(|deadline| clock::now() + MARGIN >= deadline)
}

fn deadline() -> Option<Instant> {
    STREAM.try_with(|it| it.deadline.get()).ok().flatten()
}

pin_project! {
    /// A stream, until it ends or stalls beyond its deadline. Not an `async fn`, which would have room for the stream
    /// twice, and a task is copied several times before it runs.
    struct Bounded<F> {
        #[pin]
        stream: F,
        timer: Option<Pin<Box<Sleep>>>,
    }
}

impl<F: Future<Output = ()>> Future for Bounded<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        match this.stream.poll(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending if poll_ended(cx) => Poll::Ready(()),
            Poll::Pending => poll_stalled(this.timer, cx),
        }
    }
}

/// Whether the stream has to end for what its reader does not take. Its body was polled before, if it could be.
fn poll_ended(cx: &Context<'_>) -> bool {
    STREAM
        .try_with(|it| {
            let backlog = it.backlog.borrow();
            let Some(backlog) = backlog.as_ref().filter(|it| it.poll_ended(cx).is_ready()) else {
                return false;
            };
            Limit::report_end(backlog);
            true
        })
        .unwrap_or(false)
}

/// Ready when the deadline has passed by [`GRACE`]. The deadline may have changed since the last poll.
fn poll_stalled(timer: &mut Option<Pin<Box<Sleep>>>, cx: &mut Context<'_>) -> Poll<()> {
    let Some(deadline) = deadline() else { return Poll::Pending };
    let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(deadline + GRACE)));
    if timer.deadline() != deadline + GRACE {
        timer.as_mut().reset(deadline + GRACE);
    }
    timer.as_mut().poll(cx)
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use hyper::rt::Executor as _;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stalled_stream_ends_after_its_deadline() {
        let executor = Executor { streams: TaskTracker::new() };
        let start = clock::now();
        executor.execute(async move {
            set_deadline(start + Duration::from_secs(3));
            pending::<()>().await;
        });
        executor.streams.close();
        timeout(Duration::from_hours(1), executor.streams.wait()).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(3) + GRACE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_that_is_moved_counts_from_then_on() {
        let executor = Executor { streams: TaskTracker::new() };
        let start = clock::now();
        executor.execute(async move {
            for _ in 0..5 {
                set_deadline(clock::now() + Duration::from_secs(3));
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
            pending::<()>().await;
        });
        executor.streams.close();
        timeout(Duration::from_hours(1), executor.streams.wait()).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(11) + GRACE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_drops_near_its_deadline_knows_it() {
        struct OnDrop(tokio::sync::mpsc::UnboundedSender<bool>);
        impl Drop for OnDrop {
            fn drop(&mut self) {
                self.0.send(is_past_deadline()).unwrap();
            }
        }
        let (sender, mut dropped) = tokio::sync::mpsc::unbounded_channel();
        let executor = Executor { streams: TaskTracker::new() };
        for (lives, expected) in [(2_940, false), (2_960, true), (10_000, true)] {
            let sender = OnDrop(sender.clone());
            executor.execute(async move {
                let _sender = sender;
                set_deadline(clock::now() + Duration::from_secs(3));
                tokio::time::sleep(Duration::from_millis(lives)).await;
            });
            assert_eq!(dropped.recv().await, Some(expected), "{lives} ms");
        }
    }

    #[tokio::test]
    async fn outside_of_a_stream_there_is_no_deadline() {
        set_deadline(clock::now());
        assert!(!is_past_deadline());
    }
}
