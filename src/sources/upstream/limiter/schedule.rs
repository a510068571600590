//! The schedule of one source: the instants of its requests, under the users' budgets and the ceiling at once.
//!
//! Not here: the clock and the waiting, which `memory` does.

use std::{collections::HashMap, time::Duration};

use tokio::sync::watch;

use super::{
    Budgets, Usage,
    timeline::{Nanos, Timeline},
};
use toolwire_tool::context::UserId;

/// Maximum number of waiting requests of one user at one source.
pub(super) const MAX_WAITERS: usize = 16;

#[derive(Debug)]
pub(super) struct Schedule {
    budgets: Budgets,
    ceiling: Timeline,
    users: HashMap<UserId, User>,
    /// The waiters in the order of their arrival.
    waiters: Vec<Waiter>,
    next_id: u64,
    next_sweep: Nanos,
}

#[derive(Debug)]
pub(super) enum Placement {
    Now,
    /// The request is admitted at the instant, or earlier if waiters before it leave.
    Later {
        id: u64,
        /// When it may go.
        at: Nanos,
        /// Updates of the instant.
        moved: watch::Receiver<Nanos>,
    },
    /// Nothing was reserved: the instant is too late.
    TooLate {
        /// When it might have gone.
        at: Nanos,
    },
    /// Nothing was reserved: too many of the user wait.
    Crowded {
        /// When it might have gone.
        at: Nanos,
    },
}

#[derive(Debug)]
struct User {
    timeline: Timeline,
    waiting: usize,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    user: UserId,
    at: Nanos,
    moved: watch::Sender<Nanos>,
}

impl Schedule {
    /// A schedule without requests.
    pub(super) fn new(budgets: Budgets) -> Self {
        Self {
            budgets,
            ceiling: Timeline::new(&budgets.ceiling),
            users: HashMap::new(),
            waiters: Vec::new(),
            next_id: 0,
            next_sweep: Timeline::memory(&budgets.per_user),
        }
    }

    /// The instant that a request of the user would get if it came now.
    pub(super) fn earliest(&mut self, user: &UserId, now: Nanos) -> Nanos {
        self.forget(now);
        earliest(self.users.get(user).map(|user| &user.timeline), &self.ceiling, now)
    }

    /// How much is used, and how long a request of the user would wait behind this many others of the user that have no
    /// instant yet.
    pub(super) fn usage_behind(&mut self, user: &UserId, now: Nanos, count: usize) -> Usage {
        self.forget(now);
        let own = self.users.get(user).map(|user| user.timeline.clone());
        let own = own.unwrap_or_else(|| Timeline::new(&self.budgets.per_user));
        usage_behind((own, self.ceiling.clone()), now, count)
    }

    /// Accepts a request, reserves an instant for it, or does nothing.
    pub(super) fn reserve(&mut self, user: &UserId, now: Nanos, latest: Nanos) -> Placement {
        let at = self.earliest(user, now);
        if at > latest || now > latest {
            return Placement::TooLate { at };
        }
        if at > now && self.users.get(user).is_some_and(|user| user.waiting >= MAX_WAITERS) {
            return Placement::Crowded { at };
        }
        self.ceiling.insert(at);
        let state = self.user(user, now);
        state.timeline.insert(at);
        if at == now {
            return Placement::Now;
        }
        state.waiting += 1;
        let (sender, moved) = watch::channel(at);
        let id = self.next_id;
        self.next_id += 1;
        self.waiters.push(Waiter { id, user: user.clone(), at, moved: sender });
        Placement::Later { id, at, moved }
    }

    /// A waiter makes its request at its instant, which stays on the timelines.
    pub(super) fn grant(&mut self, id: u64) {
        self.remove_waiter(id);
    }

    /// A waiter has left without making its request.
    pub(super) fn give_back(&mut self, id: u64, now: Nanos) {
        if let Some(Waiter { user, at, .. }) = self.remove_waiter(id) {
            self.free(&user, at, now);
        }
    }

