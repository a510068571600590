//! A store cannot be reached or does not answer. Its detail is for operators.

/// A store failed: what it was, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);
