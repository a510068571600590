//! A deadline whose timer is armed by the first wait, so that a call that never waits never registers one.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::faces::transport::stream;
use toolwire_base::clock;

/// A deadline, or none.
#[derive(Debug, Default)]
pub(super) struct Timer {
    deadline: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// How long a reader may take no more of the body.
    stall: Option<Duration>,
}

impl Timer {
    pub(super) fn new(deadline: Option<Instant>) -> Self {
        Self { deadline, ..Self::default() }
    }

    /// The same, but the stream also ends when its reader takes nothing for so long.
    pub(super) fn stalling(self, stall: Option<Duration>) -> Self {
        Self { stall, ..self }
    }

    /// Moves the timer on, armed as it is.
    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Whether the stream ends when its reader takes nothing for some time.
    pub(super) fn counts_stalls(&self) -> bool {
        self.stall.is_some()
    }

    /// Whether the deadline has passed, by the clock.
    pub(super) fn is_past(&self) -> bool {
        self.deadline.is_some_and(|deadline| clock::now() >= deadline)
    }

    /// Ready when the deadline has passed; never, without one.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline))).as_mut().poll(cx)
    }

    /// Counts a stall from now on: something was given to the reader.
    pub(super) fn gave(&self) {
        if let Some(stall) = self.stall {
            let stalled = clock::now() + stall;
            stream::set_deadline(self.deadline.map_or(stalled, |deadline| deadline.min(stalled)));
        }
    }

    /// Counts no stall any longer: the reader has taken everything, and waits for more.
    pub(super) fn caught_up(&self) {
        if self.stall.is_some() {
            self.deadline.map_or_else(stream::clear_deadline, stream::set_deadline);
        }
    }

    /// Tells the stream whose task this is, for when nobody polls the body.
    pub(super) fn tell_stream(&self) {
        if let Some(deadline) = self.deadline {
            stream::set_deadline(deadline);
        }
    }
}
