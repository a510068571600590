//! The state of one connection for the limits: its peer, whether it authenticated, and when its last request came.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{quotas::Origin, recent_token::RecentToken};
use toolwire_base::{backlog, clock};

/// The activity of one connection, as the limits see it.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    /// The peer it counts against; `None` if the peer is trusted, such as a proxy with many clients behind it.
    pub(crate) origin: Option<Origin>,
    has_sent_request: AtomicBool,
    has_authenticated: AtomicBool,
    /// Whether its slot of the peer's limit was given to a newer connection.
    is_replaced: AtomicBool,
    /// Time of the last request, in milliseconds since the start.
    last_request: AtomicU64,
    start: Instant,
    /// The token that was presented last.
    pub(crate) recent_token: RecentToken,
    /// What waits for the peer.
    pub(crate) backlog: backlog::Connection,
    /// Cancelled when the connection is to be closed in favour of others.
    pub(crate) closed: CancellationToken,
}

impl ConnectionState {
    pub(crate) fn new(origin: Option<Origin>, start: Instant, backlog: backlog::Connection) -> Self {
        let state = Self {
            origin,
            recent_token: RecentToken::default(),
            backlog,
            has_sent_request: AtomicBool::new(false),
            has_authenticated: AtomicBool::new(false),
            is_replaced: AtomicBool::new(false),
            last_request: AtomicU64::new(0),
            start,
            closed: CancellationToken::new(),
        };
        state.last_request.store(state.now(), Relaxed);
        state
    }

    /// Records the time of a request, while the connection has not authenticated.
    pub(crate) fn record_request(&self) {
        if !self.has_authenticated.load(Relaxed) {
            self.has_sent_request.store(true, Relaxed);
            self.last_request.store(self.now(), Relaxed);
        }
    }

    /// Records that a request authenticated: the connection is never closed as idle again.
    pub(crate) fn set_authenticated(&self) {
        self.has_authenticated.store(true, Relaxed);
    }

    /// Whether the peer has sent a request.
    pub(super) fn has_sent_request(&self) -> bool {
        self.has_sent_request.load(Relaxed)
    }

    /// Closes the connection and gives its slot of the peer's limit to another.
    pub(super) fn replace(&self) {
        self.is_replaced.store(true, Relaxed);
        self.closed.cancel();
    }

    /// Whether it no longer counts against the peer's limit.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_replaced.load(Relaxed)
    }

    /// Time of the last request, in milliseconds since the start.
    pub(super) fn last_request(&self) -> u64 {
        self.last_request.load(Relaxed)
    }

    /// Time since the last request; `None` once the peer has authenticated.
    pub(super) fn idle_time(&self) -> Option<Duration> {
        (!self.has_authenticated.load(Relaxed))
            .then(|| Duration::from_millis(self.now().saturating_sub(self.last_request())))
    }

    fn now(&self) -> u64 {
        u64::try_from(clock::now().duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }
}
