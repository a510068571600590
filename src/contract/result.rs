//! The events and the result of a call.

use std::time::{Duration, SystemTime};

use prost_reflect::MessageDescriptor;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ConfirmationRequired, Payload, ToolError, ToolName,
    payload::{StoredPayload, WrongPayload},
};
use toolwire_base::digest::Digest;

/// The terminal outcome of a call that reached its tool. Out of a store, its data is yet to be read.
#[derive(Clone, Debug)]
pub struct ToolResult<D = Payload> {
    pub tool: ToolName,
    /// When this call was made.
    pub fetched_at: SystemTime,
    /// Data or an error, never both.
    pub outcome: Outcome<D>,
    /// Where the data came from.
    pub provenance: Provenance,
    /// Where the data is kept, if it exceeds what the caller takes. It is the response's own, so no store has one.
    pub kept: Option<Box<Kept>>,
}

/// Data that is kept for reading on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The call that returned it.
    pub call_id: String,
    /// Its tokens as JSON text.
    pub tokens: u64,
    /// Maximum number of tokens that the caller takes.
    pub max_tokens: u64,
    pub expires_at: SystemTime,
}

pub type Outcome<D = Payload> = Result<D, ToolError>;

/// Where the data of a result came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The contributing sources, `tool:<domain>:v1` each.
    pub source_ids: Vec<String>,
    /// The date of the data; the oldest of several.
    pub as_of: String,
    /// How old the result is, if it came from a cache.
    pub cached_for: Option<Duration>,
    /// What a reader of the data should know, in words for people.
    pub warnings: Vec<String>,
    /// What a model can do about it, in names of tools and parameters. Only the form for models has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
    /// The nonce that frames text from outside, if there is any. Empty until the response is framed:
    /// it is the response's own, so neither a nested call nor a store ever has one.
    pub untrusted_nonce: Option<String>,
}

/// How a call ends.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every call ends with a result, which is moved and not boxed"
)]
pub enum Terminal {
    Result(ToolResult),
    /// A person must approve it first.
    ConfirmationRequired(Box<ConfirmationRequired>),
}

/// What a call says before it ends.
#[derive(Clone, Debug)]
pub enum Event {
    /// The call is valid and has begun.
    Accepted {
        /// The tool that was resolved.
        tool: ToolName,
        digest: Digest,
        /// When the call ends, whatever happens.
        deadline: SystemTime,
    },
    /// The call goes on.
    Progress {
        /// How much is done, 0 to 1, if known.
        fraction: Option<f64>,
        /// What is being done, for a person.
        message: String,
    },
    /// A part of the data, ahead of the result.
    Chunk(Map<String, Value>),
    /// A person must approve the call, which waits for that and goes on then.
    AwaitingConfirmation(Box<ConfirmationRequired>),
}

impl ToolResult<StoredPayload> {
    /// The same with its data, which is of the given output message.
    pub fn read(self, output: Option<&MessageDescriptor>) -> Result<ToolResult, WrongPayload> {
        let Self { tool, fetched_at, outcome, provenance, kept } = self;
        let outcome = match outcome {
            Ok(data) => Ok(data.read(output)?),
            Err(error) => Err(error),
        };
        Ok(ToolResult { tool, fetched_at, outcome, provenance, kept })
    }
}

impl From<ToolResult> for ToolResult<StoredPayload> {
    fn from(live: ToolResult) -> Self {
        let ToolResult { tool, fetched_at, outcome, provenance, kept } = live;
        Self { tool, fetched_at, outcome: outcome.map(StoredPayload::Live), provenance, kept }
    }
}

impl Provenance {
    pub fn of(source_id: impl Into<String>, as_of: impl Into<String>) -> Self {
        Self { source_ids: vec![source_id.into()], as_of: as_of.into(), ..Self::default() }
    }

    /// Warns that a list is cut, in words for people, and advises models how to see more of it.
    pub fn warn_cut(&mut self, warning: String) {
        self.warnings.push(warning);
        self.advice.push("`limit` sets how many are shown.".to_owned());
    }

    /// Adds what another contribution says: its sources, its warnings, and its date if that is older. Not its advice,
    /// which is about parameters of another tool.
    pub fn absorb(&mut self, other: Self) {
        for source_id in other.source_ids {
            if !self.source_ids.contains(&source_id) {
                self.source_ids.push(source_id);
            }
        }
        if self.as_of.is_empty() || (!other.as_of.is_empty() && other.as_of < self.as_of) {
            self.as_of = other.as_of;
        }
        self.cached_for = self.cached_for.max(other.cached_for);
        self.untrusted_nonce = self.untrusted_nonce.take().or(other.untrusted_nonce);
        for warning in other.warnings {
            // Parts that come from one file say the same of it.
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }
}
