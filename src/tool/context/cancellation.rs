//! Cancellation with its cause, passed on to nested work.

use std::{
    pin::pin,
    sync::{Arc, OnceLock},
};

use futures_util::future::{BoxFuture, select};
use tokio::sync::Notify;

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
    /// Set once it is cancelled itself, and not by its parent.
    cause: OnceLock<StopCause>,
    cancelled: Notify,
    parent: Option<Cancellation>,
}

impl Cancellation {
    /// A cancellation that has not been requested.
    pub fn new() -> Self {
        Self::default()
    }

    /// A child, which is cancelled with its parent and can be cancelled without it.
    pub fn child(&self) -> Self {
        Self(Arc::new(Inner { parent: Some(self.clone()), ..Inner::default() }))
    }

    /// Cancels. Only the first cause is kept.
    pub fn cancel(&self, cause: StopCause) {
        // The cause first: a task that is woken finds it.
        if self.0.cause.set(cause).is_ok() {
            self.0.cancelled.notify_waiters();
        }
    }

    /// Whether it is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cause().is_some()
    }

    /// Completes once it is cancelled.
    ///
    /// Boxed, since few calls wait, and one that does waits for its parents too.
    pub fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let mut own = pin!(self.0.cancelled.notified());
            // Before the check, so that one that comes after it is noticed.
            own.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            match &self.0.parent {
                Some(parent) => drop(select(own, parent.cancelled()).await),
                None => own.await,
            }
        })
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

    #[tokio::test]
    async fn those_who_wait_for_a_child_hear_of_each_of_its_parents() {
        let parent = Cancellation::new();
        let child = parent.child().child();
        let waiting = tokio::spawn({
            let child = child.clone();
            async move { child.cancelled().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        parent.cancel(StopCause::CallerGone);
        waiting.await.unwrap();
        child.cancelled().await;
        let sibling = Cancellation::new().child();
        sibling.cancel(StopCause::Timeout);
        sibling.cancelled().await;
    }

    #[test]
    fn a_parent_outlives_its_child() {
        let parent = Cancellation::new();
        parent.child().cancel(StopCause::Timeout);
        assert!(!parent.is_cancelled());
        assert_eq!(parent.cause(), None);
    }
}
