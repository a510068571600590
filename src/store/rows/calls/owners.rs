//! Which processes carry calls out.

use super::State;
use crate::{
    Error,
    cancellations::Subject,
    sql,
    sql::{Connection, Scalar},
};
use toolwire_tool::context::{CallId, UserId};

/// The processes that carry the calls of a subject out, according to their records; none if the subject is no call.
pub(crate) async fn owners(
    connection: &mut Connection,
    user: &UserId,
    subject: &Subject,
) -> Result<Vec<String>, Error> {
    let mut owners = sql! {
        "SELECT replica FROM idempotency WHERE kept IS NULL AND replica IS NOT NULL AND state = ", State::Started,
        " AND user_id = ", user
    };
    match subject {
        Subject::Call(_) => owners.push(" AND call_id = "),
        Subject::Request(_) => owners.push(" AND request_id = "),
        Subject::Turn(_) | Subject::Session(_) | Subject::Job(_) => return Ok(Vec::new()),
    };
    owners.bind(subject.name());
    Ok(owners.all(connection).await?.into_iter().map(|Scalar(replica)| replica).collect())
}

/// How a write ended, according to its audit record, which remains when the record of the call is deleted.
pub(crate) async fn code_of_audited(
    connection: &mut Connection,
    call_id: CallId,
) -> Result<Option<String>, Error> {
    let code = sql! {
        "SELECT code FROM audit WHERE kind = 'write' AND ended_at IS NOT NULL AND call_id = ", call_id
    };
    Ok(code.optional(connection).await?.map(|Scalar(code)| code))
}
