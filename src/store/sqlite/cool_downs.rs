//! Cool-downs that outlive the process.

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{
    Durability, Failed, Sqlite,
    time::{instant, millis},
};
use crate::{
    StoreError,
    cool_downs::{CoolDown, CoolDowns},
};
use toolwire_contract::ErrorCode;
use toolwire_tool::context::UserId;

const IN_FORCE: &str = "SELECT code, reason, until FROM cool_downs \
                        WHERE source = ? AND user_id IN ('', ?) AND until > ? ORDER BY until DESC LIMIT 1";

const BEGIN: &str = "INSERT INTO cool_downs (source, user_id, code, reason, until) VALUES (?, ?, ?, ?, ?) \
                     ON CONFLICT (source, user_id) DO UPDATE \
                     SET code = excluded.code, reason = excluded.reason, until = excluded.until \
                     WHERE excluded.until >= until";

const OF_SOURCES: &str = "SELECT source, code, reason, until FROM cool_downs \
                          WHERE user_id = '' AND until > ? ORDER BY source";

impl CoolDowns for Sqlite {
    fn in_force<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>> {
        Box::pin(async move { self.explain(self.cool_down_of(source, user, now).await) })
    }

    fn begin<'a>(
        &'a self,
        source: &'a str,
        user: Option<&'a UserId>,
        cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.begin_cool_down(source, user, cool_down).await) })
    }

    fn of_sources(&self, now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>> {
        Box::pin(async move { self.explain(self.cool_downs_of_sources(now).await) })
    }
}

impl Sqlite {
    async fn cool_down_of(
        &self,
        source: &str,
        user: &UserId,
        now: SystemTime,
    ) -> Result<Option<CoolDown>, Failed> {
        let query = sqlx::query(IN_FORCE).bind(source).bind(user.as_str()).bind(millis(now));
        let row = query.fetch_optional(self.readers().await?).await?;
        Ok(row.map(|row| cool_down(&row)).transpose()?)
    }

    async fn begin_cool_down(
        &self,
        source: &str,
        user: Option<&UserId>,
        cool_down: &CoolDown,
    ) -> Result<(), Failed> {
        let begin = sqlx::query(BEGIN)
            .bind(source)
            .bind(user.map_or("", UserId::as_str))
            .bind(cool_down.code.into_str())
            .bind(&cool_down.reason)
            .bind(millis(cool_down.until));
        // Forgotten, it would let us ask a source again that has just refused us.
        let mut change = self.change(Durability::Power).await?;
        begin.execute(&mut *change).await?;
        change.commit().await
    }

    async fn cool_downs_of_sources(&self, now: SystemTime) -> Result<Vec<(String, CoolDown)>, Failed> {
        let query = sqlx::query(OF_SOURCES).bind(millis(now));
        let rows = query.fetch_all(self.readers().await?).await?;
        let found = rows.iter().map(|row| Ok((row.try_get("source")?, cool_down(row)?)));
        Ok(found.collect::<Result<_, sqlx::Error>>()?)
    }
}

fn cool_down(row: &SqliteRow) -> Result<CoolDown, sqlx::Error> {
    Ok(CoolDown {
        code: row.try_get::<&str, _>("code")?.parse().unwrap_or(ErrorCode::Blocked),
        reason: row.try_get("reason")?,
        until: instant(row.try_get("until")?),
    })
}
