//! Rows of the table `mutations`: the answers to `PutDocument` requests, by their `request_id`.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    documents::Mutation,
    sql,
    sql::{Connection, FromRow, Row, Statement},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{RequestId, UserId};

const METHOD: &str = "PutDocument";

/// What a request made of a document.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) version: u32,
    pub(crate) etag: String,
}

/// A request that was answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) digest: Digest,
    pub(crate) answer: Answer,
}

impl FromRow for Answered {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let answer = serde_json::from_slice(&row.get::<Vec<u8>>("answer")?);
        let answer = answer.map_err(|error| Error::unreadable("answer", error.to_string()))?;
        Ok(Self { digest: row.get("digest")?, answer })
    }
}

pub(crate) async fn find(
    connection: &mut Connection,
    user: &UserId,
    request_id: RequestId,
    now: SystemTime,
) -> Result<Option<Answered>, Error> {
    let find = sql! {
        "SELECT digest, answer FROM mutations WHERE user_id = ", user,
        " AND method = ", METHOD,
        " AND request_id = ", request_id.to_string(),
        " AND expires_at > ", now
    };
    find.optional(connection).await
}

/// Inserts an answer. One that has expired is replaced.
pub(crate) async fn insert(
    connection: &mut Connection,
    user: &UserId,
    mutation: &Mutation,
    answer: &Answer,
    expires_at: SystemTime,
) -> Result<(), Error> {
    let columns = [
        ("user_id", user.into()),
        ("method", METHOD.into()),
        ("request_id", mutation.request_id.to_string().into()),
        ("digest", mutation.digest.into()),
        ("answer", serde_json::to_vec(answer).expect("a number and a text are JSON").into()),
        ("expires_at", expires_at.into()),
    ];
    let mut insert = Statement::insert("mutations", columns);
    insert.push(" ON CONFLICT (user_id, method, request_id) DO UPDATE SET digest = excluded.digest,");
    insert.push(" answer = excluded.answer, expires_at = excluded.expires_at");
    insert.execute(connection).await?;
    Ok(())
}
