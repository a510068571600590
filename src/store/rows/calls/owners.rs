//! The processes that execute calls, and the ends of their writes.

use super::State;
use crate::{
    cancellations::Subject,
    sql::{Statement, sql},
};
use toolwire_tool::context::{CallId, UserId};

/// The processes that execute the calls of a subject, by their records. `None` if the subject is not a call.
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

/// The code with which a write ended, by its audit record, which outlives the record of the call.
pub(crate) fn audit_code(call_id: CallId) -> Statement<String> {
    sql!("SELECT code FROM audit WHERE kind = 'write' AND ended_at IS NOT NULL AND call_id = {call_id}")
}
