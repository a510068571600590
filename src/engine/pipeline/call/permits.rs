//! The permits of a call: one of each quota that bounds how many calls of its user run at once.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::runtime::Handle;

use super::super::used_up::UsedUp;
use toolwire_state::Store;

/// Permits, each by the number of its reservation in the state and the name under which it is counted. The call and its
/// work share them: they are free once both have ended.
#[derive(Debug)]
pub struct Permits {
    store: Arc<Store>,
    used_up: UsedUp,
    held: Mutex<Vec<(i64, String)>>,
}

impl Permits {
    pub(in crate::pipeline) fn new(store: Arc<Store>, used_up: UsedUp, held: Vec<(i64, String)>) -> Self {
        Self { store, used_up, held: Mutex::new(held) }
    }

    /// Frees them, and waits until they are free.
    pub(in crate::pipeline) async fn free(&self) {
        free(&self.store, &self.used_up, self.take()).await;
    }

    fn take(&self) -> Vec<(i64, String)> {
        mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Permits {
    fn drop(&mut self) {
        let (held, Ok(runtime)) = (self.take(), Handle::try_current()) else { return };
        if !held.is_empty() {
            let (store, used_up) = (Arc::clone(&self.store), self.used_up.clone());
            runtime.spawn(async move { free(&store, &used_up, held).await });
        }
    }
}

async fn free(store: &Store, used_up: &UsedUp, held: Vec<(i64, String)>) {
    for (number, name) in held {
        // If this fails, the permit is free once the call must have ended.
        let _ = store.cancel_reservation(number).await;
        used_up.forget(&name);
    }
}
