//! The requests under way on a connection, so that one on which nothing happens can be closed.
//!
//! Kept only where both versions of HTTP are spoken: browsers and scripts leave connections open and forget them. A
//! gRPC client keeps one on purpose, and is asked by pings whether it lives.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

pub(super) use self::lingering_close::LingeringClose;
use super::{protocols::Either, stream};
use toolwire_base::clock;

mod lingering_close;

/// What is under way on one connection. Times are in milliseconds since its start.
#[derive(Debug)]
pub(super) struct Requests {
    start: Instant,
    under_way: AtomicUsize,
    /// When the last one ended.
    idle_since: AtomicU64,
    /// When the first byte of the next one came over HTTP/1; none has come yet if it is not after `idle_since`.
    begun: AtomicU64,
    /// Fires when the next request is better made on another connection.
    leaving: CancellationToken,
}

/// One request under way, until it is dropped.
#[derive(Debug)]
pub(super) struct UnderWay(Arc<Requests>);

impl Requests {
    pub(super) fn new(leaving: CancellationToken) -> Self {
        let (under_way, start) = (AtomicUsize::new(0), clock::now());
        Self { start, under_way, idle_since: AtomicU64::new(0), begun: AtomicU64::new(0), leaving }
    }

    /// Bytes came over HTTP/1.
    pub(super) fn heard(&self) {
        let idle_since = self.idle_since.load(Relaxed);
        if self.under_way.load(Relaxed) == 0 && self.begun.load(Relaxed) <= idle_since {
            self.begun.store(self.now().max(idle_since + 1), Relaxed);
        }
    }

    /// Ready when a request takes too long to begin, or none has been under way for too long.
    async fn silence(&self, bounds: Either) {
        loop {
            let now = clock::now();
            match self.due(bounds) {
                Some(due) if due <= now => return,
                // Nothing that happens from now on is due any sooner.
                due => {
                    let look_again = now + bounds.header_timeout.min(bounds.idle_timeout);
                    sleep_until(due.map_or(look_again, |due| due.min(look_again))).await;
                }
            }
        }
    }

    /// When the connection is to be closed, as things stand.
    fn due(&self, bounds: Either) -> Option<Instant> {
        if self.under_way.load(Relaxed) > 0 {
            return None;
        }
        let (idle_since, begun) = (self.idle_since.load(Relaxed), self.begun.load(Relaxed));
        let (since, bound) = if begun > idle_since {
            (begun, bounds.header_timeout)
        } else {
            (idle_since, bounds.idle_timeout)
        };
        Some(self.start + Duration::from_millis(since) + bound)
    }

    pub(super) fn begin(self: Arc<Self>) -> UnderWay {
        self.under_way.fetch_add(1, Relaxed);
        UnderWay(self)
    }

    fn now(&self) -> u64 {
        u64::try_from(clock::now().duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }
}

impl UnderWay {
    /// Whether the next request is better made on another connection.
    pub(super) fn is_leaving(&self) -> bool {
        self.0.leaving.is_cancelled()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // Not before it began: one that was over within its millisecond has ended, too.
        let ended = self.0.now().max(self.0.begun.load(Relaxed));
        self.0.idle_since.store(ended, Relaxed);
        self.0.under_way.fetch_sub(1, Relaxed);
        // Over HTTP/1 the task is the connection's, which goes on.
        stream::clear_deadline();
    }
}

/// The end of a connection by silence; never where nobody wants it.
pub(super) async fn silence(requests: Option<&Requests>, bounds: Option<Either>) {
    match (requests, bounds) {
        (Some(requests), Some(bounds)) => requests.silence(bounds).await,
        _ => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const BOUNDS: Either = Either {
        header_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_mins(1),
        stall_timeout: Duration::from_secs(30),
        max_header_bytes: 0,
    };

    fn requests() -> Arc<Requests> {
        Arc::new(Requests::new(CancellationToken::new()))
    }

    async fn closed_after(requests: &Requests) -> Duration {
        let began = clock::now();
        requests.silence(BOUNDS).await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_goes_after_a_while() {
        assert_eq!(closed_after(&requests()).await, BOUNDS.idle_timeout);
        let used = requests();
        drop(Arc::clone(&used).begin());
        assert_eq!(closed_after(&used).await, BOUNDS.idle_timeout);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_over_at_once_leaves_its_connection_as_long_as_any_other() {
        let requests = requests();
        requests.heard();
        drop(Arc::clone(&requests).begin());
        // It counts as begun in the millisecond after it was heard.
        assert_eq!(closed_after(&requests).await, BOUNDS.idle_timeout + Duration::from_millis(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_does_not_get_on_goes_soon_however_often_a_byte_comes() {
        let requests = requests();
        let bytes = async {
            loop {
                requests.heard();
                tokio::time::sleep(Duration::from_millis(700)).await;
            }
        };
        tokio::select! {
            // Times are kept in milliseconds, and the first byte comes in the one after the start.
            after = closed_after(&requests) => {
                assert_eq!(after, BOUNDS.header_timeout + Duration::from_millis(1));
            }
            () = bytes => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_under_way_keeps_its_connection() {
        let (requests, began) = (requests(), clock::now());
        requests.heard();
        let under_way = Arc::clone(&requests).begin();
        let ended = async {
            advance(Duration::from_hours(1)).await;
            drop(under_way);
        };
        tokio::join!(ended, closed_after(&requests));
        let after = began.elapsed();
        assert!(after >= Duration::from_hours(1) + BOUNDS.idle_timeout, "{after:?}");
    }
}
