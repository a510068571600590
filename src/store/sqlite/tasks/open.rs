//! Calls of tasks that began and have not ended.

use std::time::SystemTime;

use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    entries::Of,
    fault::unreadable,
    rows::{column, json, number, parsed, read},
};
use crate::{
    idempotency::Effect,
    sqlite::{Change, Failed, time::millis},
    tasks::{
        OpenCall, Standing, TaskCall,
        entry::{Body, CallType, Part, ToolCall},
    },
};
use toolwire_contract::{Provenance, proto::v1};
use toolwire_tool::context::{CallId, RequestId, TaskId};

const ADD: &str = "INSERT INTO open_calls (task, request_id, tool, call_id, trace_id, tool_type, category, reads, step, \
     position, tool_call_id, input, answers, replica, begun_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
     ON CONFLICT (task, request_id, tool) DO UPDATE SET call_id = excluded.call_id, replica = excluded.replica, \
     begun_at = excluded.begun_at, answers = excluded.answers";

const TAKE: &str = "DELETE FROM open_calls WHERE task = ? AND request_id = ? AND tool = ? RETURNING answers";

const OPEN: &str = "SELECT call_id, request_id, tool, tool_call_id, step, position, input, replica FROM open_calls \
                    WHERE task = ? ORDER BY begun_at, step, position";

/// The entries of calls that a person approved and that nobody has made again yet.
const APPROVED: &str = "SELECT e.call_id, e.request_id, e.step, e.position, e.head, coalesce(e.input, p.text) AS input \
     FROM confirmations c JOIN entries e ON e.task = c.task_id AND e.request_id = c.outer_request_id AND e.kind = 'tool_call' \
     LEFT JOIN entry_parts p ON p.task = e.task AND p.seq = e.seq AND p.part = 'input' \
     WHERE c.task_id = ? AND c.state = 'approved' \
     AND NOT EXISTS (SELECT 1 FROM entries a WHERE a.task = e.task AND (a.answers = e.seq \
         OR a.seq > e.seq AND a.request_id = e.request_id AND a.kind = 'tool_call')) \
     AND NOT EXISTS (SELECT 1 FROM open_calls o WHERE o.task = e.task AND o.request_id = e.request_id) \
     GROUP BY e.seq ORDER BY e.seq";

const UNANSWERED: &str = "WITH newest AS (SELECT task, seq FROM entries \
         WHERE task = ? AND request_id = ? AND kind = 'tool_call' ORDER BY seq DESC LIMIT 1) \
     SELECT seq FROM newest WHERE NOT EXISTS (SELECT 1 FROM entries a WHERE a.task = newest.task AND a.answers = newest.seq)";

/// What was left open by a process that is gone.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) task: TaskId,
    pub(super) request_id: RequestId,
    pub(super) tool: String,
    pub(super) call_id: CallId,
    pub(super) trace_id: Option<String>,
    pub(super) tool_type: CallType,
    pub(super) category: v1::ToolCategory,
    pub(super) step: u64,
    pub(super) position: u32,
    pub(super) tool_call_id: String,
    pub(super) input: String,
    pub(super) answers: Option<u64>,
    /// The process that carries it out. Empty: none does.
    pub(super) replica: String,
}

impl Left {
    /// Its entry, without what came of it.
    pub(super) fn entry(&self) -> Result<ToolCall, Failed> {
        Ok(ToolCall {
            tool_type: self.tool_type,
            tool: parsed(&self.tool)?,
            tool_call_id: self.tool_call_id.clone(),
            input: Part::Whole(self.input.clone()),
            result: None,
            error: None,
            status: String::new(),
            documents: Vec::new(),
            provenance: Provenance::default(),
            category: self.category,
            waits_for: None,
            untrusted: false,
        })
    }

    /// What its entry says beside that.
    pub(super) fn of(&self) -> Of {
        Of {
            step: self.step,
            position: self.position,
            request_id: Some(self.request_id),
            call_id: Some(self.call_id),
            trace_id: self.trace_id.clone(),
            ..Of::default()
        }
    }
}

/// What is read of a row, by name.
pub(super) const COLUMNS: &str = "task, request_id, tool, call_id, trace_id, tool_type, category, step, position, \
                                  tool_call_id, input, answers, replica";

/// Notes that a call began. `answers`: the entry with which it waited before.
pub(super) async fn add(
    change: &mut Change,
    call: &TaskCall,
    answers: Option<u64>,
    replica: &str,
    now: SystemTime,
) -> Result<(), Failed> {
    sqlx::query(ADD)
        .bind(call.task.as_str())
        .bind(call.key.request_id.to_string())
        .bind(call.key.tool.as_str())
        .bind(call.call_id().to_string())
        .bind(call.about.trace_id.map(|it| it.to_string()))
        .bind(json(&call.tool_type))
        .bind(call.category.as_str_name())
        .bind(call.effect == Effect::Read)
        .bind(column(call.turn.step))
        .bind(call.turn.position)
        .bind(call.tool_call_id())
        .bind(call.input.as_str())
        .bind(answers.map(column))
        .bind(replica)
        .bind(millis(now))
        .execute(&mut **change)
        .await?;
    Ok(())
}

