//! The rows of calls with a `request_id`, as steps of a change. Idempotency and confirmations are made of them. What is
//! begun and how it ends is in the audit too.

mod look;
mod owner;
mod room;

use std::time::SystemTime;

use sqlx::{Row, sqlite::SqliteRow};

use self::room::{EXPIRE, full};
use super::{
    Change, Failed,
    audit::{self, Approval},
    outcome_columns::OutcomeColumns,
    time::{instant, length, millis},
};
use crate::{
    StoreError,
    idempotency::{About, ArgumentsDigest, Beginning, Begun, Effect, Key, Room},
};
use toolwire_base::clock;
use toolwire_contract::{ConfirmationId, ToolError, ToolResult};

const FIND: &str = "SELECT digest, begun_at, fetched_at, kept, data, expires_at, state, confirmation_id FROM idempotency \
                    WHERE user_id = ? AND tool = ? AND request_id = ?";

const BEGIN: &str = "INSERT INTO idempotency (digest, begun_at, expires_at, reads, bytes, state, confirmation_id, audit, \
     call_id, parent_call_id, definition_digest, face, task_id, session_id, trace_id, deadline, replica, \
     user_id, tool, request_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const ASK: &str = "UPDATE idempotency SET state = 'asked', confirmation_id = ? \
                   WHERE user_id = ? AND tool = ? AND request_id = ? AND kept IS NULL";

const START: &str = "UPDATE idempotency SET state = 'started', ended_at = NULL, code = NULL, begun_at = ?, expires_at = ?, call_id = ?, \
     parent_call_id = ?, definition_digest = ?, face = ?, task_id = ?, session_id = ?, trace_id = ?, deadline = ?, replica = ? \
     WHERE user_id = ? AND tool = ? AND request_id = ? AND state = 'asked' AND kept IS NULL";

const AUDITED: &str = "UPDATE idempotency SET audit = ? WHERE user_id = ? AND tool = ? AND request_id = ?";

const SUSPEND: &str = "UPDATE idempotency SET state = 'asked', ended_at = ?, code = 'CONFIRMATION_REQUIRED' \
                       WHERE user_id = ? AND tool = ? AND request_id = ? AND kept IS NULL";

const END: &str = "UPDATE idempotency SET fetched_at = ?, kept = ?, data = ?, bytes = ?, ended_at = ?, code = ? \
                   WHERE user_id = ? AND tool = ? AND request_id = ?";

const TURN_DOWN: &str = "UPDATE idempotency SET fetched_at = ?1, ended_at = ?1, code = ?10, kept = ?2, data = x'', bytes = bytes + ?3, \
     expires_at = max(expires_at, ?1 + CASE reads WHEN 1 THEN ?4 ELSE ?5 END) \
     WHERE confirmation_id = ?6 AND user_id = ?7 AND tool = ?8 AND request_id = ?9 AND state = 'asked' AND kept IS NULL";

const ENDED: &str = "UPDATE idempotency SET ended_at = ?, code = ? WHERE user_id = ? AND tool = ? AND request_id = ? AND audit IS NOT NULL";

const FORGET: &str = "DELETE FROM idempotency WHERE user_id = ? AND tool = ? AND request_id = ?";

/// How a call ended that has data.
pub(super) const OK: &str = "OK";

pub(super) struct Recorded {
    pub(super) begun: SystemTime,
    pub(super) standing: Standing,
    digest: Vec<u8>,
}

/// How far a recorded call is.
pub(super) enum Standing {
    /// It waits for a person; with the confirmation that it needs itself.
    Asked(Option<String>),
    Started,
    Ended(Begun),
}

/// What a new row says.
#[derive(Clone, Copy)]
pub(super) enum Opening<'a> {
    /// It begins, by this approval if somebody had to approve it.
    Started(Option<Approval<'a>>),
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
    call: &Beginning<'_>,
    opening: Opening<'_>,
    now: i64,
    room: Room,
) -> Result<Option<Begun>, Failed> {
    let Beginning { key, effect, .. } = *call;
    if let Some(full) = full(change, &key.user, now, room).await? {
        return Ok(Some(full));
    }
    let (state, confirmation, audit) = match opening {
        Opening::Started(approval) => {
            ("started", approval.map(|it| it.confirmation), audited(change, call, approval, now).await?)
        }
        Opening::Asked(id) => ("asked", Some(id), None),
    };
    let begin = sqlx::query(BEGIN)
        .bind(call.digest.as_bytes().to_vec())
        .bind(now)
        .bind(now + length(effect.retention()))
        .bind(effect == Effect::Read)
        .bind(count(key.bytes()))
        .bind(state)
        .bind(confirmation.map(ConfirmationId::as_str))
        .bind(audit);
    let begin = about(begin, call.about).bind(change.replica().to_owned());
    of_key(begin, key).execute(&mut **change).await?;
    Ok(None)
}

