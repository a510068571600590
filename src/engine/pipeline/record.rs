//! Record: a call on behalf of a task that is kept here has its place in the task's timeline (spec 002).
//!
//! Its entry and its own record are one change at both ends, which `idempotency` below makes. Here is what comes
//! before, whose task it is and whether that has read text from outside, and how the answer looks. Nested calls are in
//! the trace and not in the timeline; a label that names no task of ours is only passed on.

use std::sync::Arc;

use futures_util::future::{BoxFuture, Either, ready};
use serde_json::{Value, json};

use super::{Call, CallResult, Facts, Inner, refusals::refused};
use crate::registry::Execution;
use toolwire_base::middleware::{Middleware, take_ready};
use toolwire_contract::{Payload, Refusal, TaskRefusal, Terminal, Violation};
use toolwire_store::{Store, tasks::Action};
use toolwire_tool::context::TaskId;

/// Passes calls on with the task that they belong to.
#[derive(Clone, Debug)]
pub struct Record {
    tasks: Arc<Store>,
}

impl Record {
    /// Tasks are in the given store.
    pub fn new(tasks: Arc<Store>) -> Self {
        Self { tasks }
    }
}

impl<S: Inner> Middleware<Call, S> for Record {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Call, inner: &mut S) -> Self::Future {
        let definition = &call.tool().definition;
        let refuse = |refusal| Either::Right(Box::pin(ready(Err(refusal))) as BoxFuture<'static, _>);
        match (call.context.task(), definition.kind.behaviour().by) {
            // Nearly all calls.
            (None, Execution::Executor | Execution::Log | Execution::Root) => Either::Left(inner.call(call)),
            (Some(_), Execution::Executor | Execution::Log) if call.context.depth > 0 => {
                Either::Left(inner.call(call))
            }
            (Some(_), Execution::Root) => {
                refuse(TaskRefusal::RootInsideTask { tool: definition.name.to_string() }.into())
            }
            (None, _) => refuse(without_task(&call)),
            (Some(_), _) if call.context.depth > 0 => refuse(nested(&call)),
            (Some(id), by) => {
                let inner = take_ready(inner);
                Either::Right(Box::pin(recorded(inner, Arc::clone(&self.tasks), call, id, by)))
            }
        }
    }
}

async fn recorded(
    mut inner: impl Inner,
    tasks: Arc<Store>,
    mut call: Call,
    id: TaskId,
    by: Execution,
) -> CallResult {
    let tree = tasks.task_tree(&call.context.user.id, &id).await.map_err(|error| refused(&id, error))?;
    call.context.tainted = tree.tainted;
    call.step_ref.get_or_insert_default();
    call.facts.take();
    let facts = Arc::clone(&call.facts);
    let mut end = inner.call(call).await?;
    if let Terminal::Result(result) = &mut end
        && let Ok(data) = &result.outcome
        && by != Execution::Executor
    {
        result.outcome = Ok(Payload::from_json(acted(data.json(), &facts, &id, by)));
    }
    Ok(end)
}

/// What a caller is told of what its agent's loop does now. The rest of it is for the face.
fn acted(data: &Value, facts: &Facts, id: &TaskId, by: Execution) -> Value {
    let Some(action) = Action::from_json(data) else { return data.clone() };
    let said = match by {
        Execution::Log => json!({"logged": true}),
        Execution::HandOff => json!({"action": "return", "status": "completed", "task_id": id.as_str()}),
        _ => {
            let task_id = action.task_id.as_ref().map(TaskId::as_str);
            json!({"action": action.action.into_str(), "status": action.status, "task_id": task_id})
        }
    };
    facts.acted(action);
    said
}

fn without_task(call: &Call) -> Refusal {
    let tool = &call.tool().definition;
    invalid(format!(
        "context.task_id is required for {}, a tool of type {}: begin a task with TaskService.CreateTask or `toolwire tasks start`, and name it, with --task on the command line",
        tool.name,
        tool.kind.into_str()
    ))
}

fn nested(call: &Call) -> Refusal {
    let tool = &call.tool().definition;
    invalid(format!("{} is for the agent of a task, and no tool can call it", tool.name))
}

fn invalid(description: String) -> Refusal {
    Refusal::InvalidRequest(vec![Violation {
        pointer: "context.task_id".to_owned(),
        rule: "required".to_owned(),
        description,
    }])
}
