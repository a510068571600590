//! A tool that the configuration disables: it is listed with the reason, and its calls are refused.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledTool {
    /// The name of the tool, which needs no executor.
    pub tool: &'static str,
    /// The reason, and what an operator can do to enable the tool.
    pub reason: String,
}
