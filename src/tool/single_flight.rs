//! Single flight: concurrent calls of one key share one execution and its outcome.
//!
//! The first caller gets the [`Leader`], which runs in a task of its own; all callers, the first included, hold a
//! [`Waiter`]. The work lives until its last waiter leaves and is then cancelled, unless it writes. Not here: what the
//! work is, how long callers wait for it, and what is stored of its outcome.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::watch;

use crate::context::{Cancellation, StopCause};

/// The work in flight, by its key. `T` is the outcome; `S` is what leader and waiters share until then, such as the
/// readers of its progress. Cheap to clone; clones share state.
#[derive(Debug)]
pub struct SingleFlight<K, T, S = ()>(Arc<Mutex<HashMap<K, Entry<T, S>>>>);

/// A caller that waits for the outcome. Dropping it is leaving.
#[derive(Debug)]
pub struct Waiter<T, S = ()> {
    outcome: watch::Receiver<Option<T>>,
    waiters: Arc<Waiters>,
    caller: Cancellation,
    shared: S,
}

/// Held by the task that does the work. Dropped without an outcome, it leaves its waiters without one.
#[derive(Debug)]
pub struct Leader<K: Eq + Hash, T, S = ()> {
    key: K,
    group: SingleFlight<K, T, S>,
    outcome: watch::Sender<Option<T>>,
}

/// What happens to the work when its last waiter leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnattendedPolicy {
    /// It goes on and can be joined again: it writes, and a write is not cut in half.
    Continue,
    /// It is cancelled and can no longer be joined: what it reads is of no use any more.
    Cancel,
}

#[derive(Debug)]
struct Entry<T, S> {
    outcome: watch::Receiver<Option<T>>,
    /// Weak, since the entry itself does not count as a waiter.
    waiters: Weak<Waiters>,
    cancellation: Cancellation,
    unattended_policy: UnattendedPolicy,
    shared: S,
}

/// Shared by all waiters; dropped with the last of them.
#[derive(Debug)]
struct Waiters {
    cancellation: Cancellation,
    unattended_policy: UnattendedPolicy,
    /// Why the waiter that left last did so.
    last_cause: Mutex<Option<StopCause>>,
}

impl<K, T, S> Default for SingleFlight<K, T, S> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K, T, S> Clone for SingleFlight<K, T, S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Clone + Eq + Hash, T, S: Clone + Default> SingleFlight<K, T, S> {
    /// Begins work that the given cancellation stops. It replaces any other work of the key, which goes on by itself.
    pub fn lead(
        &self,
        key: K,
        cancellation: Cancellation,
        unattended_policy: UnattendedPolicy,
        caller: &Cancellation,
    ) -> (Leader<K, T, S>, Waiter<T, S>) {
        self.lead_in(&mut self.lock(), key, cancellation, unattended_policy, caller)
    }

    /// Waits for the work of the key, if it is under way.
    pub fn join(&self, key: &K, caller: &Cancellation) -> Option<Waiter<T, S>> {
        self.lock().get_mut(key)?.join(caller)
    }

    /// Waits for the work of the key, or else begins it. Under one lock, so that two callers never both lead.
    #[allow(clippy::type_complexity, reason = "a leader for the first caller, a waiter for each")]
    pub fn join_or_lead(
        &self,
        key: K,
        unattended_policy: UnattendedPolicy,
        caller: &Cancellation,
    ) -> (Option<Leader<K, T, S>>, Waiter<T, S>) {
        let mut entries = self.lock();
        if let Some(waiter) = entries.get_mut(&key).and_then(|entry| entry.join(caller)) {
            return (None, waiter);
        }
        let cancellation = Cancellation::new();
        let (leader, waiter) = self.lead_in(&mut entries, key, cancellation, unattended_policy, caller);
        (Some(leader), waiter)
    }

