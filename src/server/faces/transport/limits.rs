//! The limits of the transport, by name. Each time that one is exceeded is counted; the log reports them at intervals.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::Instant;

use toolwire_base::clock;
use toolwire_telemetry::metric;

/// Each bound has one line in the log in so much time, with how often it was exceeded: a flood must not become one of
/// lines.
const INTERVAL: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum Limit {
    Connections,
    PeerConnections,
    /// Room for connections: one that never authenticated was closed.
    Unauthenticated,
    /// What all users may have under way of something.
    All,
    /// What one user, or one peer, may have under way of something.
    Share,
    RequestTime,
}

/// Since when nothing was told, and how often the bound was exceeded since.
struct Untold {
    due: AtomicU64,
    times: AtomicU64,
}

static UNTOLD: [Untold; 6] = [const { Untold { due: AtomicU64::new(0), times: AtomicU64::new(0) } }; 6];
static START: OnceLock<Instant> = OnceLock::new();

impl Limit {
    /// The bound of `what` is exceeded; the last one of it was `who`.
    pub(super) fn exceeded(self, what: &str, who: &dyn fmt::Display) {
        metric::bound_reached(self.into_str());
        let untold = &UNTOLD[self as usize];
        let times = untold.times.fetch_add(1, Relaxed) + 1;
        let now = clock::now().duration_since(*START.get_or_init(clock::now)).as_secs();
        let due = untold.due.load(Relaxed);
        let next = now + INTERVAL.as_secs();
        if now >= due && untold.due.compare_exchange(due, next, Relaxed, Relaxed).is_ok() {
            untold.times.store(0, Relaxed);
            tracing::warn!(target: "toolwire::bounds", bound = self.into_str(), what, last = %who, times, "a bound is exceeded");
        }
    }
}
