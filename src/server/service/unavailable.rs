//! The refusal after an error of the store. Its cause is for operators: callers learn only when to try again.

use std::time::Duration;

use toolwire_contract::Refusal;
use toolwire_db::StoreError;

const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Logs an error of the store, and returns the refusal.
pub fn unavailable(error: &StoreError) -> Refusal {
    if matches!(error, StoreError::Crowded) {
        tracing::warn!(%error, "too many read the state");
    } else {
        tracing::error!(%error, "the state cannot be read or written");
    }
    Refusal::StateUnavailable { retry_after: RETRY_AFTER }
}