    fn lead_in(
        &self,
        entries: &mut HashMap<K, Entry<T, S>>,
        key: K,
        cancellation: Cancellation,
        unattended_policy: UnattendedPolicy,
        caller: &Cancellation,
    ) -> (Leader<K, T, S>, Waiter<T, S>) {
        let (sender, outcome) = watch::channel(None);
        let waiters = Waiters::of(&cancellation, unattended_policy);
        let waiter = Waiter { outcome, waiters, caller: caller.clone(), shared: S::default() };
        let entry = Entry {
            outcome: waiter.outcome.clone(),
            waiters: Arc::downgrade(&waiter.waiters),
            cancellation,
            unattended_policy,
            shared: waiter.shared.clone(),
        };
        entries.insert(key.clone(), entry);
        (Leader { key, group: self.clone(), outcome: sender }, waiter)
    }
}

impl<K, T, S> SingleFlight<K, T, S> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Entry<T, S>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T, S: Clone> Entry<T, S> {
    fn join(&mut self, caller: &Cancellation) -> Option<Waiter<T, S>> {
        let waiters = match (self.waiters.upgrade(), self.unattended_policy) {
            (Some(waiters), _) => waiters,
            // A write that all its waiters left goes on: its first new waiter begins another group.
            (None, UnattendedPolicy::Continue) => Waiters::of(&self.cancellation, UnattendedPolicy::Continue),
            // Its cancellation is under way, though its leader has not removed the entry yet.
            (None, UnattendedPolicy::Cancel) => return None,
        };
        self.waiters = Arc::downgrade(&waiters);
        let (outcome, shared) = (self.outcome.clone(), self.shared.clone());
        Some(Waiter { outcome, waiters, caller: caller.clone(), shared })
    }
}

impl<T: Clone, S> Waiter<T, S> {
    /// Waits for the outcome. `None` if the leader is gone without one, as after a panic.
    pub async fn outcome(&mut self) -> Option<T> {
        self.outcome.wait_for(Option::is_some).await.ok()?.clone()
    }
}

impl<T, S> Waiter<T, S> {
    /// Stops the work for all of its waiters.
    pub fn cancellation(&self) -> &Cancellation {
        &self.waiters.cancellation
    }

    /// What leader and waiters share.
    pub fn shared(&self) -> &S {
        &self.shared
    }
}

impl<K: Eq + Hash, T, S> Leader<K, T, S> {
    /// Whether new callers still join this work: once it has lost all its waiters, it may have been started a second
    /// time.
    pub fn is_current(&self) -> bool {
        self.group.lock().get(&self.key).is_some_and(|entry| self.is_of(entry))
    }

    /// Gives the outcome to all waiters, those that join before [`finish`](Self::finish) or `drop` included.
    pub fn publish(&self, outcome: T) {
        self.outcome.send_replace(Some(outcome));
    }

    /// Gives the outcome to all waiters, and ends the work.
    pub fn finish(self, outcome: T) {
        // Before `drop` removes the entry: a caller that joins in between finds the outcome, and a later one becomes
        // the leader of new work.
        self.publish(outcome);
    }

    fn is_of(&self, entry: &Entry<T, S>) -> bool {
        self.outcome.subscribe().same_channel(&entry.outcome)
    }
}

impl Waiters {
    fn of(cancellation: &Cancellation, unattended_policy: UnattendedPolicy) -> Arc<Self> {
        Arc::new(Self { cancellation: cancellation.clone(), unattended_policy, last_cause: Mutex::default() })
    }
}

impl<T, S> Drop for Waiter<T, S> {
    fn drop(&mut self) {
        // Fields are dropped after this: if it is the last waiter, `Waiters::drop` finds the cause written here.
        *self.waiters.last_cause.lock().unwrap_or_else(PoisonError::into_inner) = self.caller.cause();
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        let cause = *self.last_cause.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.unattended_policy == UnattendedPolicy::Cancel {
            self.cancellation.cancel(cause.unwrap_or(StopCause::CallerGone));
        }
    }
}

