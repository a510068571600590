//! Entries of a timeline: made once, never changed (spec 002 "Timeline").
//!
//! Not here: what a task is after them (`fold`).

mod text;
mod words;

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

pub use self::{
    text::{DocumentVersion, Opaque, Text, WaitTarget},
    words::{CallType, Cause, End, Speaker},
};
use super::as_text;
use toolwire_contract::{ConfirmationId, Provenance, ToolError, ToolName, proto::v1};
use toolwire_tokens::Length;
use toolwire_tool::context::{CallId, TaskId};

/// One entry of a task's timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub task: TaskId,
    /// Its place in the timeline: gapless, from 0.
    pub sequence: u64,
    /// When it was made.
    pub at: SystemTime,
    /// The model's response that it belongs to. 0: a step of its own.
    pub step: u64,
    /// Its place in the step, from 0.
    pub position: u32,
    /// The call, if it records one.
    pub call_id: Option<CallId>,
    /// The trace, if there is one.
    pub trace_id: Option<String>,
    pub body: Body,
    /// How long its two long texts are for a model, where that was counted.
    pub lengths: Lengths,
}

/// How long the two long texts of an entry are for a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// Tokens of what was said, or of the arguments.
    pub input: Option<u64>,
    pub result: Option<Length>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// The task exists. Always the first entry.
    Created(Created),
    /// A worker began or took over.
    Started(Started),
    Message(Message),
    ToolCall(ToolCall),
    /// What an earlier entry waited for has come.
    Answer(Answer),
    /// The task ended. Always the last entry.
    Ended(Ended),
    /// A confirmation that an earlier call waited for was decided, or came to nothing.
    Decision(Decision),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Created {
    /// `root`, `agent_as_tool` or `ask_master`.
    pub tool_type: CallType,
    pub tool: String,
    /// What is to be done or asked.
    pub request: String,
    /// The documents that it was given.
    pub documents: Vec<DocumentVersion>,
    /// Whether it has been given text from outside.
    pub tainted: bool,
}

/// A worker began or took over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The worker, in words for people.
    pub holder: String,
    pub token: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub speaker: Speaker,
    pub text: Text,
    /// What a provider wants back unchanged.
    pub opaque: Option<Opaque>,
}

/// A tool was called. A call that waits has an entry when the wait begins; its result is an [`Answer`] then. One that
/// must wait again has a further entry with the same `tool_call_id`, of which the last counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool_type: CallType,
    #[serde(with = "as_text")]
    pub tool: ToolName,
    /// The model's own identifier of the call, or ours.
    pub tool_call_id: String,
    /// The arguments as JSON text; what is sensitive is redacted.
    pub input: Text,
    /// The result's data as JSON text, if it executed or was logged.
    pub result: Option<Text>,
    pub error: Option<ToolError>,
    /// What was begun: `→ delegated (task …)`. Empty otherwise.
    pub status: String,
    /// The documents that were passed along.
    pub documents: Vec<DocumentVersion>,
    /// Sources and warnings of the result.
    pub provenance: Provenance,
    /// What it may change.
    #[serde(with = "as_text::category")]
    pub category: v1::ToolCategory,
    /// What the task waits for from here on.
    pub waits_for: Option<WaitTarget>,
    /// Whether it brought text from outside.
    pub untrusted: bool,
}

/// What an earlier entry waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The entry that waited. Each is answered at most once.
    pub answers: u64,
    /// `← result from …`, `← answer from …`, `← authorized by …`, `← resolved by …`. Empty for the result of a call
    /// that was confirmed.
    pub status: String,
    /// The result or answer as JSON text.
    pub result: Option<Text>,
    /// Why there is none.
    pub error: Option<ToolError>,
    pub documents: Vec<DocumentVersion>,
    /// The child, the question or the call that it comes from.
    pub origin: String,
    /// Sources and warnings of the result.
    pub provenance: Provenance,
    /// Whether it brought text from outside.
    pub untrusted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub end: End,
    /// The result as JSON text, an object. Absent unless it completed.
    pub result: Option<Text>,
    /// The documents that were handed off.
    pub documents: Vec<DocumentVersion>,
    /// Why it failed or was cancelled. Empty otherwise.
    pub message: String,
    pub cause: Cause,
}

/// A confirmation that an earlier call waited for was decided, or came to nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The entry of the call.
    pub decides: u64,
    #[serde(with = "as_text")]
    pub confirmation: ConfirmationId,
    /// `← confirmed by …`, `← denied by …`, `← not confirmed in time`, `← confirmation void: … has changed`.
    pub status: String,
    /// Why the call is not carried out. Absent if it was approved.
    pub error: Option<ToolError>,
}

impl Body {
    /// The texts that may be stored apart: `input` and `result`.
    pub fn texts(&mut self) -> (Option<&mut Text>, Option<&mut Text>) {
        match self {
            Self::Message(message) => (Some(&mut message.text), None),
            Self::ToolCall(call) => (Some(&mut call.input), call.result.as_mut()),
            Self::Answer(answer) => (None, answer.result.as_mut()),
            Self::Ended(ended) => (None, ended.result.as_mut()),
            Self::Created(_) | Self::Started(_) | Self::Decision(_) => (None, None),
        }
    }
}
