//! A call that waits for a slot of one provider.

use tokio::sync::oneshot;

use super::{Lease, Pool};
use toolwire_base::fair_queue::Ticket;
use toolwire_providers::ids::{CatalogueId, ProviderName};
use toolwire_tool::context::UserId;

/// The call, as the queue has it.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) catalogue: CatalogueId,
    pub(super) slot: oneshot::Sender<Lease>,
}

/// A call in the queue; it leaves the queue when it is dropped.
#[derive(Debug)]
pub(crate) struct QueuedCall {
    pool: Pool,
    provider: ProviderName,
    user: UserId,
    ticket: Ticket,
    slot: oneshot::Receiver<Lease>,
}

impl Waiter {
    pub(super) fn new(catalogue: &CatalogueId) -> (Self, oneshot::Receiver<Lease>) {
        let (slot, receiver) = oneshot::channel();
        (Self { catalogue: catalogue.clone(), slot }, receiver)
    }
}

impl QueuedCall {
    pub(super) fn new(
        pool: Pool,
        (provider, user): (&ProviderName, &UserId),
        ticket: Ticket,
        slot: oneshot::Receiver<Lease>,
    ) -> Self {
        Self { pool, provider: provider.clone(), user: user.clone(), ticket, slot }
    }

    /// Waits for the turn. `None` once another catalogue has replaced that of the call.
    pub(crate) async fn slot(mut self) -> Option<Lease> {
        (&mut self.slot).await.ok()
    }

    #[cfg(test)]
    pub(super) fn try_slot(&mut self) -> Option<Lease> {
        self.slot.try_recv().ok()
    }
}

impl Drop for QueuedCall {
    fn drop(&mut self) {
        self.pool.cancel(&self.provider, &self.user, self.ticket);
    }
}
