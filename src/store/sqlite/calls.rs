//! The rows of calls with a `request_id`, as steps of a change. Idempotency and confirmations are made of them.

use std::time::SystemTime;

use sqlx::{Row, sqlite::SqliteRow};

use super::{
    Change, Failed,
    outcome_columns::OutcomeColumns,
    time::{instant, length, millis},
};
use crate::{
    context::UserId,
    contract::{ConfirmationId, ToolError, ToolResult},
    store::{
        StoreError,
        idempotency::{ArgumentsDigest, Begun, Bound, Effect, Key, Room},
    },
};

/// Those that nobody remembers any more, a few at a time: each call brings one and takes more away.
const EXPIRE: &str = "DELETE FROM idempotency WHERE rowid IN \
                      (SELECT rowid FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT 64)";

const FIND: &str = "SELECT digest, begun_at, fetched_at, kept, data, expires_at, state, confirmation_id FROM idempotency \
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

const BEGIN: &str = "INSERT INTO idempotency \
                     (digest, begun_at, expires_at, reads, bytes, state, confirmation_id, user_id, tool, request_id) \
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const ASK: &str = "UPDATE idempotency SET state = 'asked', confirmation_id = ? \
                   WHERE user_id = ? AND tool = ? AND request_id = ? AND kept IS NULL";

const START: &str = "UPDATE idempotency SET state = 'started', begun_at = ?, expires_at = ? \
                     WHERE user_id = ? AND tool = ? AND request_id = ? AND state = 'asked' AND kept IS NULL";

const SUSPEND: &str = "UPDATE idempotency SET state = 'asked' \
                       WHERE user_id = ? AND tool = ? AND request_id = ? AND kept IS NULL";

const END: &str = "UPDATE idempotency SET fetched_at = ?, kept = ?, data = ?, bytes = ? \
                   WHERE user_id = ? AND tool = ? AND request_id = ?";

const TURN_DOWN: &str = "UPDATE idempotency SET fetched_at = ?1, kept = ?2, data = x'', bytes = bytes + ?3, \
     expires_at = max(expires_at, ?1 + CASE reads WHEN 1 THEN ?4 ELSE ?5 END) \
     WHERE confirmation_id = ?6 AND user_id = ?7 AND tool = ?8 AND request_id = ?9 AND state = 'asked' AND kept IS NULL";

const FORGET: &str = "DELETE FROM idempotency WHERE user_id = ? AND tool = ? AND request_id = ?";

/// What is recorded of a call.
pub(super) struct Recorded {
    pub(super) begun: SystemTime,
    pub(super) standing: Standing,
    digest: Vec<u8>,
}

/// How far a recorded call is.
pub(super) enum Standing {
    /// It waits for a person; with the confirmation that it needs itself.
    Asked(Option<String>),
    /// It was begun.
    Started,
    /// It ended.
    Ended(Begun),
}

/// What a new row says.
#[derive(Clone, Copy)]
pub(super) enum Opening<'a> {
    /// It begins.
    Started,
    /// It waits for this confirmation.
    Asked(&'a ConfirmationId),
}

impl Recorded {
    pub(super) fn is_of(&self, digest: ArgumentsDigest) -> bool {
        self.digest == digest.as_bytes()
    }
}

/// What is recorded of a call, if anything still is.
pub(super) async fn find(change: &mut Change, key: &Key, now: i64) -> Result<Option<Recorded>, Failed> {
    sqlx::query(EXPIRE).bind(now).execute(&mut **change).await?;
    let Some(row) = of_key(sqlx::query(FIND), key).fetch_optional(&mut **change).await? else {
        return Ok(None);
    };
    if row.try_get::<i64, _>("expires_at")? > now {
        return Ok(Some(recorded(&row, key)?));
    }
    forget(change, key).await?;
    Ok(None)
}

/// Adds a row, unless there is no room for it.
pub(super) async fn add(
    change: &mut Change,
    key: &Key,
    effect: Effect,
    digest: ArgumentsDigest,
    opening: Opening<'_>,
    now: i64,
    room: Room,
) -> Result<Option<Begun>, Failed> {
    if let Some(full) = full(change, &key.user, now, room).await? {
        return Ok(Some(full));
    }
    let (state, confirmation) = match opening {
        Opening::Started => ("started", None),
        Opening::Asked(id) => ("asked", Some(id.as_str())),
    };
    let begin = sqlx::query(BEGIN)
        .bind(digest.as_bytes().to_vec())
        .bind(now)
        .bind(now + length(effect.retention()))
        .bind(effect == Effect::Read)
        .bind(count(key.bytes()))
        .bind(state)
        .bind(confirmation);
    of_key(begin, key).execute(&mut **change).await?;
    Ok(None)
}

