//! Calls that a tool's type alone carries out, without code: log, delegate, ask, hand off, start a task.
//!
//! This module reads the arguments of each type; the changes are made by an implementation of [`Orchestrate`].

use std::fmt::Debug;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::{Call, CallResult, InFlight, call_record, refusals::task_refusal};
use crate::registry::Execution;
use toolwire_contract::{Payload, Provenance, Refusal, arguments::Arguments};
use toolwire_state::tasks::{Action, Ending, RootCall, TaskCall, TaskError};
use toolwire_tool::context::TaskId;

/// The future of an operation of [`Orchestrate`].
pub type OrchestrateFuture<'a, T> = BoxFuture<'a, Result<T, TaskError>>;

/// Carries out calls of tools without code, each in one transaction with the call's record. A repeat gets the same
/// answer.
pub trait Orchestrate: Send + Sync + Debug {
    /// Appends the call to the timeline.
    fn log<'a>(&'a self, call: &'a TaskCall) -> OrchestrateFuture<'a, Action>;

    /// Ends the task with a result and documents, which its parent receives.
    fn hand_off<'a>(
        &'a self,
        call: &'a TaskCall,
        result: &'a Map<String, Value>,
        documents: &'a [String],
    ) -> OrchestrateFuture<'a, Ending<Action>>;

    /// Creates a task for an agent of a role, and suspends the caller's task until it ends.
    fn delegate<'a>(
        &'a self,
        call: &'a TaskCall,
        role: &'a str,
        request: &'a str,
        documents: &'a [String],
    ) -> OrchestrateFuture<'a, Action>;

    /// Creates a question, and suspends the caller's task until it is answered.
    fn ask<'a>(
        &'a self,
        call: &'a TaskCall,
        question: &'a str,
        documents: &'a [String],
    ) -> OrchestrateFuture<'a, Action>;

    /// Starts a tree of tasks. Its documents are copies from other trees: `task_id/path`.
    fn root<'a>(
        &'a self,
        call: &'a RootCall,
        role: &'a str,
        request: &'a str,
        documents: &'a [String],
    ) -> BoxFuture<'a, Result<TaskId, Refusal>>;
}

/// Carries out a call of a tool without code.
pub(super) async fn carry_out(
    orchestrate: &dyn Orchestrate,
    in_flight: &InFlight,
    call: &Call,
) -> CallResult {
    let arguments = &call.arguments;
    let data = match (call.tool().definition.kind.behaviour().by, call_record::task_call(call)) {
        (Execution::Root, _) => {
            let (role, request) = (text(arguments, "role"), text(arguments, "request"));
            let documents = texts(arguments, "documents");
            let id = orchestrate.root(&call_record::root_call(call), role, request, &documents).await?;
            json!({"task_id": id.as_str()})
        }
        // A tool of type log; `record` refuses all others without a task.
        (_, None) => json!({"logged": true}),
        (by, Some(task)) => {
            let action = carry_out_in_task(orchestrate, in_flight, call, &task, by).await;
            action.map_err(|error| task_refusal(&task.task, error))?.to_json()
        }
    };
    let source = format!("tool:{}:v1", call.tool().definition.name);
    Ok(call.result(Ok(Payload::from_json(data)), Provenance::of(source, "")))
}

async fn carry_out_in_task(
    orchestrate: &dyn Orchestrate,
    in_flight: &InFlight,
    call: &Call,
    task: &TaskCall,
    by: Execution,
) -> Result<Action, TaskError> {
    let arguments = &call.arguments;
    let documents = texts(arguments, "documents");
    match by {
        Execution::HandOff => {
            let result = arguments.get("result").and_then(Value::as_object).cloned().unwrap_or_default();
            let ended = orchestrate.hand_off(task, &result, &documents).await?;
            // The task has ended in the store: its calls, and those of its descendants, must not continue.
            in_flight.cancel_calls(&ended.stopped.calls);
            Ok(ended.of)
        }
        Execution::Delegate => {
            let role = call.tool().definition.agent.as_deref().unwrap_or_default();
            orchestrate.delegate(task, role, text(arguments, "request"), &documents).await
        }
        Execution::Ask => orchestrate.ask(task, text(arguments, "question"), &documents).await,
        Execution::Log | Execution::Executor | Execution::Root => orchestrate.log(task).await,
    }
}

fn text<'a>(arguments: &'a Arguments, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn texts(arguments: &Arguments, name: &str) -> Vec<String> {
    let elements = arguments.get(name).and_then(Value::as_array).into_iter().flatten();
    elements.filter_map(Value::as_str).map(str::to_owned).collect()
}
