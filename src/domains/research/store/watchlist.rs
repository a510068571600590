//! Watch-lists: the stocks that each user picked to watch, and beside them those that the user's screens hold. One
//! user's list is never reachable by another.

mod sqlite;

use std::{fmt::Debug, time::SystemTime};

use futures_util::future::BoxFuture;

use toolwire_db::StoreError;
use toolwire_sources::upstream::text::{Line, Passage};
use toolwire_tool::context::UserId;

/// The longest note in characters; the schema of `add_to_watchlist` says so too.
pub const MAX_NOTE: usize = 500;

/// One stock, of the user's own or of the user's screens.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedStock {
    pub symbol: String,
    /// Name of the company, if it is known.
    pub name: Option<Line>,
    pub origin: WatchOrigin,
    pub note: Option<Passage>,
    /// When it was added or, of a screened stock, screened.
    pub added_at: SystemTime,
    /// When it was last changed or screened.
    pub updated_at: SystemTime,
    /// Market price as last screened, in rupees, and when that was.
    pub cmp: Option<(f64, SystemTime)>,
}

/// What picked a stock, as `source` in answers names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WatchOrigin {
    User,
    /// Only a screen: `screener`.
    Screener,
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Whether the stock was added, or was there to be removed.
    pub did: bool,
    /// How many stocks the user has picked now.
    pub count: usize,
}

pub trait Watchlists: Send + Sync + Debug {
    /// What a user picked, in order of symbol.
    fn list<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>>;
    /// What a user's screens hold and the user did not pick, in order of symbol.
    fn screened<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>>;
    /// Adds a stock; a note replaces an earlier one.
    fn add<'a>(
        &'a self,
        user: &'a UserId,
        symbol: &'a str,
        name: Option<&'a str>,
        note: Option<&'a str>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, StoreError>>;
    fn remove<'a>(&'a self, user: &'a UserId, symbol: &'a str) -> BoxFuture<'a, Result<Changed, StoreError>>;
}
