//! The persistent tier of the cache (spec 004 §6.2): bounded by bytes; what is no longer fresh goes first, then the
//! oldest.

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{
    Change, Durability, Failed, Sqlite,
    outcome_columns::OutcomeColumns,
    time::{instant, length, millis},
};
use crate::{
    StoreError,
    results::{ResultKey, Results, StoredResult},
};
use toolwire_contract::Payload;

const GET: &str = "SELECT output_message, kept, data, stored_at, expires_at FROM results \
                   WHERE key = ? AND expires_at > ?";

const EXPIRE: &str = "DELETE FROM results WHERE key = ? OR expires_at <= ?";

const PUT: &str = "INSERT INTO results (key, output_message, kept, data, bytes, stored_at, expires_at) \
                   VALUES (?, ?, ?, ?, ?, ?, ?)";

const USAGE: &str = "SELECT bytes FROM results_usage";

const DROP_OLDEST: &str =
    "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY stored_at LIMIT 16)";

/// What an entry costs beside its columns of variable length.
const OVERHEAD: usize = 128;

impl Results for Sqlite {
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>> {
        Box::pin(async move { self.explain(self.result_of(key, now).await) })
    }

    fn put<'a>(
        &'a self,
        key: &'a ResultKey,
        result: &'a StoredResult<Payload>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.keep_result(key, result).await) })
    }
}

impl Sqlite {
    async fn result_of(&self, key: &ResultKey, now: SystemTime) -> Result<Option<StoredResult>, Failed> {
        let query = sqlx::query(GET).bind(key.to_vec()).bind(millis(now));
        let row = query.fetch_optional(self.readers().await?).await?;
        row.map(|row| stored(&row)).transpose()
    }

    async fn keep_result(&self, key: &ResultKey, result: &StoredResult<Payload>) -> Result<(), Failed> {
        let OutcomeColumns { description, data } = OutcomeColumns::of(&result.outcome, &result.provenance);
        let bytes = u64::try_from(OVERHEAD + description.len() + data.len()).unwrap_or(u64::MAX);
        let Some(room) = self.results_bytes.checked_sub(bytes) else { return Ok(()) };
        let stored_at = millis(result.stored_at);
        let put = sqlx::query(PUT)
            .bind(key.to_vec())
            .bind(result.output_message.as_deref())
            .bind(description)
            .bind(data)
            .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
            .bind(stored_at)
            .bind(stored_at.saturating_add(length(result.ttl)));
        // Lost, it is fetched again.
        let mut change = self.change(Durability::Process).await?;
        change.adds(usize::try_from(bytes).unwrap_or(usize::MAX));
        sqlx::query(EXPIRE).bind(key.to_vec()).bind(stored_at).execute(&mut *change).await?;
        make_room(&mut change, room).await?;
        put.execute(&mut *change).await?;
        change.commit().await
    }
}

/// Drops the oldest until no more than so many bytes are used.
async fn make_room(change: &mut Change, bytes: u64) -> Result<(), sqlx::Error> {
    let limit = i64::try_from(bytes).unwrap_or(i64::MAX);
    while sqlx::query_scalar::<_, i64>(USAGE).fetch_one(&mut **change).await? > limit {
        if sqlx::query(DROP_OLDEST).execute(&mut **change).await?.rows_affected() == 0 {
            break;
        }
    }
    Ok(())
}

fn stored(row: &SqliteRow) -> Result<StoredResult, Failed> {
    let (stored_at, expires_at): (i64, i64) = (row.try_get("stored_at")?, row.try_get("expires_at")?);
    let kept = OutcomeColumns { description: row.try_get("kept")?, data: row.try_get("data")? };
    let (outcome, provenance) = kept.outcome()?;
    Ok(StoredResult {
        output_message: row.try_get("output_message")?,
        outcome,
        provenance,
        stored_at: instant(stored_at),
        ttl: Duration::from_millis((expires_at - stored_at).try_into().unwrap_or_default()),
    })
}
