//! Watch-lists that outlive the process.

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{Changed, WatchOrigin, WatchedStock, Watchlists};
use crate::{
    context::UserId,
    domains::research::store::{screens::ScreenedStock, tables::Tables},
    store::{
        StoreError,
        sqlite::{
            Change, Durability, Failed,
            time::{instant, millis},
        },
    },
};

const LIST: &str = "SELECT symbol, name, source, note, added_at, updated_at, cmp FROM watchlist \
                    WHERE user_id = ? ORDER BY symbol";

const COUNT: &str = "SELECT COUNT(*) FROM watchlist WHERE user_id = ?";

const ADD: &str = "INSERT INTO watchlist (user_id, symbol, name, source, note, added_at, updated_at) \
                   VALUES (?1, ?2, ?3, 'user', ?4, ?5, ?5) \
                   ON CONFLICT (user_id, symbol) DO UPDATE \
                   SET source = 'user', name = COALESCE(excluded.name, name), \
                       note = COALESCE(excluded.note, note), updated_at = excluded.updated_at";

const SCREENED: &str = "INSERT INTO watchlist (user_id, symbol, name, source, added_at, updated_at, cmp) \
                        VALUES (?1, ?2, ?3, 'screener', ?4, ?4, ?5) \
                        ON CONFLICT (user_id, symbol) DO UPDATE \
                        SET name = COALESCE(name, excluded.name), updated_at = excluded.updated_at, \
                            cmp = excluded.cmp";

const REMOVE: &str = "DELETE FROM watchlist WHERE user_id = ? AND symbol = ?";

impl Watchlists for Tables {
    fn list<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        Box::pin(async move { self.state.explain(self.watched(&self.user_key(user)).await) })
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
            self.state.explain(self.watch(&self.user_key(user), symbol, name, note, now).await)
        })
    }

    fn remove<'a>(&'a self, user: &'a UserId, symbol: &'a str) -> BoxFuture<'a, Result<Changed, StoreError>> {
        Box::pin(async move { self.state.explain(self.unwatch(&self.user_key(user), symbol).await) })
    }
}

impl Tables {
    async fn watched(&self, user: &str) -> Result<Vec<WatchedStock>, Failed> {
        let rows = sqlx::query(LIST).bind(user).fetch_all(self.state.readers().await?).await?;
        Ok(rows.iter().map(stock).collect::<Result<_, _>>()?)
    }

    async fn watch(
        &self,
        user: &str,
        symbol: &str,
        name: Option<&str>,
        note: Option<&str>,
        now: SystemTime,
    ) -> Result<Changed, Failed> {
        // A person's own words.
        let mut change = self.state.change(Durability::Power).await?;
        let before = count(&mut change, user).await?;
        let add = sqlx::query(ADD).bind(user).bind(symbol).bind(name).bind(note);
        add.bind(millis(now)).execute(&mut *change).await?;
        let count = count(&mut change, user).await?;
        change.commit().await?;
        Ok(Changed { did: count > before, count })
    }

    async fn unwatch(&self, user: &str, symbol: &str) -> Result<Changed, Failed> {
        let mut change = self.state.change(Durability::Power).await?;
        let removed = sqlx::query(REMOVE).bind(user).bind(symbol).execute(&mut *change).await?;
        let count = count(&mut change, user).await?;
        change.commit().await?;
        Ok(Changed { did: removed.rows_affected() > 0, count })
    }
}

/// Puts a screened stock into a user's list.
pub(in crate::domains::research::store) async fn screened(
    change: &mut Change,
    user: &str,
    stock: &ScreenedStock,
    at: SystemTime,
) -> Result<(), sqlx::Error> {
    let screened = sqlx::query(SCREENED).bind(user).bind(&stock.symbol).bind(&stock.name);
    screened.bind(millis(at)).bind(stock.cmp).execute(&mut **change).await?;
    Ok(())
}

async fn count(change: &mut Change, user: &str) -> Result<usize, sqlx::Error> {
    let count: i64 = sqlx::query_scalar(COUNT).bind(user).fetch_one(&mut **change).await?;
    Ok(usize::try_from(count).unwrap_or_default())
}

fn stock(row: &SqliteRow) -> Result<WatchedStock, sqlx::Error> {
    let is_screened = row.try_get::<&str, _>("source")? == WatchOrigin::Screener.name();
    Ok(WatchedStock {
        symbol: row.try_get("symbol")?,
        name: row.try_get("name")?,
        origin: if is_screened { WatchOrigin::Screener } else { WatchOrigin::User },
        note: row.try_get("note")?,
        added_at: instant(row.try_get("added_at")?),
        updated_at: instant(row.try_get("updated_at")?),
        cmp: row.try_get("cmp")?,
    })
}
