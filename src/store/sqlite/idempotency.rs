//! Idempotency records that outlive the process.

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{
    Change, Durability, Failed, Sqlite,
    outcome_columns::OutcomeColumns,
    time::{instant, millis},
};
use crate::{
    context::UserId,
    contract::ToolResult,
    store::{
        StoreError,
        idempotency::{ArgumentsDigest, Begun, Bound, Effect, Idempotency, Key, Room},
    },
};

/// Those that nobody remembers any more, a few at a time: each call brings one and takes more away.
const EXPIRE: &str = "DELETE FROM idempotency WHERE rowid IN \
                      (SELECT rowid FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT 64)";

const FIND: &str = "SELECT digest, begun_at, fetched_at, kept, data, expires_at FROM idempotency \
                    WHERE user_id = ? AND tool = ? AND request_id = ?";

const USED: &str = "SELECT bytes FROM idempotency_usage WHERE user_id = ?";

/// What may go to make room: a read that is forgotten is read again.
const MAKE_ROOM: &str = "DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency \
                         WHERE user_id = ?1 AND (reads = 1 OR expires_at <= ?2) ORDER BY expires_at LIMIT 64)";

const TOTAL: &str = "SELECT bytes FROM idempotency_total";

const FULL_UNTIL: &str = "SELECT MIN(expires_at) FROM idempotency WHERE user_id = ?";

/// When so many bytes are forgotten of everybody's. At the earliest: of many records only the first are looked at.
const ALL_FULL_UNTIL: &str = "WITH first AS (SELECT expires_at, bytes FROM idempotency ORDER BY expires_at LIMIT 4096), \
     freed AS (SELECT expires_at, SUM(bytes) OVER (ORDER BY expires_at ROWS UNBOUNDED PRECEDING) AS bytes FROM first) \
     SELECT coalesce((SELECT MIN(expires_at) FROM freed WHERE bytes >= ?), (SELECT MAX(expires_at) FROM first), 0)";

const BEGIN: &str = "INSERT INTO idempotency (digest, begun_at, expires_at, reads, bytes, user_id, tool, request_id) \
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

const END: &str = "UPDATE idempotency SET fetched_at = ?, kept = ?, data = ?, bytes = ? \
                   WHERE user_id = ? AND tool = ? AND request_id = ?";

const FORGET: &str = "DELETE FROM idempotency WHERE user_id = ? AND tool = ? AND request_id = ?";

impl Idempotency for Sqlite {
    fn begin<'a>(
        &'a self,
        key: &'a Key,
        effect: Effect,
        digest: ArgumentsDigest,
        now: SystemTime,
    ) -> BoxFuture<'a, Begun> {
        Box::pin(async move {
            self.explain(self.begin_call(key, effect, digest, now).await).unwrap_or_else(Begun::Unavailable)
        })
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.end_call(key, result).await) })
    }

    fn forget<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.forget_call(key).await) })
    }
}

impl Sqlite {
    async fn begin_call(
        &self,
        key: &Key,
        effect: Effect,
        digest: ArgumentsDigest,
        now: SystemTime,
    ) -> Result<Begun, Failed> {
        let expires_at = millis(now + effect.retention());
        let now = millis(now);
        // The effect comes after this: no loss of power may leave it without its record.
        let mut change = self.change(Durability::Power).await?;
        sqlx::query(EXPIRE).bind(now).execute(&mut *change).await?;
        if let Some(row) = of_key(sqlx::query(FIND), key).fetch_optional(&mut *change).await? {
            if row.try_get::<i64, _>("expires_at")? > now {
                return Ok(known(&row, key, digest)?);
            }
            of_key(sqlx::query(FORGET), key).execute(&mut *change).await?;
        }
        if let Some(full) = full(&mut change, &key.user, now, self.room).await? {
            // What has expired is gone all the same.
            change.commit().await?;
            return Ok(full);
        }
        let begin = sqlx::query(BEGIN)
            .bind(digest.as_bytes().to_vec())
            .bind(now)
            .bind(expires_at)
            .bind(effect == Effect::Read)
            .bind(count(key.bytes()));
        of_key(begin, key).execute(&mut *change).await?;
        change.commit().await?;
        Ok(Begun::New)
    }

