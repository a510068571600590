//! Reservations of requests to sources, past and future, shared by the processes of a state.
//!
//! Not here: the choice of the instant, which the rate limiter makes.

pub(crate) mod rows;

use toolwire_tool::context::UserId;

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
