//! Texts of entries, references to documents, and targets of waits.

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Text {
    #[serde(rename = "whole")]
    Inline(String),
    /// Stored in a table of its own, and read only with its single entry.
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
    /// The end of a child task.
    Child(#[serde(with = "as_text")] TaskId),
    Question(#[serde(with = "as_text")] TaskId),
    Confirmation(#[serde(with = "as_text")] ConfirmationId),
    /// Credentials for the named source.
    Source(String),
    /// The unknown outcome of a write.
    Call(#[serde(with = "as_text")] CallId),
}

/// Opaque data of a model's provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    pub provider: String,
    #[serde(with = "as_text::base64")]
    pub data: Vec<u8>,
}

impl Text {
    /// The text, unless it is stored externally.
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

    /// A reference to a text that is stored externally.
    pub fn external(text: &str) -> Self {
        Self::External {
            size_bytes: text.len() as u64,
            digest: Digest::of_bytes(text.as_bytes()).to_string(),
        }
    }
}

impl WaitTarget {
    /// The effect of the wait on the state of the task.
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

/// Phrased for people and agents.
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