    async fn end_call(&self, key: &Key, result: &ToolResult) -> Result<(), Failed> {
        let OutcomeColumns { description, data } = OutcomeColumns::of(&result.outcome, &result.provenance);
        let bytes = count(key.bytes() + description.len() + data.len());
        let end = sqlx::query(END).bind(millis(result.fetched_at)).bind(description).bind(data).bind(bytes);
        // The caller is told this outcome next, and must be told it again whenever it asks.
        let mut change = self.change(Durability::Power).await?;
        of_key(end, key).execute(&mut *change).await?;
        Ok(change.commit().await?)
    }

    async fn forget_call(&self, key: &Key) -> Result<(), Failed> {
        // Lost, it leaves a call that seems unfinished: nothing is carried out twice.
        let mut change = self.change(Durability::Process).await?;
        of_key(sqlx::query(FORGET), key).execute(&mut *change).await?;
        Ok(change.commit().await?)
    }
}

/// When there is room again for a user who finds none; `None` if there is some.
async fn full(
    change: &mut Change,
    user: &UserId,
    now: i64,
    room: Room,
) -> Result<Option<Begun>, sqlx::Error> {
    loop {
        let own = sqlx::query_scalar(USED).bind(user.as_str()).fetch_optional(&mut **change).await?;
        let total: i64 = sqlx::query_scalar(TOTAL).fetch_one(&mut **change).await?;
        let own = u64::try_from(own.unwrap_or(0_i64)).unwrap_or(0);
        let Some((bound, excess)) = room.full(own, u64::try_from(total).unwrap_or(0)) else {
            return Ok(None);
        };
        let made = sqlx::query(MAKE_ROOM).bind(user.as_str()).bind(now).execute(&mut **change).await?;
        let expired = sqlx::query(EXPIRE).bind(now).execute(&mut **change).await?;
        if made.rows_affected() + expired.rows_affected() > 0 {
            continue;
        }
        let until = match bound {
            Bound::User => sqlx::query_scalar(FULL_UNTIL).bind(user.as_str()),
            Bound::All => sqlx::query_scalar(ALL_FULL_UNTIL).bind(i64::try_from(excess).unwrap_or(i64::MAX)),
        };
        let until = instant(until.fetch_one(&mut **change).await?);
        return Ok(Some(Begun::Full { until, bound }));
    }
}

fn count(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// What a record says. An outcome that cannot be read any more counts as unfinished: nothing is carried out twice.
fn known(row: &SqliteRow, key: &Key, digest: ArgumentsDigest) -> Result<Begun, sqlx::Error> {
    if row.try_get::<Vec<u8>, _>("digest")? != digest.as_bytes() {
        return Ok(Begun::Conflict);
    }
    let unfinished = Begun::Unfinished { begun: instant(row.try_get("begun_at")?) };
    let Some(description) = row.try_get("kept")? else { return Ok(unfinished) };
    let fetched_at = instant(row.try_get("fetched_at")?);
    match (OutcomeColumns { description, data: row.try_get("data")? }).outcome() {
        Ok((outcome, provenance)) => {
            let tool = key.tool.clone();
            Ok(Begun::Ended(Box::new(ToolResult { tool, fetched_at, outcome, provenance })))
        }
        Err(error) => {
            tracing::warn!(%error, tool_name = %key.tool, "the outcome of an earlier call is lost");
            Ok(unfinished)
        }
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

/// Binds the three columns of a key.
fn of_key<'q>(query: Query<'q>, key: &'q Key) -> Query<'q> {
    query.bind(key.user.as_str()).bind(key.tool.as_str()).bind(key.request_id.to_string())
}
