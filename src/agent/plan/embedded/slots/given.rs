//! What the parameters of a tool are read from.

use crate::agent::plan::embedded::message::Message;

/// What a message is filled in with.
#[derive(Clone, Copy, Debug)]
pub(in crate::agent::plan) struct Given<'a> {
    pub(in crate::agent::plan) message: &'a Message<'a>,
    /// What was named before: kind and value.
    pub(in crate::agent::plan) carried: &'a [(String, String)],
    /// The account of the request.
    pub(in crate::agent::plan) account: Option<&'a str>,
    /// Whether it says `it` or `them` of what was named before.
    pub(in crate::agent::plan) refers: bool,
}
