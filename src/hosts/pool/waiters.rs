//! Calls that wait for a slot of one provider, in order of arrival.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use super::Lease;
use crate::{bounds::MAX_WAITING_OF_USER, ids::CatalogueId};
use toolwire_tool::context::UserId;

#[derive(Debug, Default)]
pub(super) struct Waiters(VecDeque<Waiter>);

#[derive(Debug)]
struct Waiter {
    catalogue: CatalogueId,
    user: UserId,
    slot: oneshot::Sender<Lease>,
}

/// A call in the queue; it leaves the queue when it is dropped.
#[derive(Debug)]
pub(crate) struct Waiting(oneshot::Receiver<Lease>);

impl Waiters {
    /// Adds a call. `None` if too many of the user wait.
    pub(super) fn push(&mut self, catalogue: &CatalogueId, user: &UserId) -> Option<Waiting> {
        // Those that gave up are found here, so that the queue is bounded by calls that exist.
        self.0.retain(|waiter| !waiter.slot.is_closed());
        if self.0.iter().filter(|waiter| waiter.user == *user).count() >= MAX_WAITING_OF_USER {
            return None;
        }
        let (slot, receiver) = oneshot::channel();
        self.0.push_back(Waiter { catalogue: catalogue.clone(), user: user.clone(), slot });
        Some(Waiting(receiver))
    }

    /// The first call of the catalogue that still waits.
    pub(super) fn pop(&mut self, catalogue: &CatalogueId) -> Option<oneshot::Sender<Lease>> {
        loop {
            let place = self.0.iter().position(|waiter| waiter.catalogue == *catalogue)?;
            let waiter = self.0.remove(place)?;
            if !waiter.slot.is_closed() {
                return Some(waiter.slot);
            }
        }
    }

    /// Ends those of all other catalogues.
    pub(super) fn retain(&mut self, catalogue: &CatalogueId) {
        self.0.retain(|waiter| waiter.catalogue == *catalogue);
    }
}

impl Waiting {
    /// Waits for the turn. `None` once another catalogue has replaced that of the call.
    pub(crate) async fn slot(self) -> Option<Lease> {
        self.0.await.ok()
    }
}
