//! Repeats of writes under their `request_id`, which receive the response of the first attempt.

use std::time::{Duration, SystemTime};

use crate::{
    documents::{Document, Mutation, Outcome, Put, Refused},
    engine::{Error, Tx},
    rows::{
        documents,
        put_answers::{self as rows, Answer},
        versions,
    },
    sql::Connection,
};
use toolwire_tool::context::{RequestId, UserId};

/// How long the response to a write is retained.
const KEPT: Duration = Duration::from_hours(24);

/// The response to an earlier request under the same identifier.
pub(super) async fn find(tx: &mut Tx, put: &Put) -> Result<Option<Outcome>, Error> {
    let Some(mutation) = &put.mutation else { return Ok(None) };
    let change = &put.change;
    let Some(answered) = rows::find(tx, &change.user, mutation.request_id, change.now).await? else {
        return Ok(None);
    };
    if answered.digest != mutation.digest {
        return Ok(Some(Err(Refused::Reused)));
    }
    as_answered(tx, put, &answered.answer).await.map(Some)
}

/// Whether a request under this identifier has a response.
pub(super) async fn is_known(
    connection: &mut Connection,
    user: &UserId,
    request_id: RequestId,
    now: SystemTime,
) -> Result<bool, Error> {
    Ok(rows::find(connection, user, request_id, now).await?.is_some())
}

pub(super) async fn keep(
    tx: &mut Tx,
    user: &UserId,
    mutation: &Mutation,
    document: &Document,
    now: SystemTime,
) -> Result<(), Error> {
    let answer = Answer { version: document.version, etag: document.etag.clone() };
    rows::insert(tx, user, mutation, &answer, now + KEPT).await
}

/// The document as the earlier request left it, regardless of later writes.
async fn as_answered(tx: &mut Tx, put: &Put, answer: &Answer) -> Result<Outcome, Error> {
    let Some(found) = documents::find(tx, &put.change.root, &put.change.path).await? else {
        return Ok(Err(Refused::Unknown));
    };
    let mut document = found.document;
    if document.etag == answer.etag {
        return Ok(Ok(document));
    }
    let Some(written) = versions::find(tx, found.id, answer.version).await? else {
        return Ok(Err(Refused::Unknown));
    };
    document.etag.clone_from(&answer.etag);
    (document.version, document.content) = (written.version, written.content);
    (document.updated_by, document.updated_at) = (written.written_by, written.written_at);
    Ok(Ok(document))
}
