//! The permits of a call: one of each quota that bounds how many calls of its user run at once.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::runtime::Handle;

use toolwire_state::Store;

/// Permits, by the numbers of their reservations in the state. The call and its work share them: they are free once
/// both have ended.
#[derive(Debug)]
pub struct Permits {
    store: Arc<Store>,
    numbers: Mutex<Vec<i64>>,
}

impl Permits {
    pub(in crate::pipeline) fn new(store: Arc<Store>, numbers: Vec<i64>) -> Self {
        Self { store, numbers: Mutex::new(numbers) }
    }

    pub(in crate::pipeline) fn is_empty(&self) -> bool {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Frees them, and waits until they are free.
    pub(in crate::pipeline) async fn free(&self) {
        free(&self.store, self.take()).await;
    }

    fn take(&self) -> Vec<i64> {
        mem::take(&mut *self.numbers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Permits {
    fn drop(&mut self) {
        let (numbers, Ok(runtime)) = (self.take(), Handle::try_current()) else { return };
        if !numbers.is_empty() {
            let store = Arc::clone(&self.store);
            runtime.spawn(async move { free(&store, numbers).await });
        }
    }
}

async fn free(store: &Store, numbers: Vec<i64>) {
    for number in numbers {
        // If this fails, the permit is free once the call must have ended.
        let _ = store.cancel_reservation(number).await;
    }
}
