//! What a turn remembers of its session, and how it is stored when it ends. Not here: how a turn uses it.

mod checkpoint;
mod session;

use std::time::SystemTime;

use futures_util::future::BoxFuture;

pub use self::{
    checkpoint::{Checkpoint, Pending, StoredExecution},
    session::Session,
};
use super::{proposal::Proposal, stored_call::StoredCall};
use toolwire_contract::proto::agent::v1::{Paused, Reply};
use toolwire_db::StoreError;
use toolwire_planner::Exchange;

/// The earlier turns of a session.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    /// Oldest first.
    pub history: Vec<Exchange>,
    /// Whether a turn has read text from outside.
    pub tainted: bool,
    /// The proposal of the turn before.
    pub proposal: Option<Proposal>,
}

impl Remembered {
    /// Puts the history that the caller sent before the remembered turns, without its newest exchanges: as many as are
    /// remembered, for which they are taken.
    #[must_use]
    pub fn after_callers_history(mut self, before: &[Exchange]) -> Self {
        let older = &before[..before.len().saturating_sub(self.history.len())];
        // It is unknown what an answer in the caller's history was made from.
        self.tainted |= !older.is_empty();
        self.history.splice(..0, older.iter().cloned());
        self
    }
}

/// How a turn ended, as it is stored.
#[derive(Clone, Debug)]
pub enum Ending {
    /// It ended with a reply, and may have proposed calls.
    Ended(Box<Reply>, Option<Proposal>),
    /// It waits for persons.
    Paused(Box<Paused>, Box<Checkpoint>),
    /// It was cancelled, its caller left, or its time was over.
    Cancelled,
}

/// The storage of a session, as one turn sees it.
pub trait Memory: Send + Sync + std::fmt::Debug {
    /// The time by the clock of what is remembered.
    fn now(&self) -> SystemTime;

    /// Reads the earlier turns.
    fn messages(&self) -> BoxFuture<'_, Result<Remembered, StoreError>>;

    /// Stores how the turn ended, which calls it planned, and whether it has read text from outside. Returns before the
    /// end is sent, so that a caller that has seen the end finds it stored.
    fn end<'a>(
        &'a self,
        ending: &'a Ending,
        calls: &'a [StoredCall],
        tainted: bool,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Exchange {
        Exchange { said: text.to_owned(), ..Exchange::default() }
    }

    #[test]
    fn what_a_caller_says_was_said_before_stands_before_what_is_remembered() {
        let own = Remembered { history: vec![said("c")], ..Remembered::default() };
        let both = own.clone().after_callers_history(&[said("a"), said("b"), said("other words of c")]);
        assert_eq!((both.history, both.tainted), (vec![said("a"), said("b"), said("c")], true));
        let same = own.after_callers_history(&[said("other words of c")]);
        assert_eq!((same.history, same.tainted), (vec![said("c")], false));
    }
}
