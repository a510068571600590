//! The events of AG-UI that we send, as the protocol spells them (AG-UI 1.0, of which its clients before 1.0
//! understand all that is here). Not here: when which one is sent (`run`).

use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum Event {
    /// The run has begun. Always first.
    RunStarted {
        thread_id: String,
        /// The run, as its caller names it.
        run_id: String,
    },
    /// A step of the graph begins.
    StepStarted {
        /// `plan`, `execute`, `answer` or `validate`.
        step_name: &'static str,
    },
    StepFinished {
        step_name: &'static str,
    },
    TextMessageStart {
        message_id: String,
        role: Assistant,
    },
    /// A part of it.
    TextMessageContent {
        message_id: String,
        /// The words, at least one character.
        delta: String,
    },
    TextMessageEnd {
        message_id: String,
    },
    ToolCallStart {
        tool_call_id: String,
        tool_call_name: String,
    },
    ToolCallArgs {
        tool_call_id: String,
        delta: String,
    },
    /// Its arguments are complete.
    ToolCallEnd {
        tool_call_id: String,
    },
    ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: String,
        role: Tool,
    },
    /// The progress of a call or of the turn.
    ActivitySnapshot {
        /// The message that shows it; one of the same name takes its place.
        message_id: String,
        /// `toolwire.progress`.
        activity_type: &'static str,
        content: Value,
        /// Whether it takes the place of the one before.
        replace: bool,
    },
    /// An event of Toolwire's own.
    Custom {
        /// `toolwire.plan`, `toolwire.validation` or `toolwire.alert`.
        name: &'static str,
        value: Value,
    },
    /// The state of the conversation.
    StateSnapshot {
        /// See `state` in docs/HTTP.md.
        snapshot: Value,
    },
    MessagesSnapshot {
        messages: Vec<Value>,
    },
    /// The run has ended, or waits for persons. Terminal.
    RunFinished {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "Value::is_null")]
        result: Value,
        /// `success` or `interrupt`.
        outcome: Value,
        /// Tokens that were spent.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<Value>,
    },
    /// The run has failed, or was stopped. Terminal.
    RunError {
        message: String,
        /// A stable word, such as `STOPPED`.
        code: String,
    },
}

/// The role of the answerer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Assistant {
    /// The only one.
    Assistant,
}

/// The role of a tool's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// The only one.
    Tool,
}

impl Event {
    /// Whether nothing comes after it.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::RunFinished { .. } | Self::RunError { .. })
    }
}