/// Takes a call away that ends; `None` if it was not open, otherwise the entry with which it waited.
pub(super) async fn take(change: &mut Change, call: &TaskCall) -> Result<Option<Option<u64>>, Failed> {
    take_of(change, &call.task, call.key.request_id, call.key.tool.as_str()).await
}

/// The same by its parts.
pub(super) async fn take_of(
    change: &mut Change,
    task: &TaskId,
    request_id: RequestId,
    tool: &str,
) -> Result<Option<Option<u64>>, Failed> {
    let take = sqlx::query_scalar(TAKE).bind(task.as_str()).bind(request_id.to_string()).bind(tool);
    let taken: Option<Option<i64>> = take.fetch_optional(&mut **change).await?;
    Ok(taken.map(|answers| answers.map(number)))
}

/// Takes all away of some tasks.
pub(super) async fn take_all(change: &mut Change, tasks: &[TaskId]) -> Result<Vec<Left>, Failed> {
    let take =
        format!("DELETE FROM open_calls WHERE task IN (SELECT value FROM json_each(?)) RETURNING {COLUMNS}");
    let taken = sqlx::query(sqlx::AssertSqlSafe(take)).bind(names(tasks)).fetch_all(&mut **change).await?;
    taken.iter().map(left).collect()
}

/// Names of tasks, as a list in JSON.
pub(super) fn names(tasks: &[TaskId]) -> String {
    json(&tasks.iter().map(TaskId::as_str).collect::<Vec<_>>())
}

/// What has no end yet: those that were approved first, since they came first.
pub(super) async fn all(connection: &mut SqliteConnection, task: &TaskId) -> Result<Vec<OpenCall>, Failed> {
    let mut all = Vec::new();
    for row in &sqlx::query(APPROVED).bind(task.as_str()).fetch_all(&mut *connection).await? {
        let Body::ToolCall(call) = read(row.try_get("head")?)? else { continue };
        let named = (Standing::Approved, call.tool.to_string(), call.tool_call_id);
        all.push(of_row(row, named)?);
    }
    for row in &sqlx::query(OPEN).bind(task.as_str()).fetch_all(&mut *connection).await? {
        let replica: String = row.try_get("replica")?;
        let standing = if replica.is_empty() { Standing::Left } else { Standing::UnderWay };
        all.push(of_row(row, (standing, row.try_get("tool")?, row.try_get("tool_call_id")?))?);
    }
    Ok(all)
}

fn of_row(
    row: &SqliteRow,
    (standing, tool, tool_call_id): (Standing, String, String),
) -> Result<OpenCall, Failed> {
    Ok(OpenCall {
        standing,
        call_id: parsed(row.try_get("call_id")?)?,
        request_id: parsed(row.try_get("request_id")?)?,
        tool,
        tool_call_id,
        step: number(row.try_get("step")?),
        position: row.try_get("position")?,
        input: row.try_get::<Option<String>, _>("input")?.unwrap_or_default(),
    })
}

/// The newest entry of a call, unless it was answered: with that it began to wait.
pub(super) async fn unanswered(
    change: &mut Change,
    task: &TaskId,
    request_id: RequestId,
) -> Result<Option<u64>, Failed> {
    let entry = sqlx::query_scalar(UNANSWERED).bind(task.as_str()).bind(request_id.to_string());
    let entry: Option<i64> = entry.fetch_optional(&mut **change).await?;
    Ok(entry.map(number))
}

pub(super) fn left(row: &SqliteRow) -> Result<Left, Failed> {
    let category: String = row.try_get("category")?;
    Ok(Left {
        task: parsed(row.try_get("task")?)?,
        request_id: parsed(row.try_get("request_id")?)?,
        tool: row.try_get("tool")?,
        call_id: parsed(row.try_get("call_id")?)?,
        trace_id: row.try_get("trace_id")?,
        tool_type: read(row.try_get("tool_type")?)?,
        category: v1::ToolCategory::from_str_name(&category)
            .ok_or_else(|| unreadable("call", format!("there is no category {category:?}")))?,
        step: number(row.try_get("step")?),
        position: row.try_get("position")?,
        tool_call_id: row.try_get("tool_call_id")?,
        input: row.try_get("input")?,
        answers: row.try_get::<Option<i64>, _>("answers")?.map(number),
        replica: row.try_get("replica")?,
    })
}
