//! Rows of jobs, read.

use sqlx::{Row, SqliteExecutor, sqlite::SqliteRow};

use crate::{
    StoreError,
    jobs::{Event, Job, JobId, Said},
    sqlite::{Failed, time::instant},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::UserId;

pub(super) const COLUMNS: &str = "position, user_id, job_id, digest, kind, state, percent, step, created_at, deadline, \
     ended_at, next, error, result";

/// A job, and where it stands in the table.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) position: i64,
    pub(super) job: Job,
}

/// One job of a user's.
pub(super) async fn find(
    connection: impl SqliteExecutor<'_>,
    user: &UserId,
    id: JobId,
) -> Result<Option<Kept>, Failed> {
    let query = format!("SELECT {COLUMNS} FROM jobs WHERE user_id = ? AND job_id = ?");
    let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(user.as_str()).bind(id.as_bytes().as_slice());
    query.fetch_optional(connection).await?.as_ref().map(kept).transpose()
}

/// A row of these columns.
pub(super) fn kept(row: &SqliteRow) -> Result<Kept, Failed> {
    let state: String = row.try_get("state")?;
    let error: String = row.try_get("error")?;
    let job = Job {
        id: id(row)?,
        digest: Digest::from_bytes(row.try_get("digest")?).ok_or_else(|| unreadable("digest"))?,
        kind: row.try_get("kind")?,
        state: state.parse().map_err(|_| unreadable("state"))?,
        percent: row.try_get("percent")?,
        step: row.try_get("step")?,
        created_at: instant(row.try_get("created_at")?),
        deadline: instant(row.try_get("deadline")?),
        ended_at: row.try_get::<Option<i64>, _>("ended_at")?.map(instant),
        next: number(row, "next")?,
        error: (!error.is_empty())
            .then(|| serde_json::from_str(&error).map_err(|_| unreadable("error")))
            .transpose()?,
        result: row.try_get("result")?,
    };
    Ok(Kept { position: row.try_get("position")?, job })
}

pub(super) fn event(row: &SqliteRow) -> Result<Event, Failed> {
    Ok(Event {
        sequence: number(row, "sequence")?,
        at: instant(row.try_get("at")?),
        said: Said {
            percent: row.try_get("percent")?,
            step: row.try_get("step")?,
            message: row.try_get("message")?,
            call_id: row.try_get("call_id")?,
        },
        is_last: row.try_get("is_last")?,
    })
}

pub(super) fn id(row: &SqliteRow) -> Result<JobId, Failed> {
    let id: Vec<u8> = row.try_get("job_id")?;
    id.try_into().map(JobId::from_bytes).map_err(|_| unreadable("job_id"))
}

fn number(row: &SqliteRow, column: &str) -> Result<u64, Failed> {
    u64::try_from(row.try_get::<i64, _>(column)?).map_err(|_| unreadable(column))
}

pub(super) fn unreadable(column: &str) -> Failed {
    Failed::Store(StoreError::Unreadable { what: "job", cause: format!("its column {column}") })
}
