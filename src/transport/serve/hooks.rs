//! Callbacks to the rest of the process during the drain.

use std::fmt;

use futures_util::future::{BoxFuture, ready};

pub(super) type OnDraining = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;
pub(super) type OnForced = Box<dyn FnOnce() + Send>;

/// Called by `serve`, each at most once. The default does nothing.
pub struct Hooks {
    pub(super) on_draining: OnDraining,
    pub(super) on_forced: OnForced,
}

impl Hooks {
    /// Runs at shutdown, before anything else: to report `NOT_SERVING`. Dropped after the lame-duck time.
    pub fn on_draining<F>(mut self, hook: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.on_draining = Box::new(|| Box::pin(hook()));
        self
    }

    /// Runs at the forced end, just before the remaining streams are cut: to record which outcomes become unknown. Must
    /// not block.
    pub fn on_forced(mut self, hook: impl FnOnce() + Send + 'static) -> Self {
        self.on_forced = Box::new(hook);
        self
    }
}

impl Default for Hooks {
    fn default() -> Self {
        Self { on_draining: Box::new(|| Box::pin(ready(()))), on_forced: Box::new(|| ()) }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hooks").finish_non_exhaustive()
    }
}
