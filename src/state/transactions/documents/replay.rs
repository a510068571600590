//! Repeats of writes under their `request_id`, which receive the response of the first attempt.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::{
    documents::{
        Document, Mutation, Outcome, Put, Refused,
        rows::{self as documents, versions},
    },
    tasks::{
        self,
        rows::mutations::{self as rows, StoredAnswer},
    },
};
use toolwire_db::{Error, Tx, sql::Statement};
use toolwire_tool::context::{RequestId, UserId};

const METHOD: &str = "PutDocument";

/// The stored response to a write of a document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PutResponse {
    version: u32,
    etag: String,
}

/// The response to an earlier request under the same `request_id`.
pub(super) async fn find(tx: &mut Tx, put: &Put) -> Result<Option<Outcome>, Error> {
    let Some(mutation) = &put.mutation else { return Ok(None) };
    let change = &put.change;
    let answered = find_answer(&change.user, mutation.request_id, tx.now()).optional(tx).await?;
    let Some(answered) = answered else { return Ok(None) };
    if answered.digest != mutation.digest {
        return Ok(Some(Err(Refused::Reused)));
    }
    restore(tx, put, &answered.answer).await.map(Some)
}

/// Finds the stored response to a request under this `request_id`.
pub(super) fn find_answer(
    user: &UserId,
    request_id: RequestId,
    now: SystemTime,
) -> Statement<StoredAnswer<PutResponse>> {
    rows::find_all(user, METHOD, [request_id], now)
}

pub(super) async fn record(
    tx: &mut Tx,
    user: &UserId,
    &Mutation { request_id, digest }: &Mutation,
    document: &Document,
) -> Result<(), Error> {
    let now = tx.now();
    let answer = PutResponse { version: document.version, etag: document.etag.clone() };
    let mutation = tasks::Mutation { method: METHOD, request_id, digest };
    rows::insert_all(user, &[(mutation, answer)], now)?.run(tx).await
}

/// The document as the earlier request left it, regardless of later writes.
async fn restore(tx: &mut Tx, put: &Put, answer: &PutResponse) -> Result<Outcome, Error> {
    let Some(found) = documents::find(&put.change.root, &put.change.path).optional(tx).await? else {
        return Ok(Err(Refused::Unknown));
    };
    let mut document = found.document;
    if document.etag == answer.etag {
        return Ok(Ok(document));
    }
    let Some(written) = versions::find(found.id, answer.version).optional(tx).await? else {
        return Ok(Err(Refused::Unknown));
    };
    document.etag.clone_from(&answer.etag);
    (document.version, document.content) = (written.version, written.content);
    (document.updated_by, document.updated_at) = (written.written_by, written.written_at);
    Ok(Ok(document))
}
