//! Watch-lists: the stocks that each user watches. One user's list is never reachable by another.

pub(super) mod sqlite;

use std::{fmt::Debug, time::SystemTime};

use futures_util::future::BoxFuture;

use crate::{context::UserId, store::StoreError};

/// One watched stock.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedStock {
    /// Stock symbol.
    pub symbol: String,
    /// Name of the company, if it is known.
    pub name: Option<String>,
    /// Who put it there.
    pub origin: WatchOrigin,
    /// The user's note.
    pub note: Option<String>,
    /// When it was added.
    pub added_at: SystemTime,
    /// When it was last changed or screened.
    pub updated_at: SystemTime,
    /// Market price as last screened.
    pub cmp: Option<f64>,
}

/// Who put a stock into a watch-list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchOrigin {
    /// The user: `user`.
    User,
    /// A screen: `screener`.
    Screener,
}

impl WatchOrigin {
    /// The word for it (spec 004 §3.0 `source`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Screener => "screener",
        }
    }
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Whether the stock was added, or was there to be removed.
    pub did: bool,
    /// How many stocks are watched now.
    pub count: usize,
}

/// Keeps watch-lists.
pub trait Watchlists: Send + Sync + Debug {
    /// A user's list, in order of symbol.
    fn list<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>>;
    /// Adds a stock. One that a screen put there becomes the user's; a note replaces an earlier one.
    fn add<'a>(
        &'a self,
        user: &'a UserId,
        symbol: &'a str,
        name: Option<&'a str>,
        note: Option<&'a str>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, StoreError>>;
    /// Removes a stock.
    fn remove<'a>(&'a self, user: &'a UserId, symbol: &'a str) -> BoxFuture<'a, Result<Changed, StoreError>>;
}
