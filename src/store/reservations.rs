//! Reservations of requests to sources, which the processes of one machine share: made, and to come.
//!
//! Not here: which instant a request gets, which the limiter says.

use toolwire_tool::context::UserId;

/// Nanoseconds since the Unix epoch.
pub type Nanos = u64;

/// A request, made or to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub user: UserId,
    pub at: Nanos,
}

/// Chooses the instant of a new request beside those that there are; `None` if it is not to be made. May be called more
/// than once for one request: the last answer counts.
pub type Choose<'a> = dyn Fn(&[Reservation]) -> Option<Nanos> + Send + Sync + 'a;