/// Lets a call wait for another confirmation.
pub(super) async fn ask(change: &mut Change, key: &Key, id: &ConfirmationId) -> Result<(), Failed> {
    of_key(sqlx::query(ASK).bind(id.as_str()), key).execute(&mut **change).await?;
    Ok(())
}

/// Begins a call that waited. Whether it did.
pub(super) async fn start(change: &mut Change, key: &Key, effect: Effect, now: i64) -> Result<bool, Failed> {
    let start = sqlx::query(START).bind(now).bind(now + length(effect.retention()));
    Ok(of_key(start, key).execute(&mut **change).await?.rows_affected() > 0)
}

/// Lets a call wait that was begun.
pub(super) async fn suspend(change: &mut Change, key: &Key) -> Result<(), Failed> {
    of_key(sqlx::query(SUSPEND), key).execute(&mut **change).await?;
    Ok(())
}

/// Records the end of a call.
pub(super) async fn end(change: &mut Change, key: &Key, result: &ToolResult) -> Result<(), Failed> {
    let OutcomeColumns { description, data } = OutcomeColumns::of(&result.outcome, &result.provenance);
    let bytes = count(key.bytes() + description.len() + data.len());
    let end = sqlx::query(END).bind(millis(result.fetched_at)).bind(description).bind(data).bind(bytes);
    of_key(end, key).execute(&mut **change).await?;
    Ok(())
}

/// Records the end of a call that waited for the given confirmation, which did not come.
pub(super) async fn turn_down(
    change: &mut Change,
    key: &Key,
    id: &ConfirmationId,
    error: ToolError,
    now: i64,
) -> Result<(), Failed> {
    let OutcomeColumns { description, .. } =
        OutcomeColumns::of(&Err(error), &crate::contract::Provenance::default());
    let bytes = count(description.len());
    let turn_down = sqlx::query(TURN_DOWN)
        .bind(now)
        .bind(description)
        .bind(bytes)
        .bind(length(Effect::Read.retention()))
        .bind(length(Effect::Write.retention()))
        .bind(id.as_str());
    of_key(turn_down, key).execute(&mut **change).await?;
    Ok(())
}

/// Forgets a call.
pub(super) async fn forget(change: &mut Change, key: &Key) -> Result<(), Failed> {
    of_key(sqlx::query(FORGET), key).execute(&mut **change).await?;
    Ok(())
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

fn recorded(row: &SqliteRow, key: &Key) -> Result<Recorded, sqlx::Error> {
    let begun = instant(row.try_get("begun_at")?);
    let (digest, kept): (Vec<u8>, Option<String>) = (row.try_get("digest")?, row.try_get("kept")?);
    let standing = match kept {
        Some(description) => ended(row, key, description)?,
        None if row.try_get::<String, _>("state")? == "asked" => {
            Standing::Asked(row.try_get("confirmation_id")?)
        }
        None => Standing::Started,
    };
    Ok(Recorded { begun, standing, digest })
}

/// An outcome that cannot be read any more counts as unfinished: nothing is carried out twice.
fn ended(row: &SqliteRow, key: &Key, description: String) -> Result<Standing, sqlx::Error> {
    let fetched_at = instant(row.try_get("fetched_at")?);
    let outcome: Result<_, StoreError> = OutcomeColumns { description, data: row.try_get("data")? }.outcome();
    match outcome {
        Ok((outcome, provenance)) => {
            let tool = key.tool.clone();
            Ok(Standing::Ended(Begun::Ended(Box::new(ToolResult { tool, fetched_at, outcome, provenance }))))
        }
        Err(error) => {
            tracing::warn!(%error, tool_name = %key.tool, "the outcome of an earlier call is lost");
            Ok(Standing::Started)
        }
    }
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

/// Binds the three columns of a key.
fn of_key<'q>(query: Query<'q>, key: &'q Key) -> Query<'q> {
    query.bind(key.user.as_str()).bind(key.tool.as_str()).bind(key.request_id.to_string())
}
