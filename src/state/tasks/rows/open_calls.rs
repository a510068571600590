//! The table `open_calls`: calls of tasks that began and have not ended.

use std::time::SystemTime;

use crate::{
    idempotency::Effect,
    tasks::{
        OpenCall, OpenCallState, TaskCall,
        entry::{Body, CallType, ToolCall},
    },
};
use toolwire_contract::{ToolName, proto::v1::ToolCategory};
use toolwire_db::{
    Error,
    sql::{AsText, Connection, FromRow, Row, Statement, as_json, insert, record, select, sql, values},
};
use toolwire_tool::context::{CallId, RequestId, TaskId};

as_json!(CallType);

/// An open call, to be settled after its end or the end of its process.
#[derive(Debug)]
pub(crate) struct OpenCallRow {
    pub(crate) task: TaskId,
    pub(crate) request_id: RequestId,
    pub(crate) tool: ToolName,
    pub(crate) call_id: CallId,
    pub(crate) trace_id: Option<String>,
    pub(crate) tool_type: CallType,
    pub(crate) category: ToolCategory,
    pub(crate) step: u64,
    pub(crate) position: u32,
    pub(crate) tool_call_id: String,
    pub(crate) input: String,
    /// The entry with which the call waited before.
    pub(crate) answers: Option<u64>,
    /// The process that executes the call. Empty: none does.
    pub(crate) replica: String,
}

record!(OpenCallRow, "call", {
    task, request_id via AsText, tool, call_id, trace_id, tool_type, category, step, position, tool_call_id, input,
    answers, replica,
});

/// A call that a process executes, or executed until it ended.
struct Begun(OpenCall);

impl FromRow for Begun {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let is_left = row.get::<String>("replica")?.is_empty();
        let state = if is_left { OpenCallState::Left } else { OpenCallState::UnderWay };
        open_call(row, state, row.get("tool")?, row.get("tool_call_id")?).map(Self)
    }
}

/// A call that a person approved, from its entry.
struct Approved(OpenCall);

impl FromRow for Approved {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let Body::ToolCall(ToolCall { tool, tool_call_id, .. }) = row.get("head")? else {
            return Err(Error::unreadable("call", "its entry is not one of a call"));
        };
        open_call(row, OpenCallState::Approved, tool.to_string(), tool_call_id).map(Self)
    }
}

fn open_call(row: &Row, state: OpenCallState, tool: String, tool_call_id: String) -> Result<OpenCall, Error> {
    Ok(OpenCall {
        state,
        call_id: row.get("call_id")?,
        request_id: row.get::<AsText<_>>("request_id")?.0,
        tool,
        tool_call_id,
        step: row.get("step")?,
        position: row.get("position")?,
        input: row.get::<Option<String>>("input")?.unwrap_or_default(),
    })
}

/// Inserts a call that begins. `answers` is the entry with which it waited before.
pub(crate) fn insert(call: &TaskCall, answers: Option<u64>, replica: &str, now: SystemTime) -> Statement {
    let insert = insert! { open_calls:
        task = &call.task, request_id = AsText(call.key.request_id), tool = &call.key.tool, call_id = call.call_id(),
        trace_id = call.about.trace_id.map(AsText), tool_type = &call.tool_type, category = call.category,
        reads = call.effect == Effect::Read, step = call.step_ref.step, position = call.step_ref.position,
        tool_call_id = call.tool_call_id(), input = &call.input, answers, replica, begun_at = now,
    };
    insert.and(
        " ON CONFLICT (task, request_id, tool) DO UPDATE SET call_id = excluded.call_id, replica = excluded.replica,
          begun_at = excluded.begun_at, answers = excluded.answers",
    )
}

/// Deletes a call and returns the entry with which it waited before.
pub(crate) fn delete(task: &TaskId, request_id: RequestId, tool: &ToolName) -> Statement<Option<u64>> {
    sql!(
        "DELETE FROM open_calls WHERE task = {task} AND request_id = {AsText(request_id)} AND tool = {tool}
         RETURNING answers"
    )
}

/// Deletes and returns the calls of some tasks.
pub(crate) fn delete_all(tasks: &[TaskId]) -> Statement<OpenCallRow> {
    sql!("DELETE FROM open_calls WHERE task IN ({..values(tasks)}) RETURNING *")
}

pub(crate) fn delete_of_tree(root: &TaskId) -> Statement {
    sql!("DELETE FROM open_calls WHERE task IN (SELECT id FROM tasks WHERE root = {root})")
}

/// The number of calls of a task.
pub(crate) fn count(task: &TaskId) -> Statement<u64> {
    sql!("SELECT count(*) FROM open_calls WHERE task = {task}")
}

/// The calls of a task that began and have not ended, the oldest first.
pub(crate) async fn list_begun(db: &mut Connection, task: &TaskId) -> Result<Vec<OpenCall>, Error> {
    let begun: Statement<Begun> = sql!(
        "SELECT call_id, request_id, tool, tool_call_id, step, position, input, replica FROM open_calls
         WHERE task = {task} ORDER BY begun_at, step, position"
    );
    Ok(begun.all(db).await?.into_iter().map(|Begun(call)| call).collect())
}

/// The calls of a task that a person has approved and that have not been repeated since.
pub(crate) async fn list_approved(db: &mut Connection, task: &TaskId) -> Result<Vec<OpenCall>, Error> {
    let approved: Statement<Approved> = sql!(
        "SELECT e.call_id, e.request_id, e.step, e.position, e.head, coalesce(e.input, p.text) AS input
         FROM confirmations c
         JOIN entries e ON e.task = c.task_id AND e.request_id = c.outer_request_id AND e.kind = 'tool_call'
         LEFT JOIN entry_parts p ON p.task = e.task AND p.seq = e.seq AND p.part = 'input'
         WHERE c.state = 'approved' AND c.task_id = {task}
         AND NOT EXISTS (SELECT 1 FROM entries a WHERE a.task = e.task AND (a.answers = e.seq
            OR a.seq > e.seq AND a.request_id = e.request_id AND a.kind = 'tool_call'))
         AND NOT EXISTS (SELECT 1 FROM open_calls o WHERE o.task = e.task AND o.request_id = e.request_id)
         ORDER BY e.seq"
    );
    let mut approved: Vec<_> = approved.all(db).await?.into_iter().map(|Approved(call)| call).collect();
    // Several nested calls may each have a confirmation, and share the entry of their outermost call.
    approved.dedup_by_key(|call| call.call_id);
    Ok(approved)
}

/// The processes that execute calls.
pub(crate) fn replicas() -> Statement<String> {
    sql!("SELECT DISTINCT replica FROM open_calls WHERE replica <> ''")
}

/// Releases the reads of a process that has ended, to be made again.
pub(crate) fn release_reads(replica: &str) -> Statement {
    sql!("UPDATE open_calls SET replica = '' WHERE reads = 1 AND replica = {replica}")
}

/// The oldest calls of a process.
pub(crate) fn of_replica(replica: &str, limit: u32) -> Statement<OpenCallRow> {
    select!(OpenCallRow, "FROM open_calls WHERE replica = {replica} ORDER BY begun_at LIMIT {limit}")
}
