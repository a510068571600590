//! Limits of requests to a source: per user, and above that a ceiling over all users.
//!
//! A request reserves the earliest instant that its user's and the source's windows and spacing allow, or nothing at
//! all. Not here: what a request is.

mod budget;
mod late_requests;
mod memory;
mod reservation_guard;
mod schedule;
mod shared_limiter;
#[cfg(test)]
mod tests;
mod timeline;

use std::{fmt::Debug, time::Duration};

use futures_util::future::BoxFuture;
use tokio::time::Instant;

pub use budget::{Budget, Budgets};
pub use memory::MemoryLimiter;
pub use shared_limiter::SharedLimiter;
use timeline::Nanos;
use toolwire_tool::context::UserId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The earliest instant is past the deadline.
    TooLate {
        /// The earliest instant for a request.
        at: Instant,
    },
    /// The requests of other servers are not known, since the state that has them does not answer.
    Uncounted,
    /// Too many requests of the user wait already.
    Crowded {
        /// The earliest instant for a request.
        at: Instant,
    },
}

/// What an admitted request has taken of the limits.
#[derive(Debug, PartialEq, Eq)]
pub enum Permit {
    /// Nothing: its source has no limits.
    Unlimited,
    /// An instant on the timelines of this process.
    Local(Nanos),
    /// A reservation in the state.
    Shared(i64),
}

/// How much of the budgets of a source is used now, by requests that were made and by those that have a reservation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How long a request of the user made now would wait; zero if it would not.
    pub wait: Duration,
    /// The requests of the user in the window of the user's budget, and the reserved ones after it.
    pub of_user: u32,
    /// The same of all users, under the budget of all.
    pub of_all: u32,
}

/// Admits requests to sources. Fit for an implementation that several processes share.
pub trait Limiter: Send + Sync + Debug {
    /// Waits until a request may be made. Refused at once if that is past the deadline. `waiting`
    /// is called with the length of the wait, if there is one. Dropping the future gives the reservation back.
    fn acquire<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        deadline: Instant,
        waiting: &'a (dyn Fn(Duration) + Send + Sync),
    ) -> BoxFuture<'a, Result<Permit, Refused>>;

    /// Takes a permit back whose request was never made.
    fn give_back(&self, source: &str, user: &UserId, permit: Permit);

    /// How much of the budgets is used, by the user and by all. Nothing is reserved.
    fn usage<'a>(&'a self, source: &'a str, user: &'a UserId) -> BoxFuture<'a, Usage>;

    /// How long a request made now would wait; zero if it would not.
    fn wait_time<'a>(&'a self, source: &'a str, user: &'a UserId) -> BoxFuture<'a, Duration> {
        Box::pin(async move { self.usage(source, user).await.wait })
    }

    /// The budgets of a source; `None` for one without limits.
    fn budgets(&self, source: &str) -> Option<Budgets>;
}
