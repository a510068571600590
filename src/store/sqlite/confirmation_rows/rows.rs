//! Rows of confirmations, read and written.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sqlx::{Row, sqlite::SqliteRow};

use crate::{
    StoreError,
    confirmations::{Asked, Confirmation, Decided, life::State},
    idempotency::Key,
    sqlite::{Change, Failed, time::instant},
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ConfirmationCause, ConfirmationId, ToolName, proto::v1};
use toolwire_tool::context::{Outermost, SessionId, TaskLabel, UserId};

/// What is read of a row, in the order of nothing: by name.
pub(in crate::sqlite) const COLUMNS: &str = "c.id, c.state, c.user_id, c.tool, c.request_id, c.arguments_digest, c.definition_digest, \
     c.task_id, c.outer_call_id, c.outer_request_id, c.shown, c.arguments, c.created_at, c.expires_at, c.decided_at, \
     c.decided_by, c.decided_via, c.on_behalf_of, c.reason, c.used_at, c.used_by, c.sequence, c.position, 0 AS is_cut";

/// The same for lists: long arguments are not read.
pub(in crate::sqlite) const LISTED_COLUMNS: &str = "c.id, c.state, c.user_id, c.tool, c.request_id, c.arguments_digest, \
     c.definition_digest, c.task_id, c.outer_call_id, c.outer_request_id, c.shown, \
     CASE WHEN octet_length(c.arguments) <= 16384 THEN c.arguments END AS arguments, c.created_at, c.expires_at, \
     c.decided_at, c.decided_by, c.decided_via, c.on_behalf_of, c.reason, c.used_at, c.used_by, c.sequence, c.position, \
     coalesce(octet_length(c.arguments) > 16384, 0) AS is_cut";

const NEXT: &str = "UPDATE confirmation_sequence SET last = last + 1 RETURNING last";

const NEXT_OF_USER: &str = "INSERT INTO confirmation_positions (user_id, last) VALUES (?, 1) \
                            ON CONFLICT (user_id) DO UPDATE SET last = last + 1 RETURNING last";

const NOTE: &str = "INSERT INTO confirmation_events (sequence, confirmation_id, state, at, expires_at, reason, user_id, \
                    position) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

/// What a person is told beside the columns.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::sqlite) struct Shown {
    user_email: Option<String>,
    path: Vec<String>,
    summary: String,
    category: String,
    consequence_level: String,
    cause: String,
    session_id: Option<String>,
    is_repeatable: bool,
}

impl Shown {
    pub(in crate::sqlite) fn of(asked: &Asked) -> Self {
        Self {
            user_email: asked.user_email.clone(),
            path: asked.path.iter().map(ToString::to_string).collect(),
            summary: asked.summary.clone(),
            category: asked.category.as_str_name().to_owned(),
            consequence_level: asked.consequence_level.as_str_name().to_owned(),
            cause: v1::ConfirmationCause::from(asked.cause).as_str_name().to_owned(),
            session_id: asked.session_id.as_ref().map(ToString::to_string),
            is_repeatable: asked.outermost.is_repeatable,
        }
    }
}

/// Notes a change of a user's confirmation and returns its position, among those of all and of the user.
pub(in crate::sqlite) async fn note(
    change: &mut Change,
    (id, user): (&ConfirmationId, &UserId),
    state: State,
    (at, expires_at): (i64, i64),
    reason: &str,
) -> Result<(i64, i64), Failed> {
    let sequence: i64 = sqlx::query_scalar(NEXT).fetch_one(&mut **change).await?;
    let next = sqlx::query_scalar(NEXT_OF_USER).bind(user.as_str());
    let position: i64 = next.fetch_one(&mut **change).await?;
    let note =
        sqlx::query(NOTE).bind(sequence).bind(id.as_str()).bind(state.into_str()).bind(at).bind(expires_at);
    note.bind(reason).bind(user.as_str()).bind(position).execute(&mut **change).await?;
    Ok((sequence, position))
}

