//! Answers to changes with a `request_id` that are no calls: kept in the change itself.

use std::{collections::HashMap, time::SystemTime};

use serde::{Serialize, de::DeserializeOwned};
use sqlx::QueryBuilder;

use super::{
    fault::{Fault, unreadable},
    rows::{json, parsed},
};
use crate::{
    sqlite::{
        Change, Failed,
        time::{length, millis},
    },
    tasks::{MUTATIONS_KEPT, Mutation, Refused},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{RequestId, UserId};

const FIND: &str = "SELECT request_id, digest, answer FROM mutations WHERE expires_at > ";

const KEEP: &str =
    "INSERT OR REPLACE INTO mutations (user_id, method, request_id, digest, answer, expires_at) ";

const FORGET: &str = "DELETE FROM mutations WHERE (user_id, method, request_id) IN \
    (SELECT user_id, method, request_id FROM mutations WHERE expires_at <= ? LIMIT 512)";

/// What a change was answered.
#[derive(Clone, Debug)]
pub(super) struct Answered<T> {
    digest: Digest,
    answer: T,
}

impl<T> Answered<T> {
    pub(super) fn new(digest: Digest, answer: T) -> Self {
        Self { digest, answer }
    }

    /// The answer to the same change; another one with its identifier is refused.
    pub(super) fn to(self, mutation: Mutation) -> Result<T, Refused> {
        if self.digest == mutation.digest {
            Ok(self.answer)
        } else {
            Err(Refused::RequestIdReused(mutation.request_id))
        }
    }
}

/// What a change was answered before.
pub(super) async fn find<T: DeserializeOwned>(
    change: &mut Change,
    user: &UserId,
    mutation: Mutation,
    now: SystemTime,
) -> Result<Option<T>, Fault> {
    let found = find_all(change, user, &[mutation], now).await?.remove(&mutation.request_id);
    Ok(found.map(|answered| answered.to(mutation)).transpose()?)
}

/// What changes of one method were answered before.
pub(super) async fn find_all<T: DeserializeOwned>(
    change: &mut Change,
    user: &UserId,
    mutations: &[Mutation],
    now: SystemTime,
) -> Result<HashMap<RequestId, Answered<T>>, Failed> {
    let Some(first) = mutations.first() else { return Ok(HashMap::new()) };
    let mut query = QueryBuilder::new(FIND);
    query.push_bind(millis(now));
    query.push(" AND user_id = ").push_bind(user.as_str());
    query.push(" AND method = ").push_bind(first.method);
    query.push(" AND request_id IN (");
    let mut ids = query.separated(", ");
    for mutation in mutations {
        ids.push_bind(mutation.request_id.to_string());
    }
    ids.push_unseparated(")");
    let found: Vec<(String, Vec<u8>, Vec<u8>)> = query.build_query_as().fetch_all(&mut **change).await?;
    found.into_iter().map(|(id, digest, answer)| answered(&id, &digest, &answer)).collect()
}

fn answered<T: DeserializeOwned>(
    id: &str,
    digest: &[u8],
    answer: &[u8],
) -> Result<(RequestId, Answered<T>), Failed> {
    let digest =
        Digest::from_bytes(digest).ok_or_else(|| unreadable("answer", "its digest has no 32 bytes"))?;
    let answer = serde_json::from_slice(answer).map_err(|error| unreadable("answer", error.to_string()))?;
    Ok((parsed(id)?, Answered { digest, answer }))
}

pub(super) async fn keep(
    change: &mut Change,
    user: &UserId,
    mutation: Mutation,
    answer: &impl Serialize,
    now: SystemTime,
) -> Result<(), Failed> {
    keep_all(change, user, &[(mutation, answer)], now).await
}

pub(super) async fn keep_all(
    change: &mut Change,
    user: &UserId,
    answers: &[(Mutation, impl Serialize)],
    now: SystemTime,
) -> Result<(), Failed> {
    let mut query = QueryBuilder::new(KEEP);
    query.push_values(answers, |mut row, (mutation, answer)| {
        row.push_bind(user.as_str())
            .push_bind(mutation.method)
            .push_bind(mutation.request_id.to_string())
            .push_bind(mutation.digest.as_bytes().to_vec())
            .push_bind(json(answer).into_bytes())
            .push_bind(millis(now) + length(MUTATIONS_KEPT));
    });
    query.build().execute(&mut **change).await?;
    Ok(())
}

/// Forgets what is kept no longer, some at a time.
pub(super) async fn forget(change: &mut Change, now: SystemTime) -> Result<(), Failed> {
    sqlx::query(FORGET).bind(millis(now)).execute(&mut **change).await?;
    Ok(())
}
