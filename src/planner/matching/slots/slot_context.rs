//! The inputs from which slots are filled.

use crate::matching::message::Message;

/// The inputs from which slots are filled: a message, and what it may refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotContext<'a> {
    pub(crate) message: &'a Message<'a>,
    /// The names of earlier turns: kind and value.
    pub(crate) carried: &'a [(String, String)],
    pub(crate) account: Option<&'a str>,
    /// Whether the message refers to them, by `it` or `them`.
    pub(crate) refers: bool,
}
