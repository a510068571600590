//! What the tools of the watch-list share.

use toolwire_contract::{ErrorCode, ToolError};
use toolwire_db::StoreError;

/// The store of watch-lists does not answer.
pub(super) fn unavailable(error: &StoreError) -> ToolError {
    tracing::error!(%error, "a watch-list cannot be reached");
    ToolError::new(ErrorCode::Unavailable, "The watch-list cannot be reached now. Try again later.")
}

/// A number of stocks as messages state it.
pub(super) fn count(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
