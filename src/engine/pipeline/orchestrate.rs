//! What is carried out by a tool's type alone, without code of its own: logged, delegated, asked, handed off, begun
//! (spec 002).
//!
//! Here is what a call of each type says; what becomes of it is done above, behind [`Orchestrate`].

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::{Call, CallResult, InFlight, recorded, refusals};
use crate::registry::Execution;
use toolwire_contract::{Payload, Provenance, Refusal, arguments::Arguments};
use toolwire_store::tasks::{Action, Ending, RootCall, TaskCall, TaskError};
use toolwire_tool::context::TaskId;

/// What comes of carrying a call out.
pub type Carried<'a, T> = BoxFuture<'a, Result<T, TaskError>>;

/// Carries out what executes nothing: each in one change with the call's record. A repeat has the same answer.
pub trait Orchestrate: Send + Sync + Debug {
    /// Keeps the call in the timeline.
    fn log<'a>(&'a self, call: &'a TaskCall) -> Carried<'a, Action>;

    /// Ends the task with a result and documents, which go to its parent.
    fn hand_off<'a>(
        &'a self,
        call: &'a TaskCall,
        result: &'a Map<String, Value>,
        documents: &'a [String],
    ) -> Carried<'a, Ending<Action>>;

    /// Makes a task for an agent of a role, and waits for it.
    fn delegate<'a>(
        &'a self,
        call: &'a TaskCall,
        role: &'a str,
        request: &'a str,
        documents: &'a [String],
    ) -> Carried<'a, Action>;

    /// Makes a question, and waits for its answer.
    fn ask<'a>(
        &'a self,
        call: &'a TaskCall,
        question: &'a str,
        documents: &'a [String],
    ) -> Carried<'a, Action>;

    /// Begins a tree. Its documents are of other trees: `task_id/path`.
    fn root<'a>(
        &'a self,
        call: &'a RootCall,
        role: &'a str,
        request: &'a str,
        documents: &'a [String],
    ) -> BoxFuture<'a, Result<TaskId, Refusal>>;
}

/// Carries a call out that executes nothing.
pub(super) async fn carry_out(to: &dyn Orchestrate, in_flight: &InFlight, call: &Call) -> CallResult {
    let (by, arguments) = (call.tool().definition.kind.behaviour().by, &call.arguments);
    let documents = texts(arguments, "documents");
    let data = match (by, recorded::task_call(call)) {
        (Execution::Root, _) => {
            let (role, request) = (text(arguments, "role"), text(arguments, "request"));
            let id = to.root(&recorded::root_call(call), role, request, &documents).await?;
            json!({"task_id": id.as_str()})
        }
        // `record` refuses all others without a task.
        (_, None) => json!({"logged": true}),
        (_, Some(task)) => {
            let refused = |error| refusals::refused(&task.task, error);
            let action = match by {
                Execution::HandOff => {
                    let result =
                        arguments.get("result").and_then(Value::as_object).cloned().unwrap_or_default();
                    let ended = to.hand_off(&task, &result, &documents).await.map_err(refused)?;
                    in_flight.cancel_calls(&ended.stopped.calls);
                    ended.of
                }
                Execution::Delegate => {
                    let role = call.tool().definition.agent.as_deref().unwrap_or_default();
                    to.delegate(&task, role, text(arguments, "request"), &documents).await.map_err(refused)?
                }
                Execution::Ask => {
                    to.ask(&task, text(arguments, "question"), &documents).await.map_err(refused)?
                }
                Execution::Log | Execution::Executor | Execution::Root => {
                    to.log(&task).await.map_err(refused)?
                }
            };
            action.to_json()
        }
    };
    let source = format!("tool:{}:v1", call.tool().definition.name);
    Ok(call.result(Ok(Payload::from_json(data)), Provenance::of(source, "")))
}

fn text<'a>(arguments: &'a Arguments, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn texts(arguments: &Arguments, name: &str) -> Vec<String> {
    let elements = arguments.get(name).and_then(Value::as_array).into_iter().flatten();
    elements.filter_map(Value::as_str).map(str::to_owned).collect()
}
