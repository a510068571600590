//! The events of AG-UI that we send, as the protocol spells them (AG-UI 1.0, of which its clients before 1.0
//! understand all that is here). Not here: when which one is sent (`run`).

use serde::Serialize;
use serde_json::Value;

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum Event {
    /// The run has begun. Always first.
    RunStarted {
        /// The conversation.
        thread_id: String,
        /// The run, as its caller names it.
        run_id: String,
    },
    /// A step of the graph begins.
    StepStarted {
        /// `plan`, `execute`, `answer` or `validate`.
        step_name: &'static str,
    },
    /// It ends.
    StepFinished {
        /// The step.
        step_name: &'static str,
    },
    /// The answer begins.
    TextMessageStart {
        /// The message.
        message_id: String,
        /// Whose it is.
        role: Assistant,
    },
    /// A part of it.
    TextMessageContent {
        /// The message.
        message_id: String,
        /// The words, at least one character.
        delta: String,
    },
    /// It is complete.
    TextMessageEnd {
        /// The message.
        message_id: String,
    },
    /// A tool is called.
    ToolCallStart {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_call_name: String,
    },
    /// Its arguments, whole.
    ToolCallArgs {
        /// The call.
        tool_call_id: String,
        /// JSON text.
        delta: String,
    },
    /// Its arguments are complete.
    ToolCallEnd {
        /// The call.
        tool_call_id: String,
    },
    /// What came of it.
    ToolCallResult {
        /// The message that holds it.
        message_id: String,
        /// The call.
        tool_call_id: String,
        /// JSON text.
        content: String,
        /// Whose it is.
        role: Tool,
    },
    /// How far something is.
    ActivitySnapshot {
        /// The message that shows it; one of the same name takes its place.
        message_id: String,
        /// `toolwire.progress`.
        activity_type: &'static str,
        /// What is done.
        content: Value,
        /// Whether it takes the place of the one before.
        replace: bool,
    },
    /// What only Toolwire says.
    Custom {
        /// `toolwire.plan`, `toolwire.validation` or `toolwire.alert`.
        name: &'static str,
        /// What is said.
        value: Value,
    },
    /// Where the conversation stands.
    StateSnapshot {
        /// See `state` in docs/HTTP.md.
        snapshot: Value,
    },
    /// All messages of the conversation.
    MessagesSnapshot {
        /// They.
        messages: Vec<Value>,
    },
    /// The run has ended, or waits for persons. Terminal.
    RunFinished {
        /// The conversation.
        thread_id: String,
        /// The run.
        run_id: String,
        /// What came out.
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
        /// Why.
        message: String,
        /// A stable word, such as `STOPPED`.
        code: String,
    },
}

/// The role of whoever answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Assistant {
    /// The only one.
    Assistant,
}

/// The role of what a tool returned.
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
