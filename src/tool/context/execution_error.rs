//! The error of a tool's execution, and of a nested call.

use toolwire_contract::{ConfirmationRequired, DocumentRefusal, ToolError};

/// Why a tool did not return data.
///
/// A nested tool's confirmation passes through its caller unchanged, never as an error: `?` does that.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfinished {
    /// The tool failed, or a source that it needs.
    Failed(ToolError),
    /// A person must approve a call first.
    AwaitsConfirmation(Box<ConfirmationRequired>),
}

impl From<DocumentRefusal> for Unfinished {
    fn from(refusal: DocumentRefusal) -> Self {
        Self::Failed(refusal.into())
    }
}

impl From<ToolError> for Unfinished {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}
