//! Calls that wait for a slot of one provider, in order of arrival.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use super::Lease;
use crate::bounds::MAX_WAITING_OF_USER;
use toolwire_tool::context::UserId;

#[derive(Debug, Default)]
pub(super) struct Waiters(VecDeque<Waiter>);

#[derive(Debug)]
struct Waiter {
    user: UserId,
    slot: oneshot::Sender<Lease>,
}

/// A call in the queue; it leaves the queue when it is dropped.
#[derive(Debug)]
pub(crate) struct Waiting(oneshot::Receiver<Lease>);

impl Waiters {
    /// Adds a call. `None` if too many of the user wait.
    pub(super) fn push(&mut self, user: &UserId) -> Option<Waiting> {
        // Those that gave up are found here, so that the queue is bounded by calls that exist.
        self.0.retain(|waiter| !waiter.slot.is_closed());
        if self.0.iter().filter(|waiter| waiter.user == *user).count() >= MAX_WAITING_OF_USER {
            return None;
        }
        let (slot, receiver) = oneshot::channel();
        self.0.push_back(Waiter { user: user.clone(), slot });
        Some(Waiting(receiver))
    }

    /// The first call that still waits.
    pub(super) fn pop(&mut self) -> Option<oneshot::Sender<Lease>> {
        loop {
            let waiter = self.0.pop_front()?;
            if !waiter.slot.is_closed() {
                return Some(waiter.slot);
            }
        }
    }
}

impl Waiting {
    /// Waits for the turn. `None` if the provider is gone.
    pub(crate) async fn slot(self) -> Option<Lease> {
        self.0.await.ok()
    }
}
