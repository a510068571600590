//! Whether the state can be used: what failed last, until a write succeeds. A disk that was full may have room again.
//!
//! Not here: who is told, and how often it is tried.

use tokio::sync::watch;

use crate::StoreError;

/// Writes more than a page, so that there is room for the row of a call where there is room for this.
pub(crate) const PROBE: &str = "INSERT OR REPLACE INTO probe (only, filler) VALUES (0, zeroblob(16384))";

/// What failed last, while it is not known to work again.
#[derive(Debug)]
pub(crate) struct LastError(watch::Sender<Option<StoreError>>);

impl Default for LastError {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl LastError {
    pub(crate) fn begin(&self, error: StoreError) -> StoreError {
        self.0.send_replace(Some(error.clone()));
        error
    }

    pub(crate) fn end(&self) {
        self.0.send_replace(None);
    }

    /// Whoever wants to know.
    pub(crate) fn watch(&self) -> watch::Receiver<Option<StoreError>> {
        self.0.subscribe()
    }
}
