//! The input of a render: a task, independent of how it is stored.

use std::collections::BTreeMap;

pub use toolwire_state::tasks::entry::{DocumentVersion, Opaque, Speaker};
use toolwire_tokens::Length;

#[derive(Clone, Debug)]
pub struct RenderInput<'a> {
    /// The role as the model is addressed, such as `You are the analyst.`
    pub role: &'a str,
    /// The documents of the workspace.
    pub contents: &'a [DocumentSummary],
    pub notes: &'a Notes,
    /// The request in the first entry.
    pub request: Request,
    /// The number of entries of other tasks before those of this one: a question begins with its master's timeline.
    pub before: u64,
    /// The number of entries after the first one that were not read, because the budget cannot hold them.
    pub unread: u64,
    /// The entries after them, in order.
    pub events: &'a [Event],
    /// The documents that entries refer to. One that is absent is rendered by name only.
    pub documents: &'a BTreeMap<DocumentVersion, Document>,
    /// Keys the nonces of frames, so that authors of outside text cannot predict them.
    pub secret: &'a [u8],
    /// Maximum number of tokens.
    pub budget: u64,
    /// MIME types of media that the model accepts.
    pub media_types: &'a [String],
    /// The provider, which gets its own opaque data back.
    pub provider: &'a str,
}

/// Remembered notes, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    pub tree: Vec<Note>,
    pub user: Vec<Note>,
}

/// A note that an agent has stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    /// Approximate.
    pub tokens: u64,
    /// Whether its author had read text from outside.
    pub is_untrusted: bool,
}

/// A document in the list of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSummary {
    pub path: String,
    pub mime_type: String,
    pub tokens: u64,
    pub summary: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub sequence: u64,
    pub text: String,
    pub documents: Vec<DocumentVersion>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub mime_type: String,
    pub size: u64,
    /// Tokens of its text, if they were counted.
    pub tokens: Option<u64>,
    pub summary: String,
    /// `None` if it is neither text nor accepted media, or too large.
    pub content: Option<DocumentContent>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentContent {
    Text(String),
    /// The bytes of an image, or of another accepted type.
    Media(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub sequence: u64,
    /// The step of the model's response that it belongs to. 0: a step of its own.
    pub step: u64,
    /// Its index in the step.
    pub position: u32,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Message {
        speaker: Speaker,
        text: String,
        /// Tokens of `text`, if they were counted.
        tokens: Option<u64>,
        opaque: Option<Opaque>,
    },
    /// A question for an agent, after the entries of that agent's timeline.
    Question {
        text: String,
        documents: Vec<DocumentVersion>,
    },
    Call(ToolCall),
    /// The answer that a call waited for.
    Answer {
        /// Sequence number of the call.
        answers: u64,
        outcome: Outcome,
    },
    /// The decision on a confirmation. An approved call is answered by a later entry.
    Decision {
        /// Sequence number of the call.
        decides: u64,
        outcome: Outcome,
    },
    /// An entry that is not rendered.
    Other,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The model's identifier of the call; empty if it gave none.
    pub id: String,
    pub tool: String,
    /// The arguments, a JSON object.
    pub input: String,
    /// Tokens of `input`, if they were counted.
    pub input_tokens: Option<u64>,
    /// Whether the call is only logged, as thoughts and plans are.
    pub is_thought: bool,
    /// The result, or what the call waits for.
    pub outcome: Outcome,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The result as JSON text, a status, or an error.
    pub content: String,
    /// Length of `content` in tokens, if it was counted.
    pub length: Option<Length>,
    pub is_error: bool,
    /// Whether `content` contains text from outside.
    pub is_untrusted: bool,
    pub documents: Vec<DocumentVersion>,
}

/// A longer text surely exceeds a budget of `budget` tokens, and is not read.
pub(super) const fn max_bytes(budget: u64) -> u64 {
    budget.saturating_mul(4)
}
