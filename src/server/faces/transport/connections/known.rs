//! The state of one connection for the limits: its peer, whether it authenticated, and when its last request came.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::faces::transport::quotas::Origin;
use toolwire_base::clock;

/// The state of one connection.
#[derive(Debug)]
pub(in crate::faces::transport) struct Known {
    /// The peer it counts against; `None` if the peer is trusted, such as a proxy with many clients behind it.
    pub(in crate::faces::transport) origin: Option<Origin>,
    has_asked: AtomicBool,
    has_authenticated: AtomicBool,
    /// Whether its slot of the peer's limit was given to a newer connection.
    is_replaced: AtomicBool,
    /// When the last request came, in milliseconds since the start.
    heard: AtomicU64,
    start: Instant,
    /// Cancelled when the connection is to be closed in favour of others.
    pub(in crate::faces::transport) closed: CancellationToken,
}

impl Known {
    pub(in crate::faces::transport) fn new(origin: Option<Origin>, start: Instant) -> Self {
        let known = Self {
            origin,
            has_asked: AtomicBool::new(false),
            has_authenticated: AtomicBool::new(false),
            is_replaced: AtomicBool::new(false),
            heard: AtomicU64::new(0),
            start,
            closed: CancellationToken::new(),
        };
        known.heard.store(known.now(), Relaxed);
        known
    }

    pub(in crate::faces::transport) fn hear(&self) {
        if !self.has_authenticated.load(Relaxed) {
            self.has_asked.store(true, Relaxed);
            self.heard.store(self.now(), Relaxed);
        }
    }

    /// Records that a request authenticated: the connection is never closed as idle again.
    pub(in crate::faces::transport) fn authenticated(&self) {
        self.has_authenticated.store(true, Relaxed);
    }

    /// Whether the peer has sent a request.
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.load(Relaxed)
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

    /// When the last request came, in milliseconds since the start.
    pub(super) fn heard(&self) -> u64 {
        self.heard.load(Relaxed)
    }

    /// How long the connection is idle; `None` once the peer has authenticated.
    pub(super) fn silence(&self) -> Option<Duration> {
        (!self.has_authenticated.load(Relaxed))
            .then(|| Duration::from_millis(self.now().saturating_sub(self.heard())))
    }

    fn now(&self) -> u64 {
        u64::try_from(clock::now().duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }
}
