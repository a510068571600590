//! Why nothing of a document can be read.

/// A document that cannot be read at all. Names the place, never what stood there, which may be anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the JSON that was expected: {0}")]
pub struct Unreadable(pub(super) String);
