//! The requests in flight on a connection, so that an idle one can be closed.
//!
//! Tracked only on the HTTP listener, where browsers and scripts leave connections open. gRPC clients keep idle
//! connections on purpose, and pings detect dead ones.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    task::Context,
    time::Duration,
};

use hyper::body::Incoming;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

pub(super) use self::lingering_close::LingeringClose;
use self::unread_body::UnreadBody;
use super::{protocols::HttpLimits, stream};
use toolwire_base::clock;

mod lingering_close;
mod unread_body;

/// The requests in flight on one connection. Times are in milliseconds since its start.
#[derive(Debug)]
pub(super) struct Requests {
    start: Instant,
    under_way: AtomicUsize,
    /// The end of the last request.
    idle_since: AtomicU64,
    /// Arrival of the first byte of the next HTTP/1 request; not after `idle_since` if none has arrived.
    begun: AtomicU64,
    /// The body of the HTTP/1 request in flight, until it is read to its end.
    unread_body: UnreadBody,
    /// Cancelled when the next request should use another connection.
    leaving: CancellationToken,
}

/// A request in flight, until it is dropped.
#[derive(Debug)]
pub(super) struct RequestGuard(Arc<Requests>);

impl Requests {
    pub(super) fn new(leaving: CancellationToken) -> Self {
        Self {
            start: clock::now(),
            under_way: AtomicUsize::new(0),
            idle_since: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            unread_body: UnreadBody::default(),
            leaving,
        }
    }

    /// Records that bytes arrived over HTTP/1.
    pub(super) fn record_bytes(&self) {
        let idle_since = self.idle_since.load(Relaxed);
        if self.under_way.load(Relaxed) == 0 && self.begun.load(Relaxed) <= idle_since {
            self.begun.store(self.now().max(idle_since + 1), Relaxed);
        }
    }

    /// Waits until the connection must be closed: a request takes too long to begin, or none is in flight for too long.
    async fn wait_until_idle(&self, bounds: HttpLimits) {
        loop {
            let now = clock::now();
            match self.closes_at(bounds) {
                Some(due) if due <= now => return,
                // No event from now on leads to an earlier time than this.
                due => {
                    let look_again = now + bounds.header_timeout.min(bounds.idle_timeout);
                    sleep_until(due.map_or(look_again, |due| due.min(look_again))).await;
                }
            }
        }
    }

    /// The time at which the connection must be closed if its state does not change; `None` while a request is in
    /// flight.
    fn closes_at(&self, bounds: HttpLimits) -> Option<Instant> {
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

    /// The time until which the peer may read the last response. Where bytes have come since, that begins now.
    fn read_by(&self, length: Duration) -> Instant {
        let (idle_since, begun) = (self.idle_since.load(Relaxed), self.begun.load(Relaxed));
        let since = if begun > idle_since { self.now() } else { idle_since };
        self.start + Duration::from_millis(since) + length
    }

    pub(super) fn begin(self: Arc<Self>) -> RequestGuard {
        self.under_way.fetch_add(1, Relaxed);
        RequestGuard(self)
    }

    /// A request has a body.
    pub(super) fn body_begins(&self) {
        self.unread_body.begin();
    }

    pub(super) fn body_is_read(&self) {
        self.unread_body.end();
    }

    /// No reader of the body is left.
    pub(super) fn leave_body(&self, body: Incoming) {
        self.unread_body.leave(body);
    }

    fn now(&self) -> u64 {
        u64::try_from(clock::now().duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }
}

impl RequestGuard {
    /// Whether the next request should use another connection.
    pub(super) fn is_leaving(&self) -> bool {
        self.0.leaving.is_cancelled()
    }

    /// Whether the response precedes the end of its request over HTTP/1, which closes the connection.
    pub(super) fn responds_early(&self, cx: &mut Context<'_>) -> bool {
        self.0.unread_body.is_answered_early(cx)
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        // Not before `begun`, which may be a millisecond ahead for a request that ended immediately.
        let ended = self.0.now().max(self.0.begun.load(Relaxed));
        self.0.idle_since.store(ended, Relaxed);
        self.0.under_way.fetch_sub(1, Relaxed);
        // Over HTTP/1 the task is that of the connection, which continues.
        stream::clear_deadline();
        stream::set_backlog(None);
    }
}

/// Waits until an idle connection must be closed; forever if its requests are not tracked.
pub(super) async fn idle(requests: Option<&Requests>, bounds: Option<HttpLimits>) {
    match (requests, bounds) {
        (Some(requests), Some(bounds)) => requests.wait_until_idle(bounds).await,
        _ => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const BOUNDS: HttpLimits = HttpLimits {
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
        requests.wait_until_idle(BOUNDS).await;
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
        requests.record_bytes();
        drop(Arc::clone(&requests).begin());
        // It counts as begun in the millisecond after its first byte.
        assert_eq!(closed_after(&requests).await, BOUNDS.idle_timeout + Duration::from_millis(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_does_not_get_on_goes_soon_however_often_a_byte_comes() {
        let requests = requests();
        let bytes = async {
            loop {
                requests.record_bytes();
                tokio::time::sleep(Duration::from_millis(700)).await;
            }
        };
        tokio::select! {
            // Times are in milliseconds, and the first byte arrives in the one after the start.
            after = closed_after(&requests) => {
                assert_eq!(after, BOUNDS.header_timeout + Duration::from_millis(1));
            }
            () = bytes => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_has_had_the_time_to_read_its_last_response() {
        const LENGTH: Duration = Duration::from_secs(2);
        let requests = requests();
        requests.record_bytes();
        drop(Arc::clone(&requests).begin());
        advance(Duration::from_secs(10)).await;
        assert!(requests.read_by(LENGTH) <= clock::now());
        // The rest of a request that was refused, perhaps.
        requests.record_bytes();
        advance(Duration::from_secs(10)).await;
        assert_eq!(requests.read_by(LENGTH).duration_since(clock::now()), LENGTH);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_under_way_keeps_its_connection() {
        let (requests, began) = (requests(), clock::now());
        requests.record_bytes();
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
