//! Reservations of requests to sources, past and future, shared by the processes of a state.
//!
//! Calls that are counted against a quota of their user are reservations too. Not here: the choice of the instant,
//! which the rate limiter makes.

pub(crate) mod rows;

use toolwire_tool::context::UserId;

/// The beginning of the names under which calls are counted, one of each user's, unlike those of sources.
pub const QUOTA_PREFIX: &str = "quota:";
/// What sorts behind every such name.
pub(crate) const BEHIND_QUOTAS: &str = "quota;";

/// Nanoseconds since the Unix epoch.
pub type Nanos = u64;

/// A request, past or future.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub user: UserId,
    pub at: Nanos,
}

/// Chooses the instant of a new request, given the existing reservations and the time; `None` if the request must not
/// be made. May be called more than once for one request: the last result counts.
pub type Choose<'a> = dyn Fn(&[Reservation], Nanos) -> Option<Nanos> + Send + Sync + 'a;
