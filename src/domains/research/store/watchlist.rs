//! Watch-lists: the stocks that each user picked to watch, and beside them those that the user's screens hold. One
//! user's list is never reachable by another.

use std::time::SystemTime;

use super::tables::Tables;
use toolwire_db::{Durability, Error, Lane, StoreError, insert, record, scoped, sql, sql::Statement};
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

/// A stock as the tables hold it.
struct Row {
    symbol: String,
    name: Option<String>,
    note: Option<String>,
    added_at: SystemTime,
    updated_at: SystemTime,
    cmp: Option<f64>,
    screened_at: Option<SystemTime>,
}

record!(Row, "watched stock", { symbol, name, note, added_at, updated_at, cmp, screened_at });

impl Row {
    fn stock(self, origin: WatchOrigin) -> WatchedStock {
        let Self { symbol, name, note, added_at, updated_at, cmp, screened_at } = self;
        WatchedStock {
            symbol,
            name: name.as_deref().map(Line::of),
            origin,
            note: note.as_deref().map(|note| Passage::of(note, MAX_NOTE)),
            added_at,
            updated_at,
            cmp: cmp.zip(screened_at),
        }
    }
}

impl Tables {
    /// What a user picked, in order of symbol.
    pub async fn list(&self, user: &UserId) -> Result<Vec<WatchedStock>, StoreError> {
        let mut reader = self.store.reader().await?;
        let rows = self.store.explain(picked(&self.user_key(user)).all(&mut reader).await)?;
        Ok(rows.into_iter().map(|row| row.stock(WatchOrigin::User)).collect())
    }

    /// What a user's screens hold and the user did not pick, in order of symbol.
    pub async fn screened(&self, user: &UserId) -> Result<Vec<WatchedStock>, StoreError> {
        let mut reader = self.store.reader().await?;
        let rows = self.store.explain(not_picked(&self.user_key(user)).all(&mut reader).await)?;
        Ok(rows.into_iter().map(|row| row.stock(WatchOrigin::Screener)).collect())
    }

    /// Adds a stock; a note replaces an earlier one.
    pub async fn add(
        &self,
        user: &UserId,
        symbol: &str,
        name: Option<&str>,
        note: Option<&str>,
        now: SystemTime,
    ) -> Result<Changed, StoreError> {
        let key = &*self.user_key(user);
        // A person's own words, so they outlast a loss of power.
        let changed = self.store.transact(Lane::User(user), Durability::Power, |tx| {
            scoped(async move {
                let before = count(key).one(tx).await?;
                put(key, symbol, name, note, now).run(tx).await?;
                let count = count(key).one(tx).await?;
                Ok::<_, Error>(Changed { did: count > before, count })
            })
        });
        changed.await
    }

    pub async fn remove(&self, user: &UserId, symbol: &str) -> Result<Changed, StoreError> {
        let key = &*self.user_key(user);
        let changed = self.store.transact(Lane::User(user), Durability::Power, |tx| {
            scoped(async move {
                let removed = delete(key, symbol).execute(tx).await?;
                Ok::<_, Error>(Changed { did: removed > 0, count: count(key).one(tx).await? })
            })
        });
        changed.await
    }
}

fn picked(user: &str) -> Statement<Row> {
    sql!(
        "SELECT w.symbol, COALESCE(w.name, s.name) AS name, w.note, w.added_at, w.updated_at, s.cmp, s.screened_at
         FROM watchlist w LEFT JOIN screened_prices s ON s.user_id = w.user_id AND s.symbol = w.symbol
         WHERE w.user_id = {user} ORDER BY w.symbol"
    )
}

fn not_picked(user: &str) -> Statement<Row> {
    sql!(
        "SELECT symbol, name, NULL AS note, screened_at AS added_at, screened_at AS updated_at, cmp, screened_at
         FROM screened_prices s WHERE user_id = {user}
         AND NOT EXISTS (SELECT 1 FROM watchlist w WHERE w.user_id = s.user_id AND w.symbol = s.symbol)
         ORDER BY symbol"
    )
}

fn count(user: &str) -> Statement<usize> {
    sql!("SELECT COUNT(*) FROM watchlist WHERE user_id = {user}")
}

/// Inserts a stock, or changes what is given of one that is there.
fn put(user: &str, symbol: &str, name: Option<&str>, note: Option<&str>, now: SystemTime) -> Statement {
    insert! { watchlist: user_id = user, symbol, name, note, added_at = now, updated_at = now }.and(
        " ON CONFLICT (user_id, symbol) DO UPDATE SET name = COALESCE(excluded.name, watchlist.name),
          note = COALESCE(excluded.note, watchlist.note), updated_at = excluded.updated_at",
    )
}

fn delete(user: &str, symbol: &str) -> Statement {
    sql!("DELETE FROM watchlist WHERE user_id = {user} AND symbol = {symbol}")
}
