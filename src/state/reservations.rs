//! Reservations of requests to sources, past and future, shared by the processes of a state.
//!
//! Calls that are counted against a quota of their user are reservations too. Not here: the choice of the instant,
//! which the rate limiter makes.

pub(crate) mod rows;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolwire_tool::context::UserId;

/// The beginning of the names under which calls are counted, one of each user's, unlike those of sources.
pub const QUOTA_PREFIX: &str = "quota:";
/// What sorts behind every such name.
pub(crate) const BEHIND_QUOTAS: &str = "quota;";

/// Nanoseconds since the Unix epoch.
pub type Nanos = u64;

/// An instant of the state's clock.
pub fn since_epoch(instant: SystemTime) -> Nanos {
    nanos(instant.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// A length of time in nanoseconds; centuries at most.
pub fn nanos(length: Duration) -> Nanos {
    Nanos::try_from(length.as_nanos()).unwrap_or(Nanos::MAX)
}

/// A request, past or future.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub user: UserId,
    pub at: Nanos,
}

/// A limit of reservations that count alike.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The name under which they are counted.
    pub name: String,
    pub most: u32,
    /// How long one counts after its instant.
    pub window: Nanos,
    /// How long after the present the instant of a new one is.
    pub ahead: Nanos,
}

/// A limit of several that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Its place among them.
    pub index: usize,
    /// When it was reached.
    pub now: Nanos,
    /// When there is room again, unless a reservation is cancelled before.
    pub free_at: Nanos,
}

/// Chooses the instant of a new request, given the existing reservations and the time; `None` if the request must not
/// be made. May be called more than once for one request: the last result counts.
pub type Choose<'a> = dyn Fn(&[Reservation], Nanos) -> Option<Nanos> + Send + Sync + 'a;
