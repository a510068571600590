//! Tools of MCP servers that an operator has accepted.

pub(crate) mod rows;

use toolwire_base::digest::Digest;

/// A tool, as it was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedTool {
    /// Its server's name for it.
    pub name: String,
    pub digest: Digest,
    /// All that was accepted, as JSON.
    pub text: String,
}
