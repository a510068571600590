//! Reservations of requests to sources, which the processes of one machine share: made, and to come.
//!
//! Not here: which instant a request gets, which the limiter says.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

use super::StoreError;
use toolwire_tool::context::UserId;

/// Nanoseconds since the Unix epoch.
pub type Nanos = u64;

/// A request, made or to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub user: UserId,
    pub at: Nanos,
}

/// Chooses the instant of a new request beside those that there are; `None` if it is not to be made.
pub type Choose<'a> = dyn Fn(&[Reservation]) -> Option<Nanos> + Send + Sync + 'a;

pub trait Reservations: Send + Sync + Debug {
    /// Adds a request at the instant that `choose` returns, and returns its number. Nobody else adds one meanwhile.
    /// What was before `since` is forgotten.
    fn reserve<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        since: Nanos,
        choose: &'a Choose<'a>,
    ) -> BoxFuture<'a, Result<Option<i64>, StoreError>>;

    /// Takes a request back that is not made.
    fn give_back(&self, number: i64) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The requests to a source from `since` on, in order of time.
    fn reserved<'a>(
        &'a self,
        source: &'a str,
        since: Nanos,
    ) -> BoxFuture<'a, Result<Vec<Reservation>, StoreError>>;
}
