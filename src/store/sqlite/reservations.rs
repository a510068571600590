//! Reservations of requests that all processes on the file share.

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{Durability, Failed, Sqlite};
use crate::{
    StoreError,
    reservations::{Choose, Nanos, Reservation, Reservations},
};
use toolwire_tool::context::UserId;

const FORGET: &str = "DELETE FROM reservations WHERE source = ? AND at < ?";

const RESERVED: &str = "SELECT user_id, at FROM reservations WHERE source = ? AND at >= ? ORDER BY at";

const RESERVE: &str = "INSERT INTO reservations (source, user_id, at) VALUES (?, ?, ?)";

const GIVE_BACK: &str = "DELETE FROM reservations WHERE id = ?";

impl Reservations for Sqlite {
    fn reserve<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        since: Nanos,
        choose: &'a Choose<'a>,
    ) -> BoxFuture<'a, Result<Option<i64>, StoreError>> {
        Box::pin(async move { self.explain(self.add_reservation(source, user, since, choose).await) })
    }

    fn give_back(&self, number: i64) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.remove_reservation(number).await) })
    }

    fn reserved<'a>(
        &'a self,
        source: &'a str,
        since: Nanos,
    ) -> BoxFuture<'a, Result<Vec<Reservation>, StoreError>> {
        Box::pin(async move { self.explain(self.reservations(source, since).await) })
    }
}

impl Sqlite {
    async fn add_reservation(
        &self,
        source: &str,
        user: &UserId,
        since: Nanos,
        choose: &Choose<'_>,
    ) -> Result<Option<i64>, Failed> {
        // After a loss of power nobody has asked for a while.
        let mut change = self.change(Durability::Process).await?;
        sqlx::query(FORGET).bind(source).bind(column(since)).execute(&mut *change).await?;
        let rows = sqlx::query(RESERVED).bind(source).bind(column(since)).fetch_all(&mut *change).await?;
        let Some(at) = choose(&read(&rows)?) else { return Ok(None) };
        let reserve = sqlx::query(RESERVE).bind(source).bind(user.as_str()).bind(column(at));
        let number = reserve.execute(&mut *change).await?.last_insert_rowid();
        change.commit().await?;
        Ok(Some(number))
    }

    async fn remove_reservation(&self, number: i64) -> Result<(), Failed> {
        let mut change = self.change(Durability::Process).await?;
        sqlx::query(GIVE_BACK).bind(number).execute(&mut *change).await?;
        change.commit().await
    }

    async fn reservations(&self, source: &str, since: Nanos) -> Result<Vec<Reservation>, Failed> {
        let query = sqlx::query(RESERVED).bind(source).bind(column(since));
        Ok(read(&query.fetch_all(self.readers().await?).await?)?)
    }
}

fn column(nanos: Nanos) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

fn read(rows: &[SqliteRow]) -> Result<Vec<Reservation>, sqlx::Error> {
    let read = |row: &SqliteRow| {
        let at = row.try_get::<i64, _>("at")?.try_into().unwrap_or_default();
        let user = row.try_get::<String, _>("user_id")?.parse();
        user.map(|user| Reservation { user, at }).map_err(|_| sqlx::Error::RowNotFound)
    };
    rows.iter().map(read).collect()
}
