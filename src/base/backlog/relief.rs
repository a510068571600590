//! Makes room when a bound is passed: the largest holder ends, and never a smaller one for its sake.

use std::{
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    time::Duration,
};

use super::{Bound, Connection, LISTED, OfStream, Shared, User, lock};

/// The time in which a stream that was ended frees its bytes. What it still holds then, its connection has, which is
/// closed.
const GRACE: Duration = Duration::from_millis(250);
/// The part of a bound by which it may be passed while streams that were ended free their bytes: one eighth.
const CREDIT: usize = 8;

/// Ends streams until every bound holds. Fails with the bound for which the newcomer itself is to end: no other stream
/// holds more than it does. Its new bytes are counted already.
pub(super) fn make_room(newcomer: &Arc<OfStream>) -> Result<(), Bound> {
    let shared = &newcomer.user.shared;
    let _one_at_a_time = lock(&shared.relief);
    for bound in [Bound::Connection, Bound::User, Bound::All] {
        while is_passed(shared, newcomer, bound) {
            end_largest(shared, newcomer, bound)?;
        }
        // What was ended is freed by other tasks, which may be late.
        let (held, most) = level(shared, newcomer, bound);
        if held > most + most / CREDIT && newcomer.held.load(Relaxed) >= LISTED {
            return Err(bound);
        }
    }
    Ok(())
}

/// What is held of a bound, and the bound.
fn level(shared: &Shared, newcomer: &OfStream, bound: Bound) -> (usize, usize) {
    match bound {
        Bound::Connection => (newcomer.connection.held(), shared.bounds.connection),
        Bound::User => (newcomer.user.held.load(Relaxed), shared.bounds.user),
        Bound::All => (shared.held.load(Relaxed), shared.bounds.all),
    }
}

/// Whether what is held is more than the bound, without what is being freed.
fn is_passed(shared: &Shared, newcomer: &OfStream, bound: Bound) -> bool {
    let (held, most) = level(shared, newcomer, bound);
    if held <= most {
        return false;
    }
    let of_user = (bound == Bound::User).then_some(&newcomer.user);
    let closing = if bound == Bound::Connection { 0 } else { being_closed(shared, of_user) };
    held.saturating_sub(closing + being_freed(&streams(shared, newcomer, bound))) > most
}

/// Ends the stream that holds the most; of all users, the most of the user that holds the most.
fn end_largest(shared: &Shared, newcomer: &OfStream, bound: Bound) -> Result<(), Bound> {
    let user = match bound {
        Bound::All => largest_user(shared),
        Bound::Connection | Bound::User => None,
    };
    let is_candidate = |it: &&Arc<OfStream>| user.as_ref().is_none_or(|user| Arc::ptr_eq(user, &it.user));
    let is_own = user.as_ref().is_none_or(|user| Arc::ptr_eq(user, &newcomer.user));
    let all = streams(shared, newcomer, bound);
    let others = all.iter().filter(is_candidate).filter(|it| it.id != newcomer.id && !it.is_going());
    // Of equal ones the newest, so that of a crowd the latest fails and the others are let finish.
    let largest = others.max_by_key(|it| (it.held.load(Relaxed), it.id));
    match largest {
        Some(largest) if !is_own || largest.held.load(Relaxed) > newcomer.held.load(Relaxed) => {
            largest.end(bound);
            Ok(())
        }
        Some(_) => Err(bound),
        None if bound == Bound::Connection => Err(bound),
        None => close_largest(shared, user.as_ref().unwrap_or(&newcomer.user), newcomer).ok_or(bound),
    }
}

/// Closes the connection of a user that holds the most, where that is in many small responses.
fn close_largest(shared: &Shared, user: &Arc<User>, newcomer: &OfStream) -> Option<()> {
    let others = connections(shared, Some(user)).into_iter().filter(|it| !it.is_closed());
    let largest = others.max_by_key(Connection::held)?;
    let is_larger = largest.held() > newcomer.connection.held();
    is_larger.then(|| largest.close())
}

fn largest_user(shared: &Shared) -> Option<Arc<User>> {
    let users: Vec<_> = lock(&shared.users).values().filter_map(Weak::upgrade).collect();
    users.into_iter().max_by_key(|user| {
        let freed = being_freed(&listed(user)) + being_closed(shared, Some(user));
        user.held.load(Relaxed).saturating_sub(freed)
    })
}

/// The connections; of a user those on which it was the last to ask.
fn connections(shared: &Shared, of: Option<&Arc<User>>) -> Vec<Connection> {
    let is_of = |it: &Connection| {
        of.is_none_or(|user| it.latest_user().is_some_and(|latest| Arc::ptr_eq(&latest, user)))
    };
    let all: Vec<_> = lock(&shared.connections).values().filter_map(Weak::upgrade).map(Connection).collect();
    all.into_iter().filter(is_of).collect()
}

/// The streams that count against a bound.
fn streams(shared: &Shared, newcomer: &OfStream, bound: Bound) -> Vec<Arc<OfStream>> {
    if bound == Bound::User {
        return listed(&newcomer.user);
    }
    let users: Vec<_> = lock(&shared.users).values().filter_map(Weak::upgrade).collect();
    let all = users.iter().flat_map(|user| listed(user));
    let of_connection = newcomer.connection.id();
    all.filter(|it| bound == Bound::All || it.connection.id() == of_connection).collect()
}

fn listed(user: &User) -> Vec<Arc<OfStream>> {
    lock(&user.streams).values().filter_map(Weak::upgrade).collect()
}

/// The bytes of connections that are being closed.
fn being_closed(shared: &Shared, of: Option<&Arc<User>>) -> usize {
    connections(shared, of).iter().filter(|it| it.is_closed()).map(Connection::held).sum()
}

/// The bytes of streams that were ended, on connections that stay.
fn being_freed(streams: &[Arc<OfStream>]) -> usize {
    let freed = streams.iter().filter(|it| it.is_going() && !it.connection.is_closed());
    freed.map(|it| it.held.load(Relaxed)).sum()
}

impl OfStream {
    /// Whether its bytes are being freed. Where ending it did not free them, its connection is closed.
    fn is_going(&self) -> bool {
        let Some((_, since)) = self.ended.get() else { return self.connection.is_closed() };
        if since.elapsed() > GRACE && !self.connection.is_closed() {
            self.connection.close();
        }
        true
    }
}
