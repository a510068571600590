//! A store cannot be reached or does not answer. Its detail is for operators.

/// A store failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the store failed: {0}")]
pub struct StoreError(pub String);
