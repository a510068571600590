//! Mistake: what the agent of a task got wrong is in the task's timeline, so that its model is shown it and does not
//! repeat it for ever: a tool that there is not, or that is disabled or not the user's; arguments that break the
//! schema; a document that there is not; a new tree from within a task.
//!
//! The answer is that of any caller. What the program around the model got wrong is in no timeline: a lost lease, an
//! ended or blocked task, identifiers. Not here: what a call came to that its task took (`record`).

use std::sync::Arc;

use futures_util::future::{BoxFuture, Either};
use serde_json::Value;

use super::{Call, CallResult, Facts, Inner, NotedMistake, Target, refusals::refused};
use toolwire_base::{clock, middleware::Middleware};
use toolwire_contract::{
    DocumentRefusal, ErrorCode, Provenance, Refusal, TaskRefusal, Terminal, ToolError, ToolName, ToolResult,
    arguments::Arguments, proto::v1,
};
use toolwire_store::{
    Store,
    tasks::{Mistake, StepRef, TaskError, entry::CallType},
};
use toolwire_telemetry as telemetry;
use toolwire_tool::context::{RequestId, TaskId, ToolContext};

/// The longest name of a tool.
const LONGEST: usize = 64;

/// Passes calls on, and looks at how those of tasks end.
#[derive(Clone, Debug)]
pub struct RecordModelErrors {
    tasks: Arc<Store>,
}

impl RecordModelErrors {
    /// Tasks are in the given store.
    pub fn new(tasks: Arc<Store>) -> Self {
        Self { tasks }
    }
}

impl<S: Inner> Middleware<Call, S> for RecordModelErrors {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Call, inner: &mut S) -> Self::Future {
        // Nearly all calls. Nested ones are a tool's, and no timeline has them.
        let Some(task) = call.context.task().filter(|_| call.context.depth == 0) else {
            return Either::Left(inner.call(call));
        };
        let attempt = Attempt::of(&call, task);
        let (tasks, end) = (Arc::clone(&self.tasks), inner.call(call));
        Either::Right(Box::pin(async move { attempt.told(&*tasks, end.await).await }))
    }
}

/// What is kept of a call of a task until it has ended.
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
    fn of(call: &Call, task: TaskId) -> Self {
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

    async fn told(self, tasks: &Store, end: CallResult) -> CallResult {
        let Some(error) = mistake(&end, &self.facts) else { return end };
        let noted = self.noted(error);
        match tasks.record_mistake(&noted, clock::wall()).await {
            Ok(sequence) => {
                let Mistake { tool, error, .. } = noted;
                let result = ToolResult {
                    tool,
                    fetched_at: clock::wall(),
                    outcome: Err(error),
                    provenance: Provenance::default(),
                };
                self.facts.noted(NotedMistake { sequence, result });
                end
            }
            // Whoever drives the agent must not do so now; that comes before what it asks for.
            Err(TaskError::Refused(why)) if self.step_ref.is_some() => Err(refused(&self.task, why.into())),
            Err(TaskError::Refused(_)) => end,
            Err(TaskError::Store(error)) => {
                tracing::error!(%error, task_id = %self.task, "a mistake of an agent is not recorded");
                end
            }
        }
    }

    fn noted(&self, error: ToolError) -> Mistake {
        let tool = self.facts.tool();
        let shown = match tool {
            Some(tool) => tool.input.shown(&self.arguments).into_owned(),
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
            tool: definition.map_or_else(|| name_like(self.target.as_str()), |it| it.name.clone()),
            tool_type: definition.map_or(CallType::Function, |it| super::recorded::call_type(it.kind)),
            category: definition.map(|it| v1::ToolCategory::from(it.category)).unwrap_or_default(),
            input: Value::Object(shown).to_string(),
            error,
        }
    }
}

/// What the agent got wrong, if that is how its call ended. In words for its model.
fn mistake(end: &CallResult, facts: &Facts) -> Option<ToolError> {
    let refusal = match end {
        Err(refusal) => refusal,
        Ok(Terminal::Result(result)) if !facts.is_taken() => {
            let error = result.outcome.as_ref().err()?;
            return (error.code == ErrorCode::InvalidArgument).then(|| error.clone());
        }
        Ok(_) => return None,
    };
    let code = match refusal {
        Refusal::UnknownTool { .. } | Refusal::Document(DocumentRefusal::Unknown { .. }) => {
            ErrorCode::NotFound
        }
        Refusal::PermissionDenied { .. } => ErrorCode::PermissionDenied,
        Refusal::ToolDisabled { .. } => ErrorCode::Unavailable,
        Refusal::Task(TaskRefusal::RootInsideTask { .. }) => ErrorCode::InvalidArgument,
        _ => return None,
    };
    // Nobody helps by trying again.
    Some(ToolError { retryable: false, ..ToolError::new(code, refusal.to_string()) })
}

/// A name in the form that names of tools have: providers take no other back.
fn name_like(asked: &str) -> ToolName {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let mut name: String = asked.chars().take(LONGEST).map(plain).collect();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.insert_str(0, "tool_");
        name.truncate(LONGEST);
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
            assert_eq!(name_like(asked).as_str(), name, "{asked}");
        }
    }
}
