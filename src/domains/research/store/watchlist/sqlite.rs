//! Watch-lists that outlive the process: the table `watchlist`, beside the prices of screened stocks.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::{Changed, MAX_NOTE, WatchOrigin, WatchedStock, Watchlists};
use crate::store::tables::Tables;
use toolwire_db::{Durability, Error, Lane, StoreError, insert, record, scoped, sql, sql::Statement};
use toolwire_sources::upstream::text::{Line, Passage};
use toolwire_tool::context::UserId;

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

impl Watchlists for Tables {
    fn list<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        Box::pin(async move {
            let mut reader = self.store.reader().await?;
            let rows = self.store.explain(picked(&self.user_key(user)).all(&mut reader).await)?;
            Ok(rows.into_iter().map(|row| row.stock(WatchOrigin::User)).collect())
        })
    }

    fn screened<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        Box::pin(async move {
            let mut reader = self.store.reader().await?;
            let rows = self.store.explain(not_picked(&self.user_key(user)).all(&mut reader).await)?;
            Ok(rows.into_iter().map(|row| row.stock(WatchOrigin::Screener)).collect())
        })
    }

    fn add<'a>(
        &'a self,
        user: &'a UserId,
        symbol: &'a str,
        name: Option<&'a str>,
        note: Option<&'a str>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, StoreError>> {
        Box::pin(async move {
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
        })
    }

    fn remove<'a>(&'a self, user: &'a UserId, symbol: &'a str) -> BoxFuture<'a, Result<Changed, StoreError>> {
        Box::pin(async move {
            let key = &*self.user_key(user);
            let changed = self.store.transact(Lane::User(user), Durability::Power, |tx| {
                scoped(async move {
                    let removed = delete(key, symbol).execute(tx).await?;
                    Ok::<_, Error>(Changed { did: removed > 0, count: count(key).one(tx).await? })
                })
            });
            changed.await
        })
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