/// Lets a call wait for another confirmation.
pub(super) async fn ask(change: &mut Change, key: &Key, id: &ConfirmationId) -> Result<(), Failed> {
    of_key(sqlx::query(ASK).bind(id.as_str()), key).execute(&mut **change).await?;
    Ok(())
}

/// Begins a call that waited. Whether it did.
pub(super) async fn start(
    change: &mut Change,
    call: &Beginning<'_>,
    approval: Option<Approval<'_>>,
    now: i64,
) -> Result<bool, Failed> {
    let start = sqlx::query(START).bind(now).bind(now + length(call.effect.retention()));
    let start = about(start, call.about).bind(change.replica().to_owned());
    if of_key(start, call.key).execute(&mut **change).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let audit = audited(change, call, approval, now).await?;
    of_key(sqlx::query(AUDITED).bind(audit), call.key).execute(&mut **change).await?;
    Ok(true)
}

/// Notes in the audit that a call begins: a write, or what a person approved.
async fn audited(
    change: &mut Change,
    call: &Beginning<'_>,
    approval: Option<Approval<'_>>,
    now: i64,
) -> Result<Option<i64>, Failed> {
    if call.effect == Effect::Read && approval.is_none() {
        return Ok(None);
    }
    audit::begun(change, call, approval, now).await.map(Some)
}

/// Lets a call wait that was begun.
pub(super) async fn suspend(change: &mut Change, key: &Key) -> Result<(), Failed> {
    of_key(sqlx::query(SUSPEND).bind(millis(clock::wall())), key).execute(&mut **change).await?;
    Ok(())
}

/// Records the end of a call.
pub(super) async fn end(change: &mut Change, key: &Key, result: &ToolResult) -> Result<(), Failed> {
    let OutcomeColumns { description, data } = OutcomeColumns::of(&result.outcome, &result.provenance);
    let bytes = count(key.bytes() + description.len() + data.len());
    change.adds(description.len() + data.len());
    let end = sqlx::query(END).bind(millis(result.fetched_at)).bind(description).bind(data).bind(bytes);
    let code = result.outcome.as_ref().map_or_else(|error| error.code.into_str(), |_| OK);
    let end = end.bind(millis(clock::wall())).bind(code);
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
    let code = error.code.into_str();
    let OutcomeColumns { description, .. } =
        OutcomeColumns::of(&Err(error), &toolwire_contract::Provenance::default());
    let bytes = count(description.len());
    let turn_down = sqlx::query(TURN_DOWN)
        .bind(now)
        .bind(description)
        .bind(bytes)
        .bind(length(Effect::Read.retention()))
        .bind(length(Effect::Write.retention()))
        .bind(id.as_str());
    of_key(turn_down, key).bind(code).execute(&mut **change).await?;
    Ok(())
}

/// Notes how a call ended that is forgotten next.
pub(super) async fn note_end(change: &mut Change, key: &Key, code: &str) -> Result<(), Failed> {
    of_key(sqlx::query(ENDED).bind(millis(clock::wall())).bind(code), key).execute(&mut **change).await?;
    Ok(())
}

pub(super) async fn forget(change: &mut Change, key: &Key) -> Result<(), Failed> {
    of_key(sqlx::query(FORGET), key).execute(&mut **change).await?;
    Ok(())
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

/// Binds the eight columns that tell who looks later about a call.
fn about<'q>(query: Query<'q>, about: &About) -> Query<'q> {
    query
        .bind(about.call_id.to_string())
        .bind(about.parent_call_id.map(|id| id.to_string()))
        .bind(about.definition_digest.as_bytes().to_vec())
        .bind(about.origin.face)
        .bind(about.task_id.as_ref().map(ToString::to_string))
        .bind(about.session_id.as_ref().map(ToString::to_string))
        .bind(about.trace_id.map(|id| id.to_string()))
        .bind(millis(about.deadline))
}
