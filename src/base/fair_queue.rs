//! A queue for a scarce resource that keys share, such as the slots of a host among users. A freed unit goes to the key
//! that holds least, among equals to the one that was served longest ago. Within a key it is first come, first served.
//!
//! Only a data structure. Not here: how much there is, and how its callers wait (`fair_semaphore`).

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    hash::Hash,
};

/// Waiters `W` of keys `K`, and how much each key holds.
#[derive(Debug)]
pub struct FairQueue<K, W> {
    /// The keys that hold something or wait.
    shares: HashMap<K, Share<W>>,
    /// The keys that wait, in the order in which they are served.
    order: BTreeMap<Rank, K>,
    /// The next number of a ticket or of a rank.
    next: u64,
}

/// Names a waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// What a key holds, and a number that grows each time it is served.
type Rank = (usize, u64);

#[derive(Debug)]
struct Share<W> {
    held: usize,
    /// When it was last served, or began to wait.
    served: u64,
    /// In order of arrival.
    waiting: VecDeque<(Ticket, W)>,
}

impl<K, W> Default for FairQueue<K, W> {
    fn default() -> Self {
        Self { shares: HashMap::new(), order: BTreeMap::new(), next: 0 }
    }
}

impl<K: Clone + Eq + Hash, W> FairQueue<K, W> {
    /// Counts one more as held by a key that need not wait for it.
    pub fn hold(&mut self, key: &K) {
        self.change(key, |share, _| share.held += 1);
    }

    /// Counts one less as held by a key. Of those that hold as much, it is served last from now on.
    pub fn release(&mut self, key: &K) {
        self.change(key, |share, now| {
            share.held = share.held.saturating_sub(1);
            share.served = now;
        });
    }

    /// Adds a waiter behind those of its key.
    pub fn push(&mut self, key: &K, waiter: W) -> Ticket {
        self.change(key, |share, now| {
            if share.waiting.is_empty() {
                share.served = now;
            }
            share.waiting.push_back((Ticket(now), waiter));
            Ticket(now)
        })
    }

    /// Removes a waiter that has not been served.
    pub fn cancel(&mut self, key: &K, ticket: Ticket) -> Option<W> {
        self.shares.get(key)?;
        self.change(key, |share, _| {
            let place = share.waiting.binary_search_by_key(&ticket, |(ticket, _)| *ticket).ok()?;
            share.waiting.remove(place).map(|(_, waiter)| waiter)
        })
    }

    /// Takes the next waiter that fits, of a key that holds less than its limit, and counts one more as held by it.
    pub fn pop(&mut self, limit: impl Fn(&K) -> usize, fits: impl Fn(&W) -> bool) -> Option<(K, W)> {
        let (key, place) = self.order.iter().find_map(|((held, _), key)| {
            let share = self.shares.get(key).filter(|_| *held < limit(key))?;
            let place = share.waiting.iter().position(|(_, waiter)| fits(waiter))?;
            Some((key.clone(), place))
        })?;
        let waiter = self.change(&key, |share, now| {
            share.held += 1;
            share.served = now;
            share.waiting.remove(place).map(|(_, waiter)| waiter)
        })?;
        Some((key, waiter))
    }

    /// Removes the waiters for which `keep` is false.
    pub fn retain(&mut self, keep: impl Fn(&W) -> bool) {
        let keys: Vec<_> = self.order.values().cloned().collect();
        for key in keys {
            self.change(&key, |share, _| share.waiting.retain(|(_, waiter)| keep(waiter)));
        }
    }

    /// How much a key holds.
    pub fn held(&self, key: &K) -> usize {
        self.shares.get(key).map_or(0, |share| share.held)
    }

    /// How many waiters a key has.
    pub fn waiting(&self, key: &K) -> usize {
        self.shares.get(key).map_or(0, |share| share.waiting.len())
    }

    /// Whether no key holds anything or waits: nothing is remembered.
    pub fn is_unused(&self) -> bool {
        self.shares.is_empty()
    }

    /// Changes the share of a key, and its place in the order with it. `change` gets a number above all before.
    fn change<T>(&mut self, key: &K, change: impl FnOnce(&mut Share<W>, u64) -> T) -> T {
        let now = self.next;
        self.next += 1;
        if !self.shares.contains_key(key) {
            self.shares.insert(key.clone(), Share { held: 0, served: now, waiting: VecDeque::new() });
        }
        let share = self.shares.get_mut(key).expect("it was there, or was inserted just now");
        let before = (share.held, share.served);
        let was_waiting = !share.waiting.is_empty();
        let changed = change(share, now);
        let (after, is_waiting) = ((share.held, share.served), !share.waiting.is_empty());
        if was_waiting && (!is_waiting || after != before) {
            self.order.remove(&before);
        }
        if is_waiting && (!was_waiting || after != before) {
            self.order.insert(after, key.clone());
        }
        if !is_waiting && after.0 == 0 {
            self.shares.remove(key);
        }
        changed
    }
}

#[cfg(test)]
mod tests;
