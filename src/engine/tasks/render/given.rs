//! What a render is made from: a task as a model is to see it.

use std::collections::BTreeMap;

pub use toolwire_store::tasks::entry::{DocumentVersion, Opaque, Speaker};
use toolwire_tokens::Length;

#[derive(Clone, Debug)]
pub struct Given<'a> {
    /// What the role is told, such as `You are the analyst.`
    pub role: &'a str,
    /// What is in the workspace.
    pub contents: &'a [Listed],
    pub notes: &'a Notes,
    /// What is to be done: the first entry.
    pub request: Request,
    /// Entries of other tasks that stand before those of this one: a question begins with what its master did.
    pub before: u64,
    /// Entries after the first one that were not read, because they are older than any budget reaches.
    pub unread: u64,
    /// The entries after them, in order.
    pub events: &'a [Event],
    /// The documents that entries name. One that is not here is only named.
    pub documents: &'a BTreeMap<DocumentVersion, Document>,
    /// By which delimiters are made that nobody outside can foresee.
    pub secret: &'a [u8],
    /// At most so many tokens.
    pub budget: u64,
    /// Types of media that the model takes.
    pub media_types: &'a [String],
    /// The provider, whose opaque parts are returned.
    pub provider: &'a str,
}

/// What was remembered, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    pub tree: Vec<Note>,
    pub user: Vec<Note>,
}

/// What an agent asked to be remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    /// About how many tokens it has.
    pub tokens: u64,
    /// Whether whoever noted it had read text from outside.
    pub is_untrusted: bool,
}

/// A document of the workspace in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub path: String,
    pub mime_type: String,
    pub tokens: u64,
    pub summary: String,
}

/// What is to be done.
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
    /// Tokens of its text, where they were counted.
    pub tokens: Option<u64>,
    pub summary: String,
    /// Its text, or its bytes if it is a medium that the model takes. None where it is neither, or too large.
    pub content: Option<Stored>,
}

/// What a document holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    Text(String),
    /// An image, or whatever else the model takes.
    Media(Vec<u8>),
}

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub sequence: u64,
    /// The model's response that it belongs to. 0: one of its own.
    pub step: u64,
    /// Its place in the step.
    pub position: u32,
    pub body: Body,
}

/// What happened, as far as a model is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Said {
        speaker: Speaker,
        text: String,
        /// Its tokens, where they were counted.
        tokens: Option<u64>,
        /// What a provider wants back.
        opaque: Option<Opaque>,
    },
    /// What is asked of an agent whose entries so far stand before it: the first entry of a question.
    Asked { text: String, documents: Vec<DocumentVersion> },
    /// A tool was called.
    Called(Called),
    /// What a call waited for has come.
    Answered {
        /// The entry of the call.
        answers: u64,
        /// What it came to.
        outcome: Outcome,
    },
    /// A confirmation was decided. An approved call has its answer later.
    Decided {
        /// The entry of the call.
        decides: u64,
        /// What it came to so far.
        outcome: Outcome,
    },
    /// Nothing that a model is told.
    Silent,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// The model's identifier of the call.
    pub id: String,
    pub tool: String,
    /// The arguments, a JSON object.
    pub input: String,
    /// Their tokens, where they were counted.
    pub input_tokens: Option<u64>,
    /// Whether it was only logged, as thoughts and plans are.
    pub is_thought: bool,
    /// What it came to: the result, or what it waits for.
    pub outcome: Outcome,
}

/// What a call came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The result as JSON text, a status, or why it failed.
    pub content: String,
    /// How long that is, where it was counted.
    pub length: Option<Length>,
    pub is_error: bool,
    /// Whether there is text from outside in it.
    pub is_untrusted: bool,
    pub documents: Vec<DocumentVersion>,
}

/// A text of more bytes exceeds a budget of so many tokens, and is not read.
pub(super) const fn most_bytes(budget: u64) -> u64 {
    budget.saturating_mul(4)
}
