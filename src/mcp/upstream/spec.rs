//! What is known of a tool when its calls come.

use std::time::Duration;

use toolwire_contract::ToolName;
use toolwire_hosts::{Effect, OutputSchema};

/// A tool, by one definition of it.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) tool: ToolName,
    /// Its server's name for it.
    pub(crate) name: String,
    pub(crate) effect: Effect,
    pub(crate) timeout: Duration,
    pub(crate) output: OutputSchema,
}
