//! Every slot of every provider: what is idle, what waits for it, and the bounds on both.
//!
//! A call takes the slot of the instance with the most idle ones, ties at random, so that load spreads by free
//! capacity. Without an idle slot calls wait, first come first served. Not here: what goes over a slot (`work`,
//! `call`).

mod lease;
mod waiters;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

pub(crate) use self::{lease::Lease, waiters::Waiting};
use crate::{
    bounds::{MAX_SLOTS, MAX_SLOTS_OF_PROVIDER},
    end::End,
    ids::{InstanceId, ProviderName},
    start::Start,
    wire,
};
use toolwire_tool::context::{CallId, UserId};
use waiters::Waiters;

/// What the stream of a slot is asked to do.
#[derive(Debug)]
pub(crate) enum Command {
    Start(Box<Start>),
    Cancel(CallId, wire::CancelReason),
    Leave(wire::Leave),
}

/// A slot, as the pool knows it.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) id: u64,
    pub(crate) provider: ProviderName,
    pub(crate) instance: InstanceId,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
}

/// Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct Pool(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    providers: HashMap<ProviderName, Provider>,
    /// Streams of all providers.
    streams: usize,
    next: u64,
}

#[derive(Debug, Default)]
struct Provider {
    streams: usize,
    /// Those that take calls, by number.
    slots: HashMap<u64, Entry>,
    idle: HashMap<InstanceId, Vec<Handle>>,
    waiters: Waiters,
}

#[derive(Debug)]
struct Entry {
    handle: Handle,
    catalogue: String,
}

/// A stream that counts against the bounds, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    pool: Pool,
    provider: ProviderName,
}

/// What a call gets.
#[derive(Debug)]
pub(crate) enum Acquired {
    Slot(Lease),
    Waits(Waiting),
    /// Too many calls of the user wait already.
    Full,
}

impl Pool {
    /// Counts a new stream of a provider.
    pub(crate) fn admit(&self, provider: &ProviderName) -> Result<StreamPermit, End> {
        let mut state = self.lock();
        let all = state.streams;
        let of_provider = state.providers.entry(provider.clone()).or_default();
        if all >= MAX_SLOTS || of_provider.streams >= MAX_SLOTS_OF_PROVIDER {
            return Err(End::TooManySlots);
        }
        of_provider.streams += 1;
        state.streams += 1;
        Ok(StreamPermit { pool: self.clone(), provider: provider.clone() })
    }

    /// Adds a slot that takes calls of a catalogue. It is idle.
    pub(crate) fn join(
        &self,
        provider: &ProviderName,
        instance: &InstanceId,
        catalogue: &str,
        commands: mpsc::UnboundedSender<Command>,
    ) -> Handle {
        let handle = {
            let mut state = self.lock();
            state.next += 1;
            let handle =
                Handle { id: state.next, provider: provider.clone(), instance: instance.clone(), commands };
            let entry = Entry { handle: handle.clone(), catalogue: catalogue.to_owned() };
            state.providers.entry(provider.clone()).or_default().slots.insert(handle.id, entry);
            handle
        };
        self.release(&handle);
        handle
    }

    /// A slot is idle again: the next call that waits gets it.
    pub(crate) fn release(&self, handle: &Handle) {
        loop {
            let waiter = {
                let mut state = self.lock();
                let Some(provider) = state.providers.get_mut(&handle.provider) else { return };
                if !provider.slots.contains_key(&handle.id) {
                    return;
                }
                let Some(waiter) = provider.waiters.pop() else {
                    provider.idle.entry(handle.instance.clone()).or_default().push(handle.clone());
                    return;
                };
                waiter
            };
            // Outside the lock: what cannot be handed over is dropped, and would come back here.
            match waiter.send(Lease::new(self.clone(), handle.clone())) {
                Ok(()) => return,
                Err(lease) => lease.forget(),
            }
        }
    }

    /// A slot takes no more calls. Returns how many others its provider has.
    pub(crate) fn remove(&self, handle: &Handle) -> usize {
        let mut state = self.lock();
        let Some(provider) = state.providers.get_mut(&handle.provider) else { return 0 };
        provider.slots.remove(&handle.id);
        provider.take_idle(handle);
        provider.slots.len()
    }

    /// A slot for a call of a user.
    pub(crate) fn acquire(&self, provider: &ProviderName, user: &UserId) -> Acquired {
        let mut state = self.lock();
        let of_provider = state.providers.entry(provider.clone()).or_default();
        if let Some(handle) = of_provider.choose() {
            return Acquired::Slot(Lease::new(self.clone(), handle));
        }
        of_provider.waiters.push(user).map_or(Acquired::Full, Acquired::Waits)
    }

    /// Asks the slots of all other catalogues of a provider to leave.
    pub(crate) fn supersede(&self, provider: &ProviderName, catalogue: &str, command: &wire::Leave) {
        let mut state = self.lock();
        let Some(of_provider) = state.providers.get_mut(provider) else { return };
        let old = of_provider.slots.values().filter(|it| it.catalogue != catalogue);
        let old: Vec<_> = old.map(|it| it.handle.clone()).collect();
        for handle in old {
            of_provider.take_idle(&handle);
            of_provider.slots.remove(&handle.id);
            let _ = handle.commands.send(Command::Leave(command.clone()));
        }
    }

    /// How many slots of a provider take calls, and how many of them are idle.
    pub(crate) fn count(&self, provider: &str) -> (usize, usize) {
        let state = self.lock();
        state
            .providers
            .get(provider)
            .map_or((0, 0), |it| (it.slots.len(), it.idle.values().map(Vec::len).sum()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Provider {
    /// An idle slot of the instance with the most of them.
    fn choose(&mut self) -> Option<Handle> {
        let most = self.idle.values().map(Vec::len).max()?;
        let best = self.idle.iter().filter(|(_, slots)| slots.len() == most);
        let best: Vec<_> = best.map(|(instance, _)| instance.clone()).collect();
        let instance = &best[fastrand::usize(..best.len())];
        let slots = self.idle.get_mut(instance)?;
        let handle = slots.pop();
        if slots.is_empty() {
            self.idle.remove(instance);
        }
        handle
    }

    fn take_idle(&mut self, handle: &Handle) {
        if let Some(slots) = self.idle.get_mut(&handle.instance) {
            slots.retain(|it| it.id != handle.id);
            if slots.is_empty() {
                self.idle.remove(&handle.instance);
            }
        }
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.streams -= 1;
        if let Some(provider) = state.providers.get_mut(&self.provider) {
            provider.streams -= 1;
        }
    }
}

/// `Leave` that says nothing of when to come back.
pub(crate) fn leave(reason: &str) -> wire::Leave {
    wire::Leave { reason: reason.to_owned(), retry_after: None }
}

#[cfg(test)]
mod tests;
