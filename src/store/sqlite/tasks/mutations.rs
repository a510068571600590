//! Answers to changes with a `request_id` that are no calls: kept in the change itself.

use std::time::SystemTime;

use serde::{Serialize, de::DeserializeOwned};

use super::{
    fault::{Fault, unreadable},
    rows::json,
};
use crate::{
    context::UserId,
    store::{
        sqlite::{
            Change, Failed,
            time::{length, millis},
        },
        tasks::{MUTATIONS_KEPT, Mutation, Refused},
    },
};

const FIND: &str = "SELECT digest, answer FROM mutations \
                    WHERE user_id = ? AND method = ? AND request_id = ? AND expires_at > ?";

const KEEP: &str = "INSERT OR REPLACE INTO mutations (user_id, method, request_id, digest, answer, expires_at) \
                    VALUES (?, ?, ?, ?, ?, ?)";

const FORGET: &str = "DELETE FROM mutations WHERE (user_id, method, request_id) IN \
    (SELECT user_id, method, request_id FROM mutations WHERE expires_at <= ? LIMIT 512)";

/// What a change was answered before.
pub(super) async fn find<T: DeserializeOwned>(
    change: &mut Change,
    user: &UserId,
    mutation: Mutation,
    now: SystemTime,
) -> Result<Option<T>, Fault> {
    let found: Option<(Vec<u8>, Vec<u8>)> = sqlx::query_as(FIND)
        .bind(user.as_str())
        .bind(mutation.method)
        .bind(mutation.request_id.to_string())
        .bind(millis(now))
        .fetch_optional(&mut **change)
        .await?;
    let Some((digest, answer)) = found else { return Ok(None) };
    if digest != mutation.digest.as_bytes() {
        return Err(Refused::RequestIdReused(mutation.request_id).into());
    }
    Ok(Some(serde_json::from_slice(&answer).map_err(|error| unreadable("answer", error.to_string()))?))
}

/// Keeps the answer.
pub(super) async fn keep(
    change: &mut Change,
    user: &UserId,
    mutation: Mutation,
    answer: &impl Serialize,
    now: SystemTime,
) -> Result<(), Failed> {
    sqlx::query(KEEP)
        .bind(user.as_str())
        .bind(mutation.method)
        .bind(mutation.request_id.to_string())
        .bind(mutation.digest.as_bytes().to_vec())
        .bind(json(answer).into_bytes())
        .bind(millis(now) + length(MUTATIONS_KEPT))
        .execute(&mut **change)
        .await?;
    Ok(())
}

/// Forgets what is kept no longer, some at a time.
pub(super) async fn forget(change: &mut Change, now: SystemTime) -> Result<(), Failed> {
    sqlx::query(FORGET).bind(millis(now)).execute(&mut **change).await?;
    Ok(())
}
