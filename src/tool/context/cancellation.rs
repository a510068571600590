//! Cancellation with its cause, passed on to nested work.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// Why work stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StopCause {
    /// The call's deadline passed.
    Deadline,
    /// The manifest's time-out passed.
    Timeout,
    /// `CancelCall`.
    Cancelled,
    /// The connection was lost or the stream was reset.
    CallerGone,
    /// The server was forced to end.
    Shutdown,
}

/// Signals that work should stop, and why. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    token: CancellationToken,
    cause: OnceLock<StopCause>,
    parent: Option<Cancellation>,
}

impl Cancellation {
    /// One that nothing has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that is cancelled with this one, and can be cancelled without it.
    pub fn child(&self) -> Self {
        Self(Arc::new(Inner {
            token: self.0.token.child_token(),
            cause: OnceLock::new(),
            parent: Some(self.clone()),
        }))
    }

    /// Cancels. Only the first cause is kept.
    pub fn cancel(&self, cause: StopCause) {
        // The cause before the token: a task that the token wakes finds it.
        let _ = self.0.cause.set(cause);
        self.0.token.cancel();
    }

    /// Whether it is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.token.is_cancelled()
    }

    /// Completes once it is cancelled.
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        self.0.token.cancelled()
    }

    /// Why it is cancelled, if it is.
    pub fn cause(&self) -> Option<StopCause> {
        let own = self.0.cause.get().copied();
        own.or_else(|| self.0.parent.as_ref().and_then(Self::cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_stops_with_its_parent_and_knows_why() {
        let parent = Cancellation::new();
        let child = parent.child();
        parent.cancel(StopCause::Deadline);
        parent.cancel(StopCause::Shutdown);
        assert!(child.is_cancelled());
        assert_eq!(child.cause(), Some(StopCause::Deadline));
    }

    #[test]
    fn a_parent_outlives_its_child() {
        let parent = Cancellation::new();
        parent.child().cancel(StopCause::Timeout);
        assert!(!parent.is_cancelled());
        assert_eq!(parent.cause(), None);
    }
}
