//! What a turn remembers and where it is kept when it ends.
//!
//! Not here: what a turn makes of it.

mod session;
mod standing;

use futures_util::future::BoxFuture;

pub use self::{
    session::Session,
    standing::{KeptCall, KeptMade, Pending, Standing},
};
use super::plan::Exchange;
use crate::{
    contract::proto::agent::v1::{Paused, Reply},
    store::StoreError,
};

/// What a conversation has been about.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    /// Its turns, the oldest first.
    pub history: Vec<Exchange>,
    /// Whether one of them has read text from outside.
    pub tainted: bool,
}

/// How a turn is kept.
#[derive(Clone, Debug)]
pub enum Ending {
    /// It ended with a reply.
    Ended(Box<Reply>),
    /// It waits for persons.
    Paused(Box<Paused>, Box<Standing>),
    /// It was cancelled, its caller left, or its time was over.
    Cancelled,
}

/// Where a turn finds what was said before, and where it is kept.
pub trait Memory: Send + Sync + std::fmt::Debug {
    /// What was said before.
    fn messages(&self) -> BoxFuture<'_, Result<Remembered, StoreError>>;

    /// Keeps how the turn ended; which calls it planned, and whether it has read text from outside. Done before anybody
    /// is told.
    fn end<'a>(
        &'a self,
        ending: &'a Ending,
        calls: &'a [KeptCall],
        tainted: bool,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}
