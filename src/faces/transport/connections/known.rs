//! What is known of one connection: whose it is, and when something last came on it.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{clock, faces::transport::shares::Origin};

/// What is known of one connection.
#[derive(Debug)]
pub(in crate::faces::transport) struct Known {
    /// None if the peer is trusted: then it may stand for many.
    pub(in crate::faces::transport) origin: Option<Origin>,
    has_asked: AtomicBool,
    has_authenticated: AtomicBool,
    /// Whether its place in its peer's share has passed to a newer connection.
    is_replaced: AtomicBool,
    /// When the last request came, in milliseconds since the start.
    heard: AtomicU64,
    start: Instant,
    /// Fires when the connection is to make room.
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

    /// A request came.
    pub(in crate::faces::transport) fn hear(&self) {
        if !self.has_authenticated.load(Relaxed) {
            self.has_asked.store(true, Relaxed);
            self.heard.store(self.now(), Relaxed);
        }
    }

    /// A request with credentials that are accepted came: the connection is somebody's.
    pub(in crate::faces::transport) fn authenticated(&self) {
        self.has_authenticated.store(true, Relaxed);
    }

    /// Whether a request has ever come.
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.load(Relaxed)
    }

    /// Closes it, and leaves its place in its peer's share to another.
    pub(super) fn replace(&self) {
        self.is_replaced.store(true, Relaxed);
        self.closed.cancel();
    }

    /// Whether it no longer counts against its peer's share.
    pub(super) fn is_replaced(&self) -> bool {
        self.is_replaced.load(Relaxed)
    }

    /// When the last request came, in milliseconds since the start.
    pub(super) fn heard(&self) -> u64 {
        self.heard.load(Relaxed)
    }

    /// How long nothing came; none once the peer has authenticated.
    pub(super) fn silence(&self) -> Option<Duration> {
        (!self.has_authenticated.load(Relaxed))
            .then(|| Duration::from_millis(self.now().saturating_sub(self.heard())))
    }

    fn now(&self) -> u64 {
        u64::try_from(clock::now().duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }
}
