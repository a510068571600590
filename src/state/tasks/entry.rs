//! Entries of a timeline: append-only and immutable.
//!
//! Not here: the state of a task after its entries (`fold`).

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
    /// Its position in the timeline, from 0 and without gaps.
    pub sequence: u64,
    pub at: SystemTime,
    /// The model's response that it belongs to, from 1. 0: it is a step by itself.
    pub step: u64,
    /// Its position in the step, from 0.
    pub position: u32,
    pub call_id: Option<CallId>,
    pub trace_id: Option<String>,
    pub body: Body,
    /// Token counts of its two long texts, where they were computed.
    pub lengths: Lengths,
}

/// Token counts of the two long texts of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// Tokens of the message or of the arguments.
    pub input: Option<u64>,
    pub result: Option<Length>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// The task was created. Always the first entry.
    Created(Created),
    /// A worker acquired the lease.
    Started(Started),
    Message(Message),
    ToolCall(ToolCall),
    /// The answer that an earlier entry waited for.
    Answer(Answer),
    /// The task ended. Only answers can follow.
    Ended(Ended),
    /// The decision, or other end, of a confirmation that an earlier call waited for.
    Decision(Decision),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Created {
    /// `root`, `agent_as_tool` or `ask_master`.
    pub tool_type: CallType,
    pub tool: String,
    pub request: String,
    pub documents: Vec<DocumentVersion>,
    /// Whether it was given untrusted text.
    pub tainted: bool,
}

/// A worker acquired the lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The worker, as shown to people.
    pub holder: String,
    pub token: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub speaker: Speaker,
    pub text: Text,
    /// Opaque data that the model's provider expects back unchanged.
    pub opaque: Option<Opaque>,
}

/// A call of a tool. A call that waits is appended when the wait begins, and its result is an [`Answer`]. If it must
/// wait again, a further entry with the same `tool_call_id` is appended, and the last one counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool_type: CallType,
    #[serde(with = "as_text")]
    pub tool: ToolName,
    /// The model's identifier of the call, or a generated one.
    pub tool_call_id: String,
    /// The arguments as JSON text, with sensitive values redacted.
    pub input: Text,
    /// The result's data as JSON text, if it executed or was logged.
    pub result: Option<Text>,
    pub error: Option<ToolError>,
    /// The status that the model reads, such as `→ delegated (task …)`. Empty if there is none.
    pub status: String,
    /// The documents that were passed along.
    pub documents: Vec<DocumentVersion>,
    /// Sources and warnings of the result.
    pub provenance: Provenance,
    /// What the call may change.
    #[serde(with = "as_text::category")]
    pub category: v1::ToolCategory,
    /// What the task waits for from this entry on.
    pub waits_for: Option<WaitTarget>,
    /// Whether it returned untrusted text.
    pub untrusted: bool,
}

/// The answer that an earlier entry waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Sequence number of the entry that waited. Each is answered at most once.
    pub answers: u64,
    /// `← result from …`, `← answer from …`, `← authorized by …`, `← resolved by …`. Empty for the result of a call
    /// that was confirmed.
    pub status: String,
    /// The result or answer as JSON text.
    pub result: Option<Text>,
    /// The error, if there is no result.
    pub error: Option<ToolError>,
    pub documents: Vec<DocumentVersion>,
    /// The child, the question or the call that answers.
    pub origin: String,
    /// Sources and warnings of the result.
    pub provenance: Provenance,
    /// Whether it returned untrusted text.
    pub untrusted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub end: End,
    /// The result, as JSON text of an object. Absent unless the task completed.
    pub result: Option<Text>,
    /// The documents that were handed off.
    pub documents: Vec<DocumentVersion>,
    /// Why it failed or was cancelled. Empty otherwise.
    pub message: String,
    pub cause: Cause,
}

/// The decision, or other end, of a confirmation that an earlier call waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Sequence number of the entry of the call.
    pub decides: u64,
    #[serde(with = "as_text")]
    pub confirmation: ConfirmationId,
    /// `← confirmed by …`, `← denied by …`, `← not confirmed in time`, `← confirmation void: … has changed`.
    pub status: String,
    /// Why the call is not executed. Absent if it was approved.
    pub error: Option<ToolError>,
}

impl ToolCall {
    /// The entry of a call without an outcome.
    pub fn new(tool_type: CallType, tool: ToolName, tool_call_id: String, input: String) -> Self {
        Self {
            tool_type,
            tool,
            tool_call_id,
            input: Text::Inline(input),
            result: None,
            error: None,
            status: String::new(),
            documents: Vec::new(),
            provenance: Provenance::default(),
            category: v1::ToolCategory::default(),
            waits_for: None,
            untrusted: false,
        }
    }
}

impl Body {
    /// The texts that may be stored externally: `input` and `result`.
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
