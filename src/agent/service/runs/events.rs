//! The events of a run: plans, calls, pauses and the end, in the messages of turns.

use std::time::Duration;

use serde_json::Value;

use super::work::{PendingApproval, Work};
use toolwire_base::clock;
use toolwire_contract::{
    Payload, Provenance, ToolResult,
    convert::{self, ResultFormat, timestamp},
    proto::agent::v1::{
        AnswerDelta, CallAction, LlmResponse, Paused, PendingCall, PlannedCall, Reply, ToolCallFinished,
        ToolCallStarted, TurnOutcome, TurnPlan, TurnUsage, WaitingTask, tool_call_finished::Outcome,
        turn_event::Event,
    },
};
use toolwire_server::service::tasks::{Detail, Handled};
use toolwire_sources::models::ToolCall;
use toolwire_state::tasks::{Action, Task, Waiting, entry::WaitTarget};
use toolwire_tool::context::{CallId, RequestId};

/// Maximum length of a model's text beside its calls, which is sent as their reason, in characters.
const MAX_REASON_LENGTH: usize = 400;

/// Maximum number of waiting tasks that are reported.
const MAX_WAITING: usize = 64;

pub(super) fn plan(step: u32, text: &str, calls: &[ToolCall]) -> Event {
    let call = |call: &ToolCall| PlannedCall {
        tool: call.tool.clone(),
        reason: String::new(),
        arguments: None,
        arguments_json: call.arguments.to_string(),
    };
    Event::Plan(TurnPlan {
        step,
        calls: calls.iter().map(call).collect(),
        reason: text.chars().take(MAX_REASON_LENGTH).collect(),
        confidence: 1.0,
        alternatives: Vec::new(),
    })
}

pub(super) fn start_event(call_id: CallId, step: u32, tool: &str, arguments: &str, id: RequestId) -> Event {
    Event::ToolCallStarted(ToolCallStarted {
        call_id: call_id.to_string(),
        step,
        tool: tool.to_owned(),
        component: tool.to_owned(),
        arguments: None,
        arguments_json: arguments.to_owned(),
        request_id: id.to_string(),
    })
}

pub(super) fn end_event(call_id: CallId, tool: &str, handled: &Handled, lasted: Duration) -> Event {
    let (outcome, action) = match &handled.detail {
        Detail::Result(result) => {
            let action = if result.outcome.is_ok() { CallAction::Used } else { CallAction::Skipped };
            (result_of((**result).clone()), action)
        }
        Detail::Value(value) => (status(tool, Value::Object(value.clone())), CallAction::Used),
        Detail::Block { required: Some(required), .. } => {
            let required = convert::confirmation_required((**required).clone());
            (Outcome::ConfirmationRequired(required), CallAction::Paused)
        }
        Detail::Block { status: words, task_id, .. } => {
            let action = Action {
                action: handled.then,
                status: words.clone(),
                task_id: task_id.clone(),
                sequence: Some(handled.sequence),
                logged: false,
            };
            (status(tool, action.to_json()), CallAction::Used)
        }
    };
    Event::ToolCallFinished(ToolCallFinished {
        call_id: call_id.to_string(),
        outcome: Some(outcome),
        duration: Some(convert::duration(lasted)),
        action: action.into(),
    })
}

/// The outcome of a call that executes nothing.
fn status(tool: &str, data: Value) -> Outcome {
    result_of(ToolResult {
        tool: tool.parse().expect("a call that was handled names a tool"),
        fetched_at: clock::wall(),
        outcome: Ok(Payload::from_json(data)),
        provenance: Provenance::default(),
        kept: None,
    })
}

fn result_of(result: ToolResult) -> Outcome {
    Outcome::Result(convert::tool_result(result, ResultFormat::Json))
}

pub(super) fn delta(words: &str) -> Event {
    Event::AnswerDelta(AnswerDelta { text: words.to_owned() })
}

/// The result of an ended task as text: its text, its result as JSON, or why it failed.
pub(super) fn words_of_end(task: &Task) -> String {
    let Some(result) = &task.result else { return task.message.clone() };
    let value: Value = serde_json::from_str(result).unwrap_or_default();
    match (value["text"].as_str(), value.as_object().map_or(0, serde_json::Map::len)) {
        (Some(text), 1) => text.to_owned(),
        _ => result.clone(),
    }
}

/// The pause of a run: the confirmations and the other waits that people must resolve.
pub(super) fn pause(work: &Work<'_>, tree: &[Task]) -> Paused {
    let waits = |id: &str| {
        let is_it =
            |wait: &Waiting| matches!(&wait.target, WaitTarget::Confirmation(it) if it.as_str() == id);
        tree.iter().any(|task| task.waits.iter().any(is_it))
    };
    let open: Vec<_> =
        work.asked.iter().filter(|asked| waits(asked.required.confirmation_id.as_str())).collect();
    let pending = |asked: &&PendingApproval| PendingCall {
        call_id: asked.call_id.clone(),
        tool: asked.tool.clone(),
        arguments: None,
        arguments_json: asked.arguments.clone(),
        confirmation_required: Some(convert::confirmation_required((*asked.required).clone())),
    };
    let waiting = tree.iter().filter(|task| !task.state.is_final());
    Paused {
        pending: open.iter().map(pending).collect(),
        expires_at: open.iter().map(|asked| asked.required.expires_at).min().map(timestamp),
        tasks: waiting.map(self::waiting).take(MAX_WAITING).collect(),
    }
}

fn waiting(task: &Task) -> WaitingTask {
    let thing = |wait: &Waiting| match &wait.target {
        WaitTarget::Child(id) => format!("the task {id}"),
        WaitTarget::Question(id) => format!("an answer to {id}"),
        WaitTarget::Confirmation(id) => format!("a decision on {id}"),
        WaitTarget::Source(source) => format!("credentials for {source}"),
        WaitTarget::Call(id) => format!("what became of the call {id}"),
    };
    let mut waits_for: Vec<_> = task.waits.iter().map(thing).collect();
    if waits_for.is_empty() {
        waits_for.push(if task.role.is_empty() { "a person" } else { "another worker" }.to_owned());
    }
    WaitingTask { task_id: task.id.to_string(), state: task.state.into_str().to_owned(), waits_for }
}

pub(super) fn reply(
    work: &Work<'_>,
    outcome: TurnOutcome,
    answer_markdown: String,
    warnings: Vec<String>,
) -> Reply {
    let confidence = if outcome == TurnOutcome::Answered { 1.0 } else { 0.0 };
    Reply {
        response: Some(LlmResponse { answer_markdown, confidence, ..LlmResponse::default() }),
        turn_id: work.turn_id.to_string(),
        current_step: "execute".to_owned(),
        outcome: outcome.into(),
        usage: Some(TurnUsage {
            model: work.model.id().to_owned(),
            input_tokens: work.spent.usage.input_tokens,
            output_tokens: work.spent.usage.output_tokens,
            steps: work.spent.steps,
            calls: work.spent.calls,
        }),
        warnings,
        ..Reply::default()
    }
}
