//! Record: a call on behalf of a task of this store gets an entry in the task's timeline.
//!
//! The entry and the call's own record are written in one transaction by `idempotency` below, at the begin and at the
//! end. This layer checks first whose task it is and whether it has read text from outside, and renders the answer.
//! Nested calls are in the trace and not in the timeline; a label of an unknown task is only passed on.

use std::sync::Arc;

use futures_util::future::{BoxFuture, Either, ready};
use serde_json::{Value, json};

use super::{Call, CallResult, Facts, Inner, refusals::task_refusal};
use crate::registry::Execution;
use toolwire_base::middleware::{Middleware, take_ready};
use toolwire_contract::{CREATE_TASK, Payload, Refusal, TaskRefusal, Terminal, Violation};
use toolwire_state::{Store, tasks::Action};
use toolwire_tool::context::TaskId;

/// Attaches calls to the task on whose behalf they are made.
#[derive(Clone, Debug)]
pub struct Record {
    tasks: Arc<Store>,
}

impl Record {
    pub fn new(tasks: Arc<Store>) -> Self {
        Self { tasks }
    }
}

/// The refusal of a call without a task, if its tool is for tasks alone.
pub(super) fn refuse_without_task(call: &Call) -> Option<Refusal> {
    let by = call.tool().definition.kind.behaviour().by;
    (!matches!(by, Execution::Executor | Execution::Log | Execution::Root)).then(|| task_required(call))
}

impl<S: Inner> Middleware<Box<Call>, S> for Record {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
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
            (None, _) => refuse(task_required(&call)),
            (Some(_), _) if call.context.depth > 0 => refuse(nested_call(&call)),
            (Some(id), by) => {
                let inner = take_ready(inner);
                Either::Right(Box::pin(run_in_task(inner, Arc::clone(&self.tasks), call, id, by)))
            }
        }
    }
}

async fn run_in_task(
    mut inner: impl Inner,
    tasks: Arc<Store>,
    mut call: Box<Call>,
    id: TaskId,
    by: Execution,
) -> CallResult {
    // Before the layers below: `confirm` decides by whether the task is tainted, and a task of another user is refused.
    let tree = tasks.task_tree(&call.context.user.id, &id).await.map_err(|error| task_refusal(&id, error))?;
    call.context.tainted = tree.tainted;
    call.step_ref.get_or_insert_default();
    call.facts.mark_in_timeline();
    let facts = Arc::clone(&call.facts);
    let mut end = inner.call(call).await?;
    if let Terminal::Result(result) = &mut end
        && let Ok(data) = &result.outcome
        && by != Execution::Executor
    {
        result.outcome = Ok(Payload::from_json(render_action(data.json(), &facts, &id, by)));
    }
    Ok(end)
}

/// The action of the agent's loop, as the caller's result reports it. The whole action is kept for the face.
fn render_action(data: &Value, facts: &Facts, id: &TaskId, by: Execution) -> Value {
    let Some(action) = Action::from_json(data) else { return data.clone() };
    let rendered = match by {
        Execution::Log => json!({"logged": true}),
        Execution::HandOff => json!({"action": "return", "status": "completed", "task_id": id.as_str()}),
        _ => {
            let task_id = action.task_id.as_ref().map(TaskId::as_str);
            json!({"action": action.action.into_str(), "status": action.status, "task_id": task_id})
        }
    };
    facts.set_action(action);
    rendered
}

fn task_required(call: &Call) -> Refusal {
    let tool = &call.tool().definition;
    invalid(format!(
        "context.task_id is required for {}, a tool of type {}: {CREATE_TASK}",
        tool.name,
        tool.kind.into_str()
    ))
}

fn nested_call(call: &Call) -> Refusal {
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