pub(in crate::sqlite) fn confirmation(row: &SqliteRow) -> Result<Confirmation, Failed> {
    let state: String = row.try_get("state")?;
    let (sequence, position): (i64, i64) = (row.try_get("sequence")?, row.try_get("position")?);
    Ok(Confirmation {
        id: parsed(&row.try_get::<String, _>("id")?)?,
        state: state.parse().map_err(|_| unreadable(format!("there is no state {state:?}")))?,
        key: Key {
            user: parsed(&row.try_get::<String, _>("user_id")?)?,
            tool: parsed(&row.try_get::<String, _>("tool")?)?,
            request_id: parsed(&row.try_get::<String, _>("request_id")?)?,
        },
        asked: asked(row)?,
        arguments_digest: digest(&row.try_get::<Vec<u8>, _>("arguments_digest")?)?,
        created_at: instant(row.try_get("created_at")?),
        expires_at: instant(row.try_get("expires_at")?),
        decided: decided(row)?,
        reason: row.try_get("reason")?,
        used: used(row)?,
        sequence: u64::try_from(sequence).unwrap_or_default(),
        position: u64::try_from(position).unwrap_or_default(),
        is_cut: row.try_get("is_cut")?,
    })
}

fn asked(row: &SqliteRow) -> Result<Asked, Failed> {
    let shown: Shown = json(&row.try_get::<String, _>("shown")?)?;
    let arguments: Option<String> = row.try_get("arguments")?;
    let path: Result<Vec<ToolName>, _> = shown.path.iter().map(|name| parsed(name)).collect();
    let task_id: Option<String> = row.try_get("task_id")?;
    Ok(Asked {
        user_email: shown.user_email,
        path: path?,
        summary: shown.summary,
        arguments: arguments.map(|text| json::<Map<String, Value>>(&text)).transpose()?,
        definition_digest: digest(&row.try_get::<Vec<u8>, _>("definition_digest")?)?,
        category: v1::ToolCategory::from_str_name(&shown.category).unwrap_or_default(),
        consequence_level: v1::ConsequenceLevel::from_str_name(&shown.consequence_level).unwrap_or_default(),
        cause: cause(&shown.cause)?,
        task_id: task_id.map(|text| parsed::<TaskLabel>(&text)).transpose()?,
        session_id: shown.session_id.map(|text| parsed::<SessionId>(&text)).transpose()?,
        outermost: Outermost {
            call_id: parsed(&row.try_get::<String, _>("outer_call_id")?)?,
            request_id: parsed(&row.try_get::<String, _>("outer_request_id")?)?,
            is_repeatable: shown.is_repeatable,
        },
    })
}

fn decided(row: &SqliteRow) -> Result<Option<Decided>, Failed> {
    let Some(at) = row.try_get::<Option<i64>, _>("decided_at")? else { return Ok(None) };
    let text = |column| row.try_get::<Option<String>, _>(column).map(Option::unwrap_or_default);
    let (by, via, on_behalf_of) = (text("decided_by")?, text("decided_via")?, text("on_behalf_of")?);
    Ok(Some(Decided { at: instant(at), by: parsed(&by)?, via, on_behalf_of }))
}

fn used(row: &SqliteRow) -> Result<Option<(SystemTime, toolwire_tool::context::CallId)>, Failed> {
    let Some(at) = row.try_get::<Option<i64>, _>("used_at")? else { return Ok(None) };
    let by: Option<String> = row.try_get("used_by")?;
    Ok(Some((instant(at), parsed(&by.unwrap_or_default())?)))
}

fn cause(word: &str) -> Result<ConfirmationCause, Failed> {
    match v1::ConfirmationCause::from_str_name(word) {
        Some(v1::ConfirmationCause::Manifest) => Ok(ConfirmationCause::Manifest),
        Some(v1::ConfirmationCause::Tainted) => Ok(ConfirmationCause::Tainted),
        Some(v1::ConfirmationCause::Caller) => Ok(ConfirmationCause::Caller),
        _ => Err(unreadable(format!("there is no cause {word:?}"))),
    }
}

fn digest(bytes: &[u8]) -> Result<Digest, Failed> {
    Digest::from_bytes(bytes).ok_or_else(|| unreadable(format!("a digest of {} bytes", bytes.len())))
}

fn parsed<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<T, Failed> {
    text.parse().map_err(|error: T::Err| unreadable(error.to_string()))
}

fn json<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, Failed> {
    serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))
}

fn unreadable(cause: String) -> Failed {
    Failed::Store(StoreError::Unreadable { what: "confirmation", cause })
}
