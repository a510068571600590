//! The slots of one provider: which take calls, which of these are idle, and the calls that hold or wait for one.

use std::collections::HashMap;

use super::{Command, Handle, waiter::Waiter};
use crate::wire;
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
    /// The digests of the definitions of tools, by catalogue and name.
    pub(super) tools: HashMap<CatalogueId, HashMap<String, String>>,
    /// What slots of other catalogues are sent.
    pub(super) leave: wire::Leave,
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

    /// Whether no other catalogue has replaced this one.
    pub(super) fn is_current(&self, catalogue: &CatalogueId) -> bool {
        self.current.is_empty() || self.current.contains(catalogue)
    }

    pub(super) fn has_slots(&self, catalogue: &CatalogueId) -> bool {
        self.slots.values().any(|slot| slot.catalogue == *catalogue)
    }

    /// The slots that take calls of what is in service.
    pub(super) fn in_service(&self) -> impl Iterator<Item = &Handle> {
        self.slots.values().filter(|slot| self.is_current(&slot.catalogue))
    }

    /// Removes a slot that takes no more calls.
    pub(super) fn forget(&mut self, handle: &Handle) {
        self.slots.remove(&handle.id);
        self.remove_idle(handle);
        self.end_hold(handle);
        self.end_vain_waits();
    }

    /// Removes a slot, and asks it to leave.
    pub(super) fn dismiss(&mut self, handle: &Handle, leave: wire::Leave) {
        self.forget(handle);
        let _ = handle.commands.send(Command::Leave(leave));
    }

    /// Ends the waits for slots of a catalogue that has none left and gets no more.
    pub(super) fn end_vain_waits(&mut self) {
        let Self { slots, calls, current, .. } = self;
        let comes = |of: &CatalogueId| current.is_empty() || current.contains(of);
        calls.retain(|it| comes(&it.catalogue) || slots.values().any(|slot| slot.catalogue == it.catalogue));
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
