//! The table `mutations`: responses to requests with a `request_id`, other than calls.

use std::time::SystemTime;

use serde::{Serialize, de::DeserializeOwned};

use crate::tasks::{MUTATION_RETENTION, Mutation};
use toolwire_base::digest::Digest;
use toolwire_db::{
    Error,
    sql::{AsText, FromRow, Row, Statement, row, sql},
};
use toolwire_tool::context::{RequestId, UserId};

/// The stored response to a request.
#[derive(Clone, Debug)]
pub(crate) struct StoredAnswer<T> {
    pub(crate) request_id: RequestId,
    pub(crate) digest: Digest,
    pub(crate) answer: T,
}

impl<T: DeserializeOwned> FromRow for StoredAnswer<T> {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let AsText(request_id) = row.get("request_id")?;
        let answer =
            serde_json::from_slice(&row.get::<Vec<u8>>("answer")?).map_err(|error| unreadable(&error))?;
        Ok(Self { request_id, digest: row.get("digest")?, answer })
    }
}

/// The stored responses to requests of one method.
pub(crate) fn find_all<T>(
    user: &UserId,
    method: &'static str,
    ids: impl IntoIterator<Item = RequestId>,
    now: SystemTime,
) -> Statement<StoredAnswer<T>> {
    // One row of the primary key each. Of a list PostgreSQL may read all rows of the user and the method, and compare
    // each with the list.
    let mut all: Statement = Statement::default();
    for (index, id) in ids.into_iter().enumerate() {
        let one: Statement = sql!(
            "SELECT request_id, digest, answer FROM mutations
             WHERE user_id = {user} AND method = {method} AND request_id = {AsText(id)} AND expires_at > {now}"
        );
        all = all.append_if(index > 0, " UNION ALL ").and(one);
    }
    sql!("{..all}")
}

/// Inserts the responses to requests, at least one. An expired response under the same `request_id` is replaced.
pub(crate) fn insert_all(
    user: &UserId,
    answers: &[(Mutation, impl Serialize)],
    now: SystemTime,
) -> Result<Statement, Error> {
    let mut rows = Vec::with_capacity(answers.len());
    for (Mutation { method, request_id, digest }, answer) in answers {
        let answer = serde_json::to_vec(answer).map_err(|error| unreadable(&error))?;
        rows.push(row! {
            user_id = user, method = *method, request_id = AsText(*request_id), digest = *digest, answer = answer,
            expires_at = now + MUTATION_RETENTION,
        });
    }
    let replace = " ON CONFLICT (user_id, method, request_id) DO UPDATE SET digest = excluded.digest,
                    answer = excluded.answer, expires_at = excluded.expires_at";
    Ok(Statement::insert_all("mutations", rows).and(replace))
}

/// Deletes some of the responses that have expired.
pub(crate) fn delete_expired(now: SystemTime, limit: u32) -> Statement {
    sql!(
        "DELETE FROM mutations WHERE (user_id, method, request_id) IN
         (SELECT user_id, method, request_id FROM mutations WHERE expires_at <= {now} LIMIT {limit})"
    )
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::unreadable("answer", error.to_string())
}
