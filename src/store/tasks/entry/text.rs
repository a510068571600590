//! Texts of entries, documents, and the targets of waits.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::{
    as_text,
    life::{Reason, Wait},
};
use toolwire_base::digest::Digest;
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::{CallId, TaskId};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DocumentVersion {
    /// The path in the tree's workspace.
    pub path: String,
    pub version: u32,
}

/// A text of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Text {
    #[serde(rename = "whole")]
    Inline(String),
    /// Stored apart, and read with its entry alone.
    #[serde(rename = "apart")]
    External {
        size_bytes: u64,
        /// The SHA-256 of its bytes, in hex.
        digest: String,
    },
}

/// What a task can wait for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitTarget {
    /// The end of a task that works for it.
    Child(#[serde(with = "as_text")] TaskId),
    Question(#[serde(with = "as_text")] TaskId),
    Confirmation(#[serde(with = "as_text")] ConfirmationId),
    /// Credentials for a source, which is named.
    Source(String),
    /// The end of a write, which is not known.
    Call(#[serde(with = "as_text")] CallId),
}

/// Bytes that only one provider understands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    pub provider: String,
    /// The bytes.
    #[serde(with = "as_text::base64")]
    pub data: Vec<u8>,
}

impl Text {
    /// The text, unless it is stored apart.
    pub fn inline(&self) -> Option<&str> {
        match self {
            Self::Inline(text) => Some(text),
            Self::External { .. } => None,
        }
    }

    /// Its length in bytes, wherever it is stored.
    pub fn size(&self) -> u64 {
        match self {
            Self::Inline(text) => text.len() as u64,
            Self::External { size_bytes, .. } => *size_bytes,
        }
    }

    /// The reference to a text that is stored apart.
    pub fn external(text: &str) -> Self {
        Self::External {
            size_bytes: text.len() as u64,
            digest: Digest::of_bytes(text.as_bytes()).to_string(),
        }
    }
}

impl WaitTarget {
    /// What it means for the state of the task.
    pub const fn wait(&self) -> Wait {
        match self {
            Self::Child(_) => Wait::For(Reason::Child),
            Self::Question(_) => Wait::For(Reason::Question),
            Self::Confirmation(_) => Wait::Confirmation,
            Self::Source(_) => Wait::For(Reason::Authorization),
            Self::Call(_) => Wait::For(Reason::UnknownOutcome),
        }
    }
}

/// In words for people and agents.
impl fmt::Display for WaitTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child(id) => write!(f, "the task {id}"),
            Self::Question(id) => write!(f, "the answer to the question {id}"),
            Self::Confirmation(id) => write!(f, "the confirmation {id}"),
            Self::Source(source) => write!(f, "credentials for {source}"),
            Self::Call(id) => write!(f, "the outcome of the call {id}"),
        }
    }
}
