//! The task of a feed: it reads the watches and fans their events out, through a log that streams read at their own
//! pace.

use std::{
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::{StreamExt, stream::SelectAll};
use tokio::{
    select,
    sync::watch,
    time::{sleep, sleep_until},
};

use super::{
    log::Log,
    source::Watched,
    text::{error_event, name, write},
};
use toolwire_base::clock;

/// How long a feed without streams goes on, so that a stream that was lost can be resumed.
pub(super) const RESUMABLE: Duration = Duration::from_mins(1);

/// Maximum number of events in one piece of the log.
const AT_ONCE: usize = 256;

/// The least time between two pieces, unless the first of them is full: each wakes all streams.
const INTERVAL: Duration = Duration::from_millis(200);

/// What the streams and the task that reads the watches share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    log: Mutex<Log>,
    /// Notified of each change of the log. A stream has a receiver.
    pub(super) changed: watch::Sender<()>,
    /// How many streams there have been.
    streams: AtomicU64,
}

impl Shared {
    /// The notifications for another stream; `None` once the log is over.
    pub(super) fn join(&self) -> Option<watch::Receiver<()>> {
        let log = self.lock();
        if log.is_over() {
            return None;
        }
        self.streams.fetch_add(1, Relaxed);
        Some(self.changed.subscribe())
    }

    fn append(&self, text: String, ends: Vec<usize>) {
        self.lock().append(text, ends);
        self.changed.send_replace(());
    }

    fn end(&self) {
        self.lock().end();
        self.changed.send_replace(());
    }

    /// Ends the log unless there is a stream. Returns whether it did.
    fn end_if_unused(&self) -> bool {
        let mut log = self.lock();
        let is_unused = self.changed.receiver_count() == 0;
        if is_unused {
            log.end();
        }
        is_unused
    }

    /// Waits until there has been no stream for a while.
    async fn wait_until_unused(&self) {
        loop {
            self.changed.closed().await;
            let streams = self.streams.load(Relaxed);
            sleep(RESUMABLE).await;
            if self.streams.load(Relaxed) == streams {
                return;
            }
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the log when the task ends, by a panic too: streams would wait for its events.
struct EndOnDrop(Arc<Shared>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Runs until a watch fails, or there have been no streams for a while.
pub(super) async fn fan_out(shared: Arc<Shared>, id: String, events: SelectAll<Watched>) {
    let _end = EndOnDrop(Arc::clone(&shared));
    let mut reading = pin!(read_on(&shared, &id, events));
    loop {
        select! {
            () = &mut reading => return,
            () = shared.wait_until_unused() => if shared.end_if_unused() { return },
        }
    }
}

/// Appends what the watches send, until one of them fails.
async fn read_on(shared: &Shared, id: &str, mut events: SelectAll<Watched>) {
    let mut due = clock::now();
    while let Some(event) = events.next().await {
        let mut piece = vec![event];
        let mut is_due = pin!(sleep_until(due));
        // What is ready until then is one piece, so that streams are woken once for it. The watches are polled
        // meanwhile: one that is not may hold a connection to the state.
        while piece.len() < AT_ONCE {
            select! {
                biased;
                event = events.next() => match event {
                    Some(event) => piece.push(event),
                    None => break,
                },
                () = &mut is_due => break,
            }
        }
        due = clock::now() + INTERVAL;
        let (mut text, mut ends) = (String::new(), Vec::new());
        let (first, mut has_failed) = (shared.lock().next(), false);
        for (topic, event) in piece {
            match event.map(|value| name(topic, &value)) {
                Ok(None) => continue,
                Ok(Some((name, data))) => {
                    let next = first + ends.len() as u64 + 1;
                    write(&mut text, &format!("{id}.{next}"), &name, &data);
                }
                Err(status) => {
                    text.push_str(&error_event(status));
                    has_failed = true;
                }
            }
            ends.push(text.len());
            if has_failed {
                break;
            }
        }
        // Heartbeats alone wake no stream.
        if !ends.is_empty() {
            shared.append(text, ends);
        }
        if has_failed {
            return;
        }
    }
}
