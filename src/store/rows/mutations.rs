//! The table `mutations`: answers to changes with a `request_id` that are no calls.

use std::time::SystemTime;

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Error, sql,
    sql::{AsText, Connection, FromRow, Row, Statement},
    tasks::{MUTATIONS_KEPT, Mutation},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{RequestId, UserId};

/// The answer to a change.
#[derive(Clone, Debug)]
pub(crate) struct Answered<T> {
    pub(crate) digest: Digest,
    pub(crate) answer: T,
}

/// A row, with the identifier of the change.
struct Identified<T>(RequestId, Answered<T>);

impl<T: DeserializeOwned> FromRow for Identified<T> {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let AsText(id) = row.get("request_id")?;
        let answer = serde_json::from_slice(&row.get::<Vec<u8>>("answer")?);
        let answer = answer.map_err(|error| Error::unreadable("answer", error.to_string()))?;
        Ok(Self(id, Answered { digest: row.get("digest")?, answer }))
    }
}

/// The answers to changes of one method.
pub(crate) async fn find_all<T: DeserializeOwned>(
    connection: &mut Connection,
    user: &UserId,
    method: &'static str,
    ids: impl IntoIterator<Item = RequestId>,
    now: SystemTime,
) -> Result<Vec<(RequestId, Answered<T>)>, Error> {
    let mut find = sql!("SELECT request_id, digest, answer FROM mutations WHERE expires_at > ", now);
    find.push(" AND user_id = ").bind(user).push(" AND method = ").bind(method);
    find.push(" AND request_id IN ").bind_list(ids.into_iter().map(AsText));
    Ok(find.all(connection).await?.into_iter().map(|Identified(id, answered)| (id, answered)).collect())
}

/// Keeps the answers to some changes, at least one. An expired answer under the same identifier is replaced.
pub(crate) async fn insert_all(
    connection: &mut Connection,
    user: &UserId,
    answers: &[(Mutation, impl Serialize)],
    now: SystemTime,
) -> Result<(), Error> {
    let mut rows = Vec::with_capacity(answers.len());
    for (mutation, answer) in answers {
        let answer = serde_json::to_vec(answer);
        let answer = answer.map_err(|error| Error::unreadable("answer", error.to_string()))?;
        rows.push([
            ("user_id", user.into()),
            ("method", mutation.method.into()),
            ("request_id", AsText(mutation.request_id).into()),
            ("digest", mutation.digest.into()),
            ("answer", answer.into()),
            ("expires_at", (now + MUTATIONS_KEPT).into()),
        ]);
    }
    let mut insert = Statement::insert_all("mutations", rows);
    insert.push(" ON CONFLICT (user_id, method, request_id) DO UPDATE SET digest = excluded.digest,");
    insert.push(" answer = excluded.answer, expires_at = excluded.expires_at");
    insert.execute(connection).await?;
    Ok(())
}

/// Deletes some of the answers that have expired.
pub(crate) async fn delete_expired(
    connection: &mut Connection,
    now: SystemTime,
    limit: u32,
) -> Result<(), Error> {
    let delete = sql! {
        "DELETE FROM mutations WHERE (user_id, method, request_id) IN
            (SELECT user_id, method, request_id FROM mutations WHERE expires_at <= ", now,
        " LIMIT ", limit,
        ")"
    };
    delete.execute(connection).await?;
    Ok(())
}
