//! The processes that execute calls, and the ends of their writes.

use super::State;
use crate::cancellations::Subject;
use toolwire_contract::ToolName;
use toolwire_db::sql::{AsText, Statement, sql};
use toolwire_tool::context::{CallId, RequestId, UserId};

/// The processes that execute the calls of a subject, by their records. `None` if the subject is not a call.
pub(crate) fn owners(user: &UserId, subject: &Subject) -> Option<Statement<String>> {
    let column = match subject {
        Subject::Call(_) => "call_id",
        Subject::Request(_) => "request_id",
        Subject::Turn(_) | Subject::Session(_) | Subject::Job(_) | Subject::ClientRequest(_) => return None,
    };
    Some(sql!(
        "SELECT replica FROM idempotency WHERE kept IS NULL AND replica IS NOT NULL AND state = {State::Started}
         AND user_id = {user} AND {..column} = {subject.name()}"
    ))
}

/// The write that a call executes: its user, its tool, its `request_id`, and its task.
pub(crate) fn find_write(
    call_id: CallId,
) -> Statement<(UserId, ToolName, AsText<RequestId>, Option<String>)> {
    sql!("SELECT user_id, tool, request_id, task_id FROM idempotency WHERE call_id = {call_id} AND reads = 0")
}

/// The code with which a write ended, by its audit record, which outlives the record of the call.
pub(crate) fn audit_code(call_id: CallId) -> Statement<String> {
    sql!("SELECT code FROM audit WHERE kind = 'write' AND ended_at IS NOT NULL AND call_id = {call_id}")
}
