//! What webhooks are to be told of confirmations. A message is made in the change that it tells of, and kept until it
//! is delivered, or of no use any more.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::{StoreError, confirmations::Change};

/// Who is told what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The address, by which its messages are found.
    pub url: String,
    /// Whether it is told what is asked for.
    pub requested: bool,
    /// Whether it is told decisions.
    pub decided: bool,
    /// Whether it is told what nobody decided, or used, in time.
    pub expired: bool,
}

#[derive(Clone, Debug)]
pub struct Message {
    /// Its name, the same in each attempt.
    pub id: String,
    /// `requested`, `decided` or `expired`.
    pub event: String,
    /// What it tells; `None` if that is kept no longer.
    pub change: Option<Change>,
    /// How many attempts there were, this one included.
    pub attempts: u32,
    /// Until when it is of use.
    pub expires_at: SystemTime,
}

/// Keeps messages until they are delivered.
pub trait Outbox: Send + Sync + std::fmt::Debug {
    /// From now on these are told, and no others. What waits for others is dropped.
    fn subscribe<'a>(&'a self, all: &'a [Subscription]) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Takes at most so many messages that are due. Nobody else is given them until the given instant.
    fn take<'a>(
        &'a self,
        url: &'a str,
        now: SystemTime,
        until: SystemTime,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Message>, StoreError>>;

    fn done<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Tries a message again at the given instant.
    fn again<'a>(&'a self, id: &'a str, at: SystemTime) -> BoxFuture<'a, Result<(), StoreError>>;
}
