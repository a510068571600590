//! The result of a job at a terminal.

pub use toolwire_contract::proto::agent::v1::Job as JobMessage;

/// Renders the result of a job for people: the part of a command that starts one.
#[derive(Clone, Copy, Debug)]
pub struct JobReport(pub fn(&JobMessage) -> String);
