//! A tool that cannot be called as things are set: it is listed with the reason, and calls are refused with it.

/// Which tool cannot be called, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disabled {
    /// The tool. It needs no executor.
    pub tool: &'static str,
    /// Why, and what an operator does about it.
    pub reason: String,
}
