//! Idempotency records that outlive the process.

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{
    Change, Durability, Failed, Sqlite,
    outcome_columns::OutcomeColumns,
    time::{instant, length, millis},
};
use crate::{
    context::UserId,
    contract::ToolResult,
    store::{
        StoreError,
        idempotency::{
            ArgumentsDigest, Begun, CAPACITY, Idempotency, Key, RETENTION, USER_BYTES, USER_CAPACITY,
        },
    },
};

const EXPIRE: &str = "DELETE FROM idempotency WHERE begun_at <= ?";

const FIND: &str = "SELECT digest, fetched_at, kept, data FROM idempotency \
                    WHERE user_id = ? AND tool = ? AND request_id = ?";

const USAGE: &str = "SELECT COALESCE(SUM(records), 0) AS records, \
                     COALESCE(SUM(records) FILTER (WHERE user_id = ?1), 0) AS user_records, \
                     COALESCE(SUM(bytes) FILTER (WHERE user_id = ?1), 0) AS user_bytes FROM idempotency_usage";

const BEGIN: &str =
    "INSERT INTO idempotency (digest, begun_at, user_id, tool, request_id) VALUES (?, ?, ?, ?, ?)";

const END: &str = "UPDATE idempotency SET fetched_at = ?, kept = ?, data = ?, bytes = ? \
                   WHERE user_id = ? AND tool = ? AND request_id = ?";

const FORGET: &str = "DELETE FROM idempotency WHERE user_id = ? AND tool = ? AND request_id = ?";

impl Idempotency for Sqlite {
    fn begin<'a>(&'a self, key: &'a Key, digest: ArgumentsDigest, now: SystemTime) -> BoxFuture<'a, Begun> {
        Box::pin(async move {
            self.explain(self.begin_call(key, digest, now).await).unwrap_or_else(Begun::Unavailable)
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
    async fn begin_call(&self, key: &Key, digest: ArgumentsDigest, now: SystemTime) -> Result<Begun, Failed> {
        let now = millis(now);
        // The effect comes after this: no loss of power may leave it without its record.
        let mut change = self.change(Durability::Power).await?;
        sqlx::query(EXPIRE).bind(now.saturating_sub(length(RETENTION))).execute(&mut *change).await?;
        if let Some(row) = of_key(sqlx::query(FIND), key).fetch_optional(&mut *change).await? {
            return Ok(known(&row, key, digest)?);
        }
        if is_full(&mut change, &key.user).await? {
            return Ok(Begun::Full);
        }
        let begin = sqlx::query(BEGIN).bind(digest.as_bytes().to_vec()).bind(now);
        of_key(begin, key).execute(&mut *change).await?;
        change.commit().await?;
        Ok(Begun::New)
    }

    async fn end_call(&self, key: &Key, result: &ToolResult) -> Result<(), Failed> {
        let OutcomeColumns { description, data } = OutcomeColumns::of(&result.outcome, &result.provenance);
        let bytes = i64::try_from(data.len()).unwrap_or(i64::MAX);
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

async fn is_full(change: &mut Change, user: &UserId) -> Result<bool, sqlx::Error> {
    let row = sqlx::query(USAGE).bind(user.as_str()).fetch_one(&mut **change).await?;
    let reached = |column: &str, limit: usize| {
        let count: i64 = row.try_get(column)?;
        Ok::<_, sqlx::Error>(usize::try_from(count).unwrap_or_default() >= limit)
    };
    Ok(reached("records", CAPACITY)?
        || reached("user_records", USER_CAPACITY)?
        || reached("user_bytes", USER_BYTES)?)
}

/// What a record says. An outcome that cannot be read any more counts as unfinished: nothing is carried out twice.
fn known(row: &SqliteRow, key: &Key, digest: ArgumentsDigest) -> Result<Begun, sqlx::Error> {
    if row.try_get::<Vec<u8>, _>("digest")? != digest.as_bytes() {
        return Ok(Begun::Conflict);
    }
    let Some(description) = row.try_get("kept")? else { return Ok(Begun::Unfinished) };
    let fetched_at = instant(row.try_get("fetched_at")?);
    match (OutcomeColumns { description, data: row.try_get("data")? }).outcome() {
        Ok((outcome, provenance)) => {
            let tool = key.tool.clone();
            Ok(Begun::Ended(Box::new(ToolResult { tool, fetched_at, outcome, provenance })))
        }
        Err(error) => {
            tracing::warn!(%error, tool_name = %key.tool, "the outcome of an earlier call is lost");
            Ok(Begun::Unfinished)
        }
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

/// Binds the three columns of a key.
fn of_key<'q>(query: Query<'q>, key: &'q Key) -> Query<'q> {
    query.bind(key.user.as_str()).bind(key.tool.as_str()).bind(key.request_id.to_string())
}
