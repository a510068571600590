//! Which processes carry calls out.

use super::State;
use crate::{
    cancellations::Subject,
    sql::{Statement, sql},
};
use toolwire_tool::context::{CallId, UserId};

/// The processes that carry the calls of a subject out, according to their records. `None` if the subject is no call.
pub(crate) fn owners(user: &UserId, subject: &Subject) -> Option<Statement<String>> {
    let column = match subject {
        Subject::Call(_) => "call_id",
        Subject::Request(_) => "request_id",
        Subject::Turn(_) | Subject::Session(_) | Subject::Job(_) => return None,
    };
    Some(sql!(
        "SELECT replica FROM idempotency WHERE kept IS NULL AND replica IS NOT NULL AND state = {State::Started}
         AND user_id = {user} AND {..column} = {subject.name()}"
    ))
}

/// How a write ended, according to its audit record, which remains when the record of the call is deleted.
pub(crate) fn code_of_audited(call_id: CallId) -> Statement<String> {
    sql!("SELECT code FROM audit WHERE kind = 'write' AND ended_at IS NOT NULL AND call_id = {call_id}")
}
