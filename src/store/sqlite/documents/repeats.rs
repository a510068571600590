//! Writes that are repeated by their `request_id`: the same one has the answer of the first.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sqlx::{Row, SqliteConnection};

use crate::{
    documents::{Document, Mutation},
    sqlite::{
        Change, Failed,
        time::{length, millis},
    },
};
use toolwire_tool::context::{RequestId, UserId};

const METHOD: &str = "PutDocument";

/// How long a write is remembered.
const KEPT: Duration = Duration::from_hours(24);

const FIND: &str = "SELECT digest, answer FROM mutations \
                    WHERE user_id = ? AND method = ? AND request_id = ? AND expires_at > ?";

const KEEP: &str = "INSERT OR REPLACE INTO mutations (user_id, method, request_id, digest, answer, expires_at) \
                    VALUES (?, ?, ?, ?, ?, ?)";

/// What became of a document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) version: u32,
    pub(super) etag: String,
}

/// What is remembered of a `request_id`.
pub(super) enum Found {
    Answer(Answer),
    /// It was used for another request.
    Another,
}

pub(super) async fn find(
    change: &mut Change,
    user: &UserId,
    mutation: &Mutation,
    now: SystemTime,
) -> Result<Option<Found>, Failed> {
    let query = sqlx::query(FIND).bind(user.as_str()).bind(METHOD).bind(mutation.request_id.to_string());
    let Some(row) = query.bind(millis(now)).fetch_optional(&mut **change).await? else { return Ok(None) };
    let (digest, answer): (Vec<u8>, Vec<u8>) = (row.try_get("digest")?, row.try_get("answer")?);
    Ok(Some(match serde_json::from_slice(&answer) {
        Ok(answer) if digest == mutation.digest.as_bytes() => Found::Answer(answer),
        _ => Found::Another,
    }))
}

/// Whether a request of this name was answered.
pub(super) async fn is_known(
    connection: &mut SqliteConnection,
    user: &UserId,
    request_id: RequestId,
    now: SystemTime,
) -> Result<bool, Failed> {
    let query = sqlx::query(FIND).bind(user.as_str()).bind(METHOD).bind(request_id.to_string());
    Ok(query.bind(millis(now)).fetch_optional(connection).await?.is_some())
}

pub(super) async fn keep(
    change: &mut Change,
    user: &UserId,
    mutation: &Mutation,
    document: &Document,
    now: SystemTime,
) -> Result<(), Failed> {
    let answer = Answer { version: document.version, etag: document.etag.clone() };
    let keep = sqlx::query(KEEP)
        .bind(user.as_str())
        .bind(METHOD)
        .bind(mutation.request_id.to_string())
        .bind(mutation.digest.as_bytes().to_vec())
        .bind(serde_json::to_vec(&answer).expect("a number and a text are JSON"))
        .bind(millis(now) + length(KEPT));
    keep.execute(&mut **change).await?;
    Ok(())
}
