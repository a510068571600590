//! Watch-lists that outlive the process.

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{Changed, MAX_NOTE, WatchOrigin, WatchedStock, Watchlists};
use crate::store::tables::Tables;
use toolwire_sources::upstream::text::{Line, Passage};
use toolwire_store::{
    StoreError,
    sqlite::{
        Change, Durability, Failed,
        time::{instant, millis},
    },
};
use toolwire_tool::context::UserId;

const LIST: &str = "SELECT w.symbol, COALESCE(w.name, s.name) AS name, note, added_at, updated_at, cmp, screened_at \
                    FROM watchlist w LEFT JOIN screened_prices s USING (user_id, symbol) \
                    WHERE w.user_id = ? ORDER BY w.symbol";

const NOT_PICKED: &str = "SELECT symbol, name, NULL AS note, screened_at AS added_at, screened_at AS updated_at, cmp, \
                          screened_at FROM screened_prices s WHERE user_id = ? AND NOT EXISTS \
                          (SELECT 1 FROM watchlist w WHERE w.user_id = s.user_id AND w.symbol = s.symbol) \
                          ORDER BY symbol";

const COUNT: &str = "SELECT COUNT(*) FROM watchlist WHERE user_id = ?";

const ADD: &str = "INSERT INTO watchlist (user_id, symbol, name, note, added_at, updated_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?5) \
                   ON CONFLICT (user_id, symbol) DO UPDATE \
                   SET name = COALESCE(excluded.name, name), \
                       note = COALESCE(excluded.note, note), updated_at = excluded.updated_at";

const REMOVE: &str = "DELETE FROM watchlist WHERE user_id = ? AND symbol = ?";

impl Watchlists for Tables {
    fn list<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        Box::pin(async move {
            self.state.explain(self.stocks(LIST, &self.user_key(user), WatchOrigin::User).await)
        })
    }

    fn screened<'a>(&'a self, user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        Box::pin(async move {
            self.state.explain(self.stocks(NOT_PICKED, &self.user_key(user), WatchOrigin::Screener).await)
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
            self.state.explain(self.watch(&self.user_key(user), symbol, name, note, now).await)
        })
    }

    fn remove<'a>(&'a self, user: &'a UserId, symbol: &'a str) -> BoxFuture<'a, Result<Changed, StoreError>> {
        Box::pin(async move { self.state.explain(self.unwatch(&self.user_key(user), symbol).await) })
    }
}

impl Tables {
    async fn stocks(
        &self,
        query: &'static str,
        user: &str,
        origin: WatchOrigin,
    ) -> Result<Vec<WatchedStock>, Failed> {
        let rows = sqlx::query(query).bind(user).fetch_all(self.state.readers().await?).await?;
        Ok(rows.iter().map(|row| stock(row, origin)).collect::<Result<_, _>>()?)
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

async fn count(change: &mut Change, user: &str) -> Result<usize, sqlx::Error> {
    let count: i64 = sqlx::query_scalar(COUNT).bind(user).fetch_one(&mut **change).await?;
    Ok(usize::try_from(count).unwrap_or_default())
}

fn stock(row: &SqliteRow, origin: WatchOrigin) -> Result<WatchedStock, sqlx::Error> {
    let (cmp, screened_at): (Option<f64>, Option<i64>) = (row.try_get("cmp")?, row.try_get("screened_at")?);
    let text = |column: &str| row.try_get::<Option<&str>, _>(column);
    Ok(WatchedStock {
        symbol: row.try_get("symbol")?,
        name: text("name")?.map(Line::of),
        origin,
        note: text("note")?.map(|note| Passage::of(note, MAX_NOTE)),
        added_at: instant(row.try_get("added_at")?),
        updated_at: instant(row.try_get("updated_at")?),
        cmp: cmp.zip(screened_at.map(instant)),
    })
}
