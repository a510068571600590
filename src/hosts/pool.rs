//! Every slot of every provider: what is idle, what waits for it, and the bounds on both.
//!
//! A call takes the slot of the instance with the most idle ones, ties at random, so that load spreads by free
//! capacity. Without an idle slot calls wait, and a slot that becomes free goes to the user who holds the fewest
//! (`toolwire_base::fair_queue`): a user alone may have all of them. A call takes only slots of the catalogue that its
//! tool is of: another one may give the same name another meaning. Not here: what goes over a slot (`work`, `call`).

mod lease;
mod permit;
mod provider_slots;
mod waiter;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

pub(crate) use self::{lease::Lease, permit::StreamPermit, waiter::QueuedCall};
use self::{provider_slots::ProviderSlots, waiter::Waiter};
use crate::{bounds::MAX_WAITING_OF_USER, start::Start, wire};
use toolwire_base::fair_queue::Ticket;
use toolwire_providers::ids::{CatalogueId, InstanceId, ProviderName};
use toolwire_tool::context::{CallId, UserId};

/// What the stream of a slot is asked to do.
#[derive(Debug)]
pub(crate) enum Command {
    Start(Box<Start>),
    Cancel(CallId, wire::CancelReason),
    Leave(wire::Leave),
    /// The late outcome of a call is recorded: its host may forget it.
    LateTaken(CallId),
}

/// A slot, as the pool knows it.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) id: u64,
    pub(crate) provider: ProviderName,
    pub(crate) instance: InstanceId,
    /// The library of the host.
    pub(crate) sdk: Arc<str>,
    pub(crate) catalogue: CatalogueId,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
}

/// Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    providers: HashMap<ProviderName, ProviderSlots>,
    /// Streams of all providers.
    streams: usize,
    max_streams: usize,
    next_id: u64,
}

/// The result of [`Pool::acquire`].
#[derive(Debug)]
pub(crate) enum Acquired {
    Slot(Lease),
    Waits(QueuedCall),
    /// Another catalogue has replaced that of the call.
    Superseded,
    /// Too many calls of the user wait already.
    Full,
}

impl Pool {
    /// `max_streams` bounds the streams of all providers.
    pub(crate) fn new(max_streams: usize) -> Self {
        Self(Arc::new(Mutex::new(State { max_streams, ..State::default() })))
    }

    /// Adds a slot that takes calls of a catalogue. It is idle.
    pub(crate) fn join(
        &self,
        provider: &ProviderName,
        (instance, sdk): (&InstanceId, &str),
        catalogue: &CatalogueId,
        commands: mpsc::UnboundedSender<Command>,
    ) -> Handle {
        let (provider, instance, catalogue) = (provider.clone(), instance.clone(), catalogue.clone());
        let handle = {
            let mut state = self.lock();
            state.next_id += 1;
            let handle =
                Handle { id: state.next_id, provider, instance, sdk: sdk.into(), catalogue, commands };
            let of_provider = state.providers.entry(handle.provider.clone()).or_default();
            of_provider.slots.insert(handle.id, handle.clone());
            handle
        };
        self.release(&handle);
        handle
    }

    /// Hands a slot that has become idle to the next waiting call of its catalogue, or keeps it as idle. One of a
    /// catalogue that another has replaced is asked to leave.
    pub(crate) fn release(&self, handle: &Handle) {
        loop {
            let waiter = {
                let mut state = self.lock();
                let Some(provider) = state.providers.get_mut(&handle.provider) else { return };
                provider.end_hold(handle);
                if !provider.slots.contains_key(&handle.id) {
                    return;
                }
                let is_of_slot = |waiter: &Waiter| waiter.catalogue == handle.catalogue;
                let Some((user, waiter)) = provider.calls.pop(|_| usize::MAX, is_of_slot) else {
                    if !provider.is_current(&handle.catalogue) {
                        provider.dismiss(handle, provider.leave.clone());
                        return;
                    }
                    provider.idle.entry(handle.idle_key()).or_default().push(handle.clone());
                    return;
                };
                provider.holders.insert(handle.id, user);
                waiter
            };
            // Outside the lock: a lease that is dropped undelivered releases its slot, which takes the lock again.
            match waiter.slot.send(Lease::new(self.clone(), handle.clone())) {
                Ok(()) => return,
                Err(lease) => lease.forget(),
            }
        }
    }

    /// Removes a slot that takes no more calls. Returns the number of slots that its provider has left.
    pub(crate) fn remove(&self, handle: &Handle) -> usize {
        let mut state = self.lock();
        let Some(provider) = state.providers.get_mut(&handle.provider) else { return 0 };
        provider.forget(handle);
        provider.in_service().count()
    }

