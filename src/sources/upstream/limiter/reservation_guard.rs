//! A reservation that is cancelled when its request is dropped while it waits.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::late_requests::LateRequests;
use toolwire_state::Store;

/// A reservation in the store, cancelled on drop unless it was used.
pub(super) struct ReservationGuard {
    pub(super) store: Arc<Store>,
    /// `None` once it is used.
    pub(super) number: Option<i64>,
    /// What is known of its source, and counts no more once it is cancelled.
    pub(super) late: Option<LateRequests>,
}

impl Drop for ReservationGuard {
    fn drop(&mut self) {
        let (Some(number), Ok(runtime)) = (self.number, Handle::try_current()) else { return };
        let (store, late) = (Arc::clone(&self.store), self.late.take());
        runtime.spawn(async move {
            // If this fails, the reservation is not used and its instant passes.
            let _ = store.cancel_reservation(number).await;
            if let Some(late) = late {
                late.forget_all();
            }
        });
    }
}
