//! What callers learn of a store that fails: nothing of the cause, which is for operators.

use std::time::Duration;

use toolwire_contract::Refusal;
use toolwire_store::StoreError;

/// When to try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Tells operators why, and callers when to try again.
pub(super) fn unavailable(error: &StoreError) -> Refusal {
    if matches!(error, StoreError::Crowded) {
        tracing::warn!(%error, "too many read the state");
    } else {
        tracing::error!(%error, "the state cannot be read or written");
    }
    Refusal::StateUnavailable { retry_after: RETRY_AFTER }
}
