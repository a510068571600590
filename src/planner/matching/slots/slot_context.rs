//! What the parameters of a tool are filled from.

use crate::matching::message::Message;

/// What a message is filled in with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotContext<'a> {
    pub(crate) message: &'a Message<'a>,
    /// What was named before: kind and value.
    pub(crate) carried: &'a [(String, String)],
    pub(crate) account: Option<&'a str>,
    /// Whether it says `it` or `them` of what was named before.
    pub(crate) refers: bool,
}
