//! Mistake: records errors of a task's agent in the task's timeline, where its model reads them and does not repeat
//! them. They are a tool that is unknown, disabled or not permitted; arguments that break the schema; an unknown
//! document; a new tree from within a task.
//!
//! The answer is the same as for any caller. Errors of the program around the model are not recorded: a lost lease, an
//! ended or blocked task, bad identifiers. Not here: the ends of calls that the task accepted (`record`).

use std::sync::Arc;

use futures_util::future::{BoxFuture, Either};
use serde_json::Value;

use super::{Call, CallResult, Facts, Inner, RecordedMistake, Target, refusals::task_refusal};
use toolwire_base::{clock, middleware::Middleware};
use toolwire_contract::{
    DocumentRefusal, ErrorCode, Provenance, Refusal, TaskRefusal, Terminal, ToolError, ToolName, ToolResult,
    arguments::Arguments, proto::v1,
};
use toolwire_state::{
    Store,
    tasks::{Mistake, StepRef, TaskError, entry::CallType},
};
use toolwire_telemetry as telemetry;
use toolwire_tool::context::{RequestId, TaskId, ToolContext};

/// Maximum length of a tool's name, in characters.
const MAX_NAME: usize = 64;

/// Passes calls on, and records the errors of those of tasks.
#[derive(Clone, Debug)]
pub struct RecordModelErrors {
    tasks: Arc<Store>,
}

impl RecordModelErrors {
    pub fn new(tasks: Arc<Store>) -> Self {
        Self { tasks }
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for RecordModelErrors {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        // Nearly all calls are of no task. Nested ones are made by a tool and are in no timeline.
        let Some(task) = call.context.task().filter(|_| call.context.depth == 0) else {
            return Either::Left(inner.call(call));
        };
        let attempt = Attempt::new(&call, task);
        let (tasks, end) = (Arc::clone(&self.tasks), inner.call(call));
        Either::Right(Box::pin(async move { attempt.record(&tasks, end.await).await }))
    }
}

/// A copy of what identifies a call of a task, kept until the call has ended, since the layers below consume the call.
struct Attempt {
    task: TaskId,
    context: ToolContext,
    target: Target,
    arguments: Arguments,
    request_id: Option<RequestId>,
    step_ref: Option<Box<StepRef>>,
    facts: Arc<Facts>,
}

impl Attempt {
    fn new(call: &Call, task: TaskId) -> Self {
        Self {
            task,
            context: call.context.clone(),
            target: call.target.clone(),
            arguments: call.arguments.clone(),
            request_id: call.request_id,
            step_ref: call.step_ref.clone(),
            facts: Arc::clone(&call.facts),
        }
    }

    /// Records the end if it is a mistake.
    async fn record(self, tasks: &Store, end: CallResult) -> CallResult {
        let Some(error) = error_of_agent(&end, &self.facts) else { return end };
        let mistake = self.mistake(error);
        match tasks.record_mistake(&mistake).await {
            Ok(sequence) => {
                let Mistake { tool, error, .. } = mistake;
                let result = ToolResult {
                    tool,
                    fetched_at: clock::wall(),
                    outcome: Err(error),
                    provenance: Provenance::default(),
                    kept: None,
                };
                self.facts.set_mistake(RecordedMistake { sequence, result });
                end
            }
            // The program that drives the agent must not do so now, such as after losing its lease. That takes
            // precedence over the error of the call.
            Err(TaskError::Refused(why)) if self.step_ref.is_some() => {
                Err(task_refusal(&self.task, why.into()))
            }
            Err(TaskError::Refused(_)) => end,
            Err(TaskError::Store(error)) => {
                tracing::error!(%error, task_id = %self.task, "a mistake of an agent is not recorded");
                end
            }
        }
    }

    fn mistake(&self, error: ToolError) -> Mistake {
        let tool = self.facts.tool();
        let shown = match tool {
            Some(tool) => tool.input.mask(&self.arguments).into_owned(),
            None => self.arguments.clone(),
        };
        let definition = tool.map(|tool| &tool.definition);
        let trace_id = telemetry::current_trace_id().or(self.context.trace_id);
        Mistake {
            user: self.context.user.id.clone(),
            task: self.task.clone(),
            request_id: self.request_id.unwrap_or_else(RequestId::generate),
            call_id: self.context.call_id,
            trace_id: trace_id.map(|id| id.to_string()),
            step_ref: self.step_ref.as_deref().cloned().unwrap_or_default(),
            tool: definition.map_or_else(|| to_tool_name(self.target.as_str()), |it| it.name.clone()),
            tool_type: definition.map_or(CallType::Function, |it| super::call_record::call_type(it.kind)),
            category: definition.map(|it| v1::ToolCategory::from(it.category)).unwrap_or_default(),
            input: Value::Object(shown).to_string(),
            error,
        }
    }
}

/// The error of the agent, if its call ended with one, in words for its model.
fn error_of_agent(end: &CallResult, facts: &Facts) -> Option<ToolError> {
    let refusal = match end {
        Err(refusal) => refusal,
        Ok(Terminal::Result(result)) if !facts.is_in_timeline() => {
            let error = result.outcome.as_ref().err()?;
            return (error.code == ErrorCode::InvalidArgument).then(|| error.clone());
        }
        Ok(_) => return None,
    };
    let code = match refusal {
        Refusal::UnknownTool { .. } | Refusal::Document(DocumentRefusal::Unknown { .. }) => {
            ErrorCode::NotFound
        }
        Refusal::PermissionDenied { .. } | Refusal::InsufficientScope { .. } => ErrorCode::PermissionDenied,
        Refusal::ToolDisabled { .. } => ErrorCode::Unavailable,
        Refusal::Task(TaskRefusal::RootInsideTask { .. }) => ErrorCode::InvalidArgument,
        _ => return None,
    };
    // Not retryable, whatever the code: the same call will fail again.
    Some(ToolError { retryable: false, ..ToolError::new(code, refusal.to_string()) })
}

/// Maps a made-up name to a valid tool name: providers refuse a history with any other.
fn to_tool_name(requested: &str) -> ToolName {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let mut name: String = requested.chars().take(MAX_NAME).map(plain).collect();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.insert_str(0, "tool_");
        name.truncate(MAX_NAME);
    }
    name.parse().unwrap_or_else(|_| "tool".parse().expect("it is a name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_model_made_up_becomes_one_that_providers_take() {
        let long = "x".repeat(100);
        for (asked, name) in [
            ("functions.get_quotes", "functions_get_quotes"),
            ("GetQuotes", "getquotes"),
            ("_a", "tool__a"),
            ("日本", "tool___"),
            (long.as_str(), &long[..64]),
        ] {
            assert_eq!(to_tool_name(asked).as_str(), name, "{asked}");
        }
    }
}