    /// Acquires a slot for a user's call of a tool of this catalogue, or queues the call.
    pub(crate) fn acquire(
        &self,
        provider: &ProviderName,
        catalogue: &CatalogueId,
        user: &UserId,
    ) -> Acquired {
        let mut state = self.lock();
        let of_provider = state.providers.entry(provider.clone()).or_default();
        if let Some(handle) = of_provider.take_idle(catalogue, user) {
            return Acquired::Slot(Lease::new(self.clone(), handle));
        }
        if !of_provider.is_current(catalogue) && !of_provider.has_slots(catalogue) {
            return Acquired::Superseded;
        }
        if of_provider.calls.waiting(user) >= MAX_WAITING_OF_USER {
            return Acquired::Full;
        }
        let (waiter, slot) = Waiter::new(catalogue);
        let ticket = of_provider.calls.push(user, waiter);
        Acquired::Waits(QueuedCall::new(self.clone(), (provider, user), ticket, slot))
    }

    /// A call waits no more. Nothing, if it has its slot.
    fn cancel(&self, provider: &ProviderName, user: &UserId, ticket: Ticket) {
        if let Some(provider) = self.lock().providers.get_mut(provider) {
            provider.calls.cancel(user, ticket);
        }
    }

    /// Lets calls of this catalogue wait for slots, beside those of the one in service.
    pub(crate) fn announce(&self, provider: &ProviderName, catalogue: &CatalogueId) {
        let mut state = self.lock();
        state.providers.entry(provider.clone()).or_default().current.push(catalogue.clone());
    }

    /// Reverts `announce`, for a catalogue that was refused.
    pub(crate) fn retract(&self, provider: &ProviderName, catalogue: &CatalogueId) {
        let mut state = self.lock();
        let of_provider = state.providers.entry(provider.clone()).or_default();
        of_provider.current.pop_if(|last| *last == *catalogue);
        if !of_provider.current.contains(catalogue) {
            of_provider.tools.remove(catalogue);
        }
    }

    /// Puts this catalogue alone into service. Idle slots of others are asked to leave, and those with a call once no
    /// call of their catalogue waits any more.
    pub(crate) fn supersede(&self, provider: &ProviderName, catalogue: &CatalogueId, command: &wire::Leave) {
        let mut state = self.lock();
        let of_provider = state.providers.entry(provider.clone()).or_default();
        of_provider.current = vec![catalogue.clone()];
        of_provider.leave = command.clone();
        of_provider.tools.retain(|known, _| known == catalogue);
        let idle = of_provider.idle.iter().filter(|((of, _), _)| of != catalogue);
        let idle: Vec<_> = idle.flat_map(|(_, slots)| slots).cloned().collect();
        for handle in idle {
            of_provider.dismiss(&handle, command.clone());
        }
        of_provider.end_vain_waits();
    }

    /// Remembers by which definition a catalogue has a tool.
    pub fn define(&self, provider: &ProviderName, catalogue: &CatalogueId, tool: &str, digest: &str) {
        let mut state = self.lock();
        let of_provider = state.providers.entry(provider.clone()).or_default();
        let tools = of_provider.tools.entry(catalogue.clone()).or_default();
        tools.insert(tool.to_owned(), digest.to_owned());
    }

    /// The catalogue in service, if it has the tool by the same definition.
    pub(crate) fn find_equal(
        &self,
        provider: &ProviderName,
        (tool, digest): (&str, &str),
    ) -> Option<CatalogueId> {
        let state = self.lock();
        let of_provider = state.providers.get(provider)?;
        let current = of_provider.current.last()?;
        let is_equal = of_provider.tools.get(current)?.get(tool).is_some_and(|it| it == digest);
        is_equal.then(|| current.clone())
    }

    /// The number of slots of a provider that take calls of what is in service, and how many of them are idle.
    pub(crate) fn count(&self, provider: &str) -> (usize, usize) {
        let state = self.lock();
        let Some(of_provider) = state.providers.get(provider) else { return (0, 0) };
        let idle = of_provider.idle.iter().filter(|((of, _), _)| of_provider.is_current(of));
        (of_provider.in_service().count(), idle.map(|(_, slots)| slots.len()).sum())
    }

    /// The hosts of a provider that have slots, and how many of these are idle.
    pub(crate) fn hosts(&self, provider: &str) -> Vec<(Handle, usize, usize)> {
        let state = self.lock();
        let Some(of_provider) = state.providers.get(provider) else { return Vec::new() };
        let mut hosts: BTreeMap<_, (Handle, usize)> = BTreeMap::new();
        for handle in of_provider.slots.values() {
            hosts.entry(handle.idle_key()).or_insert_with(|| (handle.clone(), 0)).1 += 1;
        }
        let with_idle = |(key, (handle, slots))| {
            let idle = of_provider.idle.get(&key).map_or(0, Vec::len);
            (handle, slots, idle)
        };
        hosts.into_iter().map(with_idle).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A `Leave` without a time after which to reconnect.
pub(crate) fn leave(reason: &str) -> wire::Leave {
    wire::Leave { reason: reason.to_owned(), retry_after: None }
}

#[cfg(test)]
mod tests;
