//! A deadline with a lazy timer: it is created at the first wait, so that a call that never waits has none.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::stream;
use toolwire_base::clock;

/// A deadline, or none.
#[derive(Debug, Default)]
pub(super) struct Timer {
    deadline: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// The stall time-out: maximum time in which the reader takes nothing.
    stall: Option<Duration>,
}

impl Timer {
    pub(super) fn new(deadline: Option<Instant>) -> Self {
        Self { deadline, ..Self::default() }
    }

    pub(super) fn with_stall(self, stall: Option<Duration>) -> Self {
        Self { stall, ..self }
    }

    /// Moves the timer out, with its registration.
    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    pub(super) fn counts_stalls(&self) -> bool {
        self.stall.is_some()
    }

    /// Whether the deadline has passed, read from the clock.
    pub(super) fn is_past(&self) -> bool {
        self.deadline.is_some_and(|deadline| clock::now() >= deadline)
    }

    /// Ready when the deadline has passed; never without a deadline.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline))).as_mut().poll(cx)
    }

    /// Starts the stall time-out: the reader was given a frame.
    pub(super) fn start_stall(&self) {
        if let Some(stall) = self.stall {
            let stalled = clock::now() + stall;
            stream::set_deadline(self.deadline.map_or(stalled, |deadline| deadline.min(stalled)));
        }
    }

    /// Clears the stall time-out: the reader has taken everything and waits for more.
    pub(super) fn clear_stall(&self) {
        if self.stall.is_some() {
            self.deadline.map_or_else(stream::clear_deadline, stream::set_deadline);
        }
    }

    /// Publishes the deadline to the stream's task, which enforces it while the body is not polled.
    pub(super) fn publish(&self) {
        if let Some(deadline) = self.deadline {
            stream::set_deadline(deadline);
        }
    }
}
