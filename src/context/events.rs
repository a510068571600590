//! The way of events from a tool to its caller: bounded, and unable to express an end.
//!
//! Sequence numbers are given where events are received, so that a dropped one leaves no gap.

use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::contract::Event;

/// How many events may wait for a slow reader.
const CAPACITY: usize = 16;

/// Takes a call's events. Cloning it makes another handle of the same.
#[derive(Clone, Debug)]
pub struct EventSink(Option<mpsc::Sender<Event>>);

/// The receiving end: what a face renders.
pub type Events = mpsc::Receiver<Event>;

impl EventSink {
    /// A sink and its receiving end.
    pub fn channel() -> (Self, Events) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        (Self(Some(sender)), receiver)
    }

    /// A sink whose events nobody reads.
    pub fn discarding() -> Self {
        Self(None)
    }

    /// Says that the call has begun.
    pub fn accepted(&self, event: Event) {
        self.offer(event);
    }

    /// Says how far the work is. Dropped when the reader is slow: the next one says more.
    pub fn progress(&self, fraction: Option<f64>, message: impl Into<String>) {
        self.offer(Event::Progress { fraction, message: message.into() });
    }

    /// Hands over a part of the data, waiting for a slow reader. Lost when the reader is gone.
    pub async fn chunk(&self, data: Map<String, Value>) {
        if let Some(sender) = &self.0
            && sender.send(Event::Chunk(data)).await.is_err()
        {
            // Lets those who watch over the call notice before the tool runs on to its end.
            tokio::task::yield_now().await;
        }
    }

    /// Waits until nobody can read any more. Never, if nobody could.
    pub async fn closed(&self) {
        match &self.0 {
            Some(sender) => sender.closed().await,
            None => std::future::pending().await,
        }
    }

    fn offer(&self, event: Event) {
        if let Some(sender) = &self.0 {
            let _ = sender.try_send(event);
        }
    }
}
