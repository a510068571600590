//! Parts of entries: long texts, documents, and what is waited for.

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

/// A text of an entry: within it, or kept apart because it is long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Whole(String),
    /// Its size and the SHA-256 of its bytes, in hex; the text is read with the entry alone.
    Apart {
        /// How many bytes it has.
        size_bytes: u64,
        /// Their SHA-256.
        digest: String,
    },
}

/// What a task waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thing {
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

impl Part {
    /// The text, unless it is kept apart.
    pub fn whole(&self) -> Option<&str> {
        match self {
            Self::Whole(text) => Some(text),
            Self::Apart { .. } => None,
        }
    }

    /// How many bytes it has, wherever they are.
    pub fn size(&self) -> u64 {
        match self {
            Self::Whole(text) => text.len() as u64,
            Self::Apart { size_bytes, .. } => *size_bytes,
        }
    }

    /// What stands for a text that is kept apart.
    pub fn apart(text: &str) -> Self {
        Self::Apart { size_bytes: text.len() as u64, digest: Digest::of_bytes(text.as_bytes()).to_string() }
    }
}

impl Thing {
    /// What it means for the state.
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

/// Whatever it is, in words for people and agents.
impl fmt::Display for Thing {
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