    /// The instant of a request that is not made is free, and waiters move up.
    pub(super) fn free(&mut self, user: &UserId, at: Nanos, now: Nanos) {
        self.ceiling.remove(at);
        if let Some(user) = self.users.get_mut(user) {
            user.timeline.remove(at);
        }
        while self.move_up(now) {}
    }

    /// Number of users that are remembered.
    #[cfg(test)]
    pub(super) fn user_count(&self) -> usize {
        self.users.len()
    }

    /// The user's state, to which a request is about to be added.
    fn user(&mut self, user: &UserId, now: Nanos) -> &mut User {
        if !self.users.contains_key(user) {
            let timeline = Timeline::new(&self.budgets.per_user);
            self.users.insert(user.clone(), User { timeline, waiting: 0 });
        }
        let user = self.users.get_mut(user).expect("it was there, or was inserted just now");
        user.timeline.forget(now);
        user
    }

    fn remove_waiter(&mut self, id: u64) -> Option<Waiter> {
        let index = self.waiters.binary_search_by_key(&id, |waiter| waiter.id).ok()?;
        let waiter = self.waiters.remove(index);
        if let Some(user) = self.users.get_mut(&waiter.user) {
            user.waiting -= 1;
        }
        Some(waiter)
    }

    /// Places each waiter again, in order of arrival, all others staying where they are: so none moves later. One that
    /// moves may free an instant for an earlier one, hence the answer: whether any moved.
    fn move_up(&mut self, now: Nanos) -> bool {
        let mut any = false;
        // A waiter whose instant has come is accepted, even if it has not been woken yet.
        for waiter in self.waiters.iter_mut().filter(|waiter| waiter.at > now) {
            let Some(user) = self.users.get_mut(&waiter.user) else { continue };
            user.timeline.remove(waiter.at);
            self.ceiling.remove(waiter.at);
            let at = earliest(Some(&user.timeline), &self.ceiling, now);
            user.timeline.insert(at);
            self.ceiling.insert(at);
            if at < waiter.at {
                waiter.at = at;
                waiter.moved.send_replace(at);
                any = true;
            }
        }
        any
    }

    /// Forgets what is older than every window: requests at once, idle users once a window, so that it costs little.
    fn forget(&mut self, now: Nanos) {
        self.ceiling.forget(now);
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now.saturating_add(Timeline::memory(&self.budgets.per_user));
        self.users.retain(|_, user| {
            user.timeline.forget(now);
            user.waiting > 0 || !user.timeline.is_empty()
        });
    }
}

/// How much is used of the user's timeline and of that of all, and the wait behind this many other requests.
pub(super) fn usage_behind(timelines: (Timeline, Timeline), now: Nanos, count: usize) -> Usage {
    let (of_user, of_all) = (timelines.0.used(now), timelines.1.used(now));
    let wait = Duration::from_nanos(earliest_behind(timelines, now, count) - now);
    Usage { wait, of_user, of_all }
}

/// The earliest instant that both timelines, the user's and that of all, allow behind this many other requests.
pub(super) fn earliest_behind(timelines: (Timeline, Timeline), from: Nanos, count: usize) -> Nanos {
    let (mut own, mut ceiling) = timelines;
    for _ in 0..count {
        let at = earliest(Some(&own), &ceiling, from);
        own.insert(at);
        ceiling.insert(at);
    }
    earliest(Some(&own), &ceiling, from)
}

/// The earliest instant that both timelines allow.
pub(super) fn earliest(user: Option<&Timeline>, ceiling: &Timeline, from: Nanos) -> Nanos {
    let Some(user) = user else { return ceiling.earliest(from) };
    let mut at = from;
    loop {
        let next = ceiling.earliest(user.earliest(at));
        if next == at {
            return at;
        }
        at = next;
    }
}
