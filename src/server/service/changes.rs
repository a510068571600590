//! The reads of watches of the state, and their waits between two of them.

use std::{panic::resume_unwind, pin::pin, time::Duration};

use futures_util::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use tokio::{
    select,
    sync::{mpsc, watch::Receiver},
    time::{Instant, sleep_until},
};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use toolwire_base::{clock, offload};
use toolwire_tool::context::UserId;

/// The interval at which a silent watch sends a heartbeat.
pub const HEARTBEAT: Duration = Duration::from_secs(20);

/// The longest that a watch does not read the state: a lost notification delays its events by no more than this.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Maximum number of items that wait for the reader of a stream.
const AHEAD: usize = 4;

/// The number of items that a watch reads from the state at once: few at first, since its reader may take none of them,
/// and twice as many after each full read, all of which the reader has taken.
#[derive(Clone, Copy, Debug)]
pub struct ReadSize(u32);

/// Polls a stream that reads the state in a task of its own, which ends when the returned stream is dropped. The body
/// of a response is not polled while its reader takes nothing, and a read that has begun would hold a connection for
/// as long.
pub fn read_ahead<T: Send + 'static>(
    user: &UserId,
    items: impl Stream<Item = T> + Send + 'static,
) -> BoxStream<'static, T> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    let read = async move {
        let mut items = pin!(items);
        while let Some(item) = items.next().await {
            if sender.send(item).await.is_err() {
                return;
            }
        }
    };
    let task = tokio::spawn(offload::on_behalf(user.shared(), read.in_current_span()));
    let open = (receiver, AbortOnDropHandle::new(task));
    let next = async |(mut receiver, task): (mpsc::Receiver<T>, AbortOnDropHandle<()>)| {
        let Some(item) = receiver.recv().await else {
            // A panic ends the request, as it would without the task.
            if let Err(error) = task.await
                && error.is_panic()
            {
                resume_unwind(error.into_panic());
            }
            return None;
        };
        Some((item, (receiver, task)))
    };
    stream::unfold(open, next).boxed()
}

impl ReadSize {
    const MAX: u32 = 500;

    pub const fn get(self) -> u32 {
        self.0
    }

    /// Adapts the next read to the last one.
    pub fn adapt(&mut self, was_full: bool) {
        if was_full {
            self.0 = Self::MAX.min(2 * self.0);
        }
    }

    /// Adapts the next read to the number of items of the last one.
    pub fn adapt_to(&mut self, items: usize) {
        self.adapt(u32::try_from(items).is_ok_and(|items| items >= self.0));
    }
}

impl Default for ReadSize {
    fn default() -> Self {
        Self(32)
    }
}

/// Waits until the state may have changed, for at most [`POLL_INTERVAL`] and not beyond `until`.
pub async fn wait_for_change(changed: &mut Receiver<u64>, until: Instant) {
    let until = until.min(clock::now() + POLL_INTERVAL);
    select! {
        // Without a sender it returns an error immediately, and the watch would read in a loop.
        result = changed.changed() => if result.is_err() { sleep_until(until).await },
        () = sleep_until(until) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_twice_as_large_after_a_full_one() {
        let mut size = ReadSize::default();
        let sizes = [32, 0, 63, 64, 128, 256, 500, 500].map(|items| {
            size.adapt_to(items);
            size.get()
        });
        assert_eq!(sizes, [64, 64, 64, 128, 256, 500, 500, 500]);
    }
}
