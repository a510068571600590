//! What is reported to the caller of a call that a person must approve first.
//!
//! Not here: the confirmation itself, with its states and its decision, which a store keeps.

use std::{fmt, str::FromStr, sync::Arc, time::SystemTime};

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{ToolName, proto::v1};
use toolwire_base::digest::Digest;

/// The prefix of every confirmation id.
const PREFIX: &str = "conf_";

/// Names a confirmation: `conf_` and 32 hexadecimal digits, made by the server. It cannot be guessed, and knowing it
/// grants nothing by itself.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfirmationId(Arc<str>);

/// A text names no confirmation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be conf_ and 32 hexadecimal digits, but is {0:?}")]
pub struct InvalidConfirmationId(String);

/// A call that a person must approve first.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfirmationRequired {
    /// What to decide on.
    pub confirmation_id: ConfirmationId,
    /// What the call will do, for the person.
    pub summary: String,
    /// The exact arguments that approval is bound to.
    pub arguments: Map<String, Value>,
    pub expires_at: SystemTime,
    pub tool: ToolName,
    /// The tools from the called one to that one.
    pub path: Vec<ToolName>,
    /// The identifier to call again with.
    pub request_id: String,
    /// The impact of the call on the real world.
    pub consequence_level: v1::ConsequenceLevel,
    /// Digest of the definition that approval is bound to.
    pub definition_digest: Digest,
    /// Why it is needed.
    pub cause: ConfirmationCause,
    /// Where a person decides; empty without a console.
    pub url: String,
}

/// The addresses of the pages of the console, if there is one. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsoleLinks(Option<Arc<str>>);

impl ConsoleLinks {
    /// Those of a console at this address, such as `https://tools.example`, if there is one.
    pub fn new(console: Option<&str>) -> Self {
        Self(console.map(|url| url.trim_end_matches('/').into()))
    }

    /// Where a person decides on a confirmation; empty without a console.
    pub fn confirmation(&self, id: &ConfirmationId) -> String {
        self.0.as_ref().map(|url| format!("{url}/#/approvals/{id}")).unwrap_or_default()
    }
}

/// Why a call needs a confirmation: the first that holds, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmationCause {
    /// The manifest demands one for each call.
    Manifest,
    /// The arguments break a condition of the tool.
    Condition,
    /// The task has read text from outside, and the call does not only read.
    Tainted,
    Caller,
}

impl ConfirmationId {
    pub fn generate() -> Self {
        Self(format!("{PREFIX}{}", Uuid::new_v4().simple()).into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ConfirmationId {
    type Err = InvalidConfirmationId;

    fn from_str(text: &str) -> Result<Self, InvalidConfirmationId> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match text.strip_prefix(PREFIX) {
            Some(digits) if digits.len() == 32 && digits.bytes().all(is_digit) => Ok(Self(text.into())),
            _ => Err(InvalidConfirmationId(text.chars().take(64).collect())),
        }
    }
}

impl fmt::Display for ConfirmationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ConfirmationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ConfirmationCause> for v1::ConfirmationCause {
    fn from(cause: ConfirmationCause) -> Self {
        match cause {
            ConfirmationCause::Manifest => Self::Manifest,
            ConfirmationCause::Condition => Self::Condition,
            ConfirmationCause::Tainted => Self::Tainted,
            ConfirmationCause::Caller => Self::Caller,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written_and_nothing_else_is_one() {
        let id = ConfirmationId::generate();
        assert_eq!(id.to_string().parse(), Ok(id.clone()));
        assert_ne!(id, ConfirmationId::generate());
        let digits = "0123456789abcdef0123456789abcdef";
        for bad in [
            "",
            "conf_",
            digits,
            &format!("conf_{}", &digits[1..]),
            &format!("conf_{}", digits.to_uppercase()),
        ] {
            assert!(bad.parse::<ConfirmationId>().is_err(), "{bad}");
        }
    }
}
