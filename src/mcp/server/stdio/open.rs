//! The requests without a written answer, and how many there may be.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests that are carried out, or whose answers are not written.
pub(super) const MAX_IN_FLIGHT: usize = 32;

/// The requests that are open, by their identifiers: a response to two of the same would be ambiguous.
#[derive(Debug)]
pub(super) struct OpenRequests {
    /// With the permits of those that have begun.
    permits: Mutex<HashMap<RequestId, Option<OwnedSemaphorePermit>>>,
    free: Arc<Semaphore>,
}

impl OpenRequests {
    pub(super) fn new() -> Self {
        Self { permits: Mutex::default(), free: Arc::new(Semaphore::new(MAX_IN_FLIGHT)) }
    }

    /// Waits until another request may begin.
    pub(super) async fn permit(&self) -> OwnedSemaphorePermit {
        match Arc::clone(&self.free).acquire_owned().await {
            Ok(permit) => permit,
            Err(_) => unreachable!("the semaphore is never closed"),
        }
    }

    /// Takes a request that has not begun. False if one of the same identifier is open.
    pub(super) fn insert(&self, id: RequestId) -> bool {
        let mut permits = self.lock();
        let is_new = !permits.contains_key(&id);
        if is_new {
            permits.insert(id, None);
        }
        is_new
    }

    /// Has a request begin.
    pub(super) fn begin(&self, id: RequestId, permit: OwnedSemaphorePermit) {
        self.lock().insert(id, Some(permit));
    }

    /// Its answer is being written, which is to hold the permit until it is, or it gets none.
    pub(super) fn remove(&self, id: &RequestId) -> Option<OwnedSemaphorePermit> {
        self.lock().remove(id).flatten()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Option<OwnedSemaphorePermit>>> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
