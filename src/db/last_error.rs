//! Health of the state: the last error, until a write succeeds. A full disk may be freed.
//!
//! Not here: notification of operators, and the schedule of probes.

use tokio::sync::watch;

use crate::{StoreError, reachability::is_unreachable_error};

/// The last error that made the state unusable, until a probe succeeds. Cheap to clone; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct LastError(watch::Sender<Option<StoreError>>);

impl Default for LastError {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl LastError {
    pub(crate) fn set(&self, error: StoreError) -> StoreError {
        self.0.send_replace(Some(error.clone()));
        error
    }

    /// The error for operators of an error of the database, which is set unless others can use the state, or all but a
    /// row of it. `unusable` converts it.
    pub(crate) fn explain(
        &self,
        error: &sqlx::Error,
        unusable: impl FnOnce(&sqlx::Error) -> StoreError,
    ) -> StoreError {
        // Why it does not answer is known to the connection that tries to reach it.
        if is_unreachable_error(error)
            && let Some(cause) = self.0.borrow().clone()
        {
            return cause;
        }
        match unusable(error) {
            error @ (StoreError::Crowded | StoreError::Slow { .. } | StoreError::Unreadable { .. }) => error,
            error => self.set(error),
        }
    }

    /// Sets an error, and notifies only if it is another one.
    pub(crate) fn set_if_changed(&self, error: StoreError) {
        self.0.send_if_modified(|last| {
            let is_other = last.as_ref() != Some(&error);
            *last = Some(error);
            is_other
        });
    }

    pub(crate) fn clear(&self) {
        self.0.send_replace(None);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Option<StoreError>> {
        self.0.subscribe()
    }
}
