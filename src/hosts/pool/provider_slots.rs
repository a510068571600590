//! The slots of one provider: which take calls, which of these are idle, and the calls that hold or wait for one.

use std::collections::HashMap;

use super::{Handle, waiter::Waiter};
use toolwire_base::fair_queue::FairQueue;
use toolwire_providers::ids::{CatalogueId, InstanceId};
use toolwire_tool::context::UserId;

#[derive(Debug, Default)]
pub(super) struct ProviderSlots {
    pub(super) streams: usize,
    /// Those that take calls, by id.
    pub(super) slots: HashMap<u64, Handle>,
    pub(super) idle: HashMap<(CatalogueId, InstanceId), Vec<Handle>>,
    /// By id, the users whose calls hold the slots that are not idle.
    pub(super) holders: HashMap<u64, UserId>,
    pub(super) calls: FairQueue<UserId, Waiter>,
    /// The catalogue in service, and those announced. No slot will come for calls of others, so they do not wait.
    pub(super) current: Vec<CatalogueId>,
}

impl ProviderSlots {
    /// Takes an idle slot of the catalogue for a user, from the instance with the most of them.
    pub(super) fn take_idle(&mut self, catalogue: &CatalogueId, user: &UserId) -> Option<Handle> {
        let idle = || self.idle.iter().filter(|((of, _), _)| of == catalogue);
        let most = idle().map(|(_, slots)| slots.len()).max()?;
        let best = idle().filter(|(_, slots)| slots.len() == most);
        let best: Vec<_> = best.map(|(key, _)| key.clone()).collect();
        let key = &best[fastrand::usize(..best.len())];
        let slots = self.idle.get_mut(key)?;
        let handle = slots.pop()?;
        if slots.is_empty() {
            self.idle.remove(key);
        }
        self.calls.hold(user);
        self.holders.insert(handle.id, user.clone());
        Some(handle)
    }

    /// Removes a slot that takes no more calls.
    pub(super) fn forget(&mut self, handle: &Handle) {
        self.slots.remove(&handle.id);
        self.remove_idle(handle);
        self.end_hold(handle);
    }

    /// No call holds the slot any more.
    pub(super) fn end_hold(&mut self, handle: &Handle) {
        if let Some(user) = self.holders.remove(&handle.id) {
            self.calls.release(&user);
        }
    }

    /// Removes this slot from the idle ones, if it is one.
    fn remove_idle(&mut self, handle: &Handle) {
        let key = handle.idle_key();
        if let Some(slots) = self.idle.get_mut(&key) {
            slots.retain(|it| it.id != handle.id);
            if slots.is_empty() {
                self.idle.remove(&key);
            }
        }
    }
}

impl Handle {
    /// The key of `idle`: slots that share it are interchangeable.
    pub(super) fn idle_key(&self) -> (CatalogueId, InstanceId) {
        (self.catalogue.clone(), self.instance.clone())
    }
}
