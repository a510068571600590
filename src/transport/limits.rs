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

use toolwire_base::{
    backlog::{self, Bound},
    clock,
};
use toolwire_telemetry::metric;

/// Each limit writes at most one log line per interval, with the number of times it was exceeded: a flood of calls must
/// not become a flood of lines.
const INTERVAL: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum Limit {
    Connections,
    PeerConnections,
    /// Connections: one that never authenticated was closed to make room.
    Unauthenticated,
    /// The resource in use by all users together.
    All,
    /// The resource in use by one user or one peer.
    Share,
    RequestTime,
    /// The bytes that wait for the peer of one connection.
    UnreadOfConnection,
    UnreadOfUser,
    UnreadOfAll,
    /// Connections: one was closed, since nothing else freed what waits for its peer.
    UnreadConnection,
}

/// The number of times that a limit was exceeded since its last log line.
struct Unreported {
    /// The second, since the start of the process, from which the next line may be written.
    due: AtomicU64,
    times: AtomicU64,
}

static UNREPORTED: [Unreported; 10] =
    [const { Unreported { due: AtomicU64::new(0), times: AtomicU64::new(0) } }; 10];
static START: OnceLock<Instant> = OnceLock::new();

impl Limit {
    /// Records that a stream was ended because of what waits for its peer, unless that is recorded already.
    pub(super) fn report_end(stream: &backlog::Stream) {
        let limit = match stream.take_report() {
            None => return,
            Some(Bound::Connection) => Self::UnreadOfConnection,
            Some(Bound::User) => Self::UnreadOfUser,
            Some(Bound::All) => Self::UnreadOfAll,
        };
        limit.exceeded("bytes that wait for their reader: a stream was ended", &stream.user());
    }

    /// Records that the limit on `what` was exceeded, last by `who`.
    pub(super) fn exceeded(self, what: &str, who: &dyn fmt::Display) {
        metric::bound_reached(self.into_str());
        let unreported = &UNREPORTED[self as usize];
        let times = unreported.times.fetch_add(1, Relaxed) + 1;
        let now = clock::now().duration_since(*START.get_or_init(clock::now)).as_secs();
        let due = unreported.due.load(Relaxed);
        let next = now + INTERVAL.as_secs();
        if now >= due && unreported.due.compare_exchange(due, next, Relaxed, Relaxed).is_ok() {
            unreported.times.store(0, Relaxed);
            tracing::warn!(target: "toolwire::bounds", bound = self.into_str(), what, last = %who, times, "a bound is exceeded");
        }
    }
}