impl<K: Eq + Hash, T, S> Drop for Leader<K, T, S> {
    fn drop(&mut self) {
        // Before the sender is dropped, so that no caller joins work that ended without an outcome. Only its own entry:
        // a leader that was abandoned may have a successor.
        let mut entries = self.group.lock();
        if entries.get(&self.key).is_some_and(|entry| self.is_of(entry)) {
            entries.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Group = SingleFlight<&'static str, u32>;

    #[tokio::test]
    async fn equal_keys_share_one_leader_and_its_outcome_and_other_keys_do_not() {
        let (group, caller) = (Group::default(), Cancellation::new());
        let (leader, mut first) = group.join_or_lead("x", UnattendedPolicy::Cancel, &caller);
        let (none, mut second) = group.join_or_lead("x", UnattendedPolicy::Cancel, &caller);
        assert!(none.is_none(), "one leader for both");
        let (other, _waiter) = group.join_or_lead("y", UnattendedPolicy::Cancel, &caller);
        assert!(other.is_some());
        leader.unwrap().finish(7);
        assert_eq!((first.outcome().await, second.outcome().await), (Some(7), Some(7)));
        assert!(group.join(&"x", &caller).is_none(), "it is over");
    }

    #[tokio::test]
    async fn a_published_outcome_is_that_of_who_joins_later_until_the_leader_is_gone() {
        let (group, caller) = (Group::default(), Cancellation::new());
        let (leader, first) = group.lead("x", Cancellation::new(), UnattendedPolicy::Continue, &caller);
        leader.publish(7);
        drop(first);
        assert_eq!(group.join(&"x", &caller).expect("it is kept").outcome().await, Some(7));
        drop(leader);
        assert!(group.join(&"x", &caller).is_none(), "it is over");
    }

    #[tokio::test]
    async fn a_leader_that_is_gone_without_an_outcome_leaves_none() {
        let (group, caller) = (Group::default(), Cancellation::new());
        let (leader, mut waiter) = group.lead("x", Cancellation::new(), UnattendedPolicy::Cancel, &caller);
        drop(leader);
        assert_eq!(waiter.outcome().await, None);
    }

    #[test]
    fn a_leader_that_was_left_by_all_and_ends_late_leaves_its_successor_alone() {
        let (group, caller) = (Group::default(), Cancellation::new());
        let lead = || group.lead("x", Cancellation::new(), UnattendedPolicy::Cancel, &caller);
        let (abandoned, waiter) = lead();
        drop(waiter);
        assert!(group.join(&"x", &caller).is_none(), "an abandoned read is over");
        let (successor, _waiter) = lead();
        assert!(!abandoned.is_current());
        drop(abandoned);
        assert!(successor.is_current());
        assert!(group.join(&"x", &caller).is_some());
    }

    #[test]
    fn the_last_waiter_to_leave_says_why_the_work_stops() {
        for (cause, expected) in
            [(None, StopCause::CallerGone), (Some(StopCause::Cancelled), StopCause::Cancelled)]
        {
            let (first, last) = (Cancellation::new(), Cancellation::new());
            let group = Group::default();
            let (_leader, one) = group.join_or_lead("x", UnattendedPolicy::Cancel, &first);
            let (_, other) = group.join_or_lead("x", UnattendedPolicy::Cancel, &last);
            let cancellation = one.cancellation().clone();
            first.cancel(StopCause::Deadline);
            drop(one);
            assert!(!cancellation.is_cancelled());
            if let Some(cause) = cause {
                last.cancel(cause);
            }
            drop(other);
            assert_eq!(cancellation.cause(), Some(expected));
        }
    }

    #[test]
    fn work_that_writes_goes_on_unattended_and_can_be_joined_again() {
        let (group, caller) = (Group::default(), Cancellation::new());
        let (_leader, waiter) = group.lead("x", Cancellation::new(), UnattendedPolicy::Continue, &caller);
        let cancellation = waiter.cancellation().clone();
        drop(waiter);
        assert!(!cancellation.is_cancelled());
        assert!(group.join(&"x", &caller).is_some());
    }
}
