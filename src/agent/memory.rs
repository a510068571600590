//! What a turn remembers and where it is kept when it ends.
//!
//! Not here: what a turn makes of it.

mod checkpoint;
mod session;

use futures_util::future::BoxFuture;

pub use self::{
    checkpoint::{Checkpoint, KeptMade, Pending},
    session::Session,
};
use super::{kept_call::KeptCall, proposal::Proposal};
use toolwire_contract::proto::agent::v1::{Paused, Reply};
use toolwire_planner::Exchange;
use toolwire_store::StoreError;

/// What a conversation has been about.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    /// Its turns, the oldest first.
    pub history: Vec<Exchange>,
    /// Whether one of them has read text from outside.
    pub tainted: bool,
    /// What the turn before proposed. Read only if the message may answer it.
    pub proposal: Option<Proposal>,
}

impl Remembered {
    /// The same, after what its caller says was said before: all but the newest of it, which are remembered themselves.
    #[must_use]
    pub fn after(mut self, before: &[Exchange]) -> Self {
        let older = &before[..before.len().saturating_sub(self.history.len())];
        // What such an answer was made from is unknown.
        self.tainted |= !older.is_empty();
        self.history.splice(..0, older.iter().cloned());
        self
    }
}

/// How a turn is kept.
#[derive(Clone, Debug)]
pub enum Ending {
    /// It ended with a reply, and may have proposed calls.
    Ended(Box<Reply>, Option<Proposal>),
    /// It waits for persons.
    Paused(Box<Paused>, Box<Checkpoint>),
    /// It was cancelled, its caller left, or its time was over.
    Cancelled,
}

/// Where a turn finds what was said before, and where it is kept.
pub trait Memory: Send + Sync + std::fmt::Debug {
    /// What was said before.
    fn messages(&self) -> BoxFuture<'_, Result<Remembered, StoreError>>;

    /// Stores how the turn ended, which calls it planned, and whether it has read text from outside. Done before the
    /// end is sent.
    fn end<'a>(
        &'a self,
        ending: &'a Ending,
        calls: &'a [KeptCall],
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
        let both = own.clone().after(&[said("a"), said("b"), said("other words of c")]);
        assert_eq!((both.history, both.tainted), (vec![said("a"), said("b"), said("c")], true));
        let same = own.after(&[said("other words of c")]);
        assert_eq!((same.history, same.tainted), (vec![said("c")], false));
    }
}
