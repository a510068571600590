//! The bytes that wait for peers, each counted once: for its stream, its connection, its user and the process.
//!
//! The maker of bytes for a peer takes a [`Permit`] for them, which stays with the bytes until the connection has
//! written them or they are dropped. Bytes that change their form, such as an event that becomes a message and then a
//! frame, are [in transit](Permit::pass_on) until their next owner [counts them](Stream::take_up) in their new size.
//! Beyond a bound the largest holder ends (`relief`). Not here: what waits before it takes a permit, which is the
//! backpressure on tools.

mod connection;
mod permit;
mod relief;
mod stream;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    task::Waker,
};

use tokio::time::Instant;

use self::connection::OfConnection;
pub use self::{connection::Connection, permit::Permit};
use crate::clock;

/// A stream that holds less is not listed, and so never ended for what others add.
const LISTED: usize = 16 * 1024;

/// The backlogs of this process, for the metric.
static ALIVE: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// The maximum numbers of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub connection: usize,
    pub user: usize,
    pub all: usize,
}

/// A bound, by what it bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Connection,
    User,
    All,
}

/// The bytes that wait for all peers together. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Backlog(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bounds: Bounds,
    held: AtomicUsize,
    users: Mutex<HashMap<Arc<str>, Weak<User>>>,
    connections: Mutex<HashMap<usize, Weak<OfConnection>>>,
    next_id: AtomicUsize,
    /// Held while room is made, so that no two callers end streams for the same bytes.
    relief: Mutex<()>,
}

/// The streams of one user, over all connections.
#[derive(Debug)]
struct User {
    name: Arc<str>,
    held: AtomicUsize,
    /// Those that hold at least [`LISTED`] bytes, or did.
    streams: Mutex<HashMap<usize, Weak<OfStream>>>,
    shared: Arc<Shared>,
}

/// The bytes of one response, or of the buffer of a connection. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Stream(Arc<OfStream>);

#[derive(Debug)]
struct OfStream {
    id: usize,
    connection: Connection,
    user: Arc<User>,
    held: AtomicUsize,
    /// The part of `held` that has left one owner and has not reached the next.
    in_transit: AtomicUsize,
    is_listed: AtomicBool,
    /// Whether a task sends it, and ends it when it is woken. Otherwise only its connection has its bytes.
    has_task: AtomicBool,
    task: Mutex<Option<Waker>>,
    ended: OnceLock<(Bound, Instant)>,
    is_reported: AtomicBool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { connection: 128 << 20, user: 64 << 20, all: 256 << 20 }
    }
}

impl Default for Backlog {
    fn default() -> Self {
        Self::new(Bounds::default())
    }
}

impl PartialEq for Backlog {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Backlog {
    /// A backlog without bytes.
    pub fn new(bounds: Bounds) -> Self {
        let shared = Arc::new(Shared {
            bounds,
            held: AtomicUsize::new(0),
            users: Mutex::default(),
            connections: Mutex::default(),
            next_id: AtomicUsize::new(0),
            relief: Mutex::default(),
        });
        let mut alive = lock(&ALIVE);
        alive.retain(|it| it.strong_count() > 0);
        alive.push(Arc::downgrade(&shared));
        Self(shared)
    }

    /// A new connection, of which nothing waits.
    pub fn connection(&self) -> Connection {
        Connection::new(&self.0)
    }

    pub fn bounds(&self) -> Bounds {
        self.0.bounds
    }

    /// The bytes that wait now.
    pub fn held(&self) -> usize {
        self.0.held.load(Relaxed)
    }

    /// The bytes that wait now for one user.
    pub fn held_for(&self, user: &str) -> usize {
        let of_user = lock(&self.0.users).get(user).and_then(Weak::upgrade);
        of_user.map_or(0, |it| it.held.load(Relaxed))
    }
}

/// The bytes that wait for peers in this process.
pub fn held_by_process() -> usize {
    lock(&ALIVE).iter().filter_map(Weak::upgrade).map(|it| it.held.load(Relaxed)).sum()
}

impl Shared {
    fn next_id(&self) -> usize {
        self.next_id.fetch_add(1, Relaxed)
    }

    fn user(self: &Arc<Self>, name: &str) -> Arc<User> {
        let mut users = lock(&self.users);
        if let Some(known) = users.get(name).and_then(Weak::upgrade) {
            return known;
        }
        let name: Arc<str> = name.into();
        let user = Arc::new(User {
            name: Arc::clone(&name),
            held: AtomicUsize::new(0),
            streams: Mutex::default(),
            shared: Arc::clone(self),
        });
        users.insert(name, Arc::downgrade(&user));
        user
    }
}

impl Connection {
    /// A response to a user, or to a peer that is named like one.
    pub fn stream(&self, user: &str) -> Stream {
        Stream::new(self, self.user(user), true)
    }

    /// The bytes that the connection itself buffers. They count for the user of its latest stream.
    pub fn buffer(&self) -> Stream {
        let user = self.latest_user().unwrap_or_else(|| self.shared().user(""));
        Stream::new(self, user, false)
    }
}

impl OfStream {
    /// Adds bytes. Returns whether all bounds hold.
    fn add(self: &Arc<Self>, bytes: usize) -> bool {
        let shared = &self.user.shared;
        let bounds = shared.bounds;
        let held = self.held.fetch_add(bytes, Relaxed) + bytes;
        let of_connection = self.connection.add(bytes);
        let of_user = self.user.held.fetch_add(bytes, Relaxed) + bytes;
        let of_all = shared.held.fetch_add(bytes, Relaxed) + bytes;
        if held >= LISTED && !self.is_listed.load(Relaxed) && !self.is_listed.swap(true, Relaxed) {
            lock(&self.user.streams).insert(self.id, Arc::downgrade(self));
        }
        of_connection <= bounds.connection && of_user <= bounds.user && of_all <= bounds.all
    }

    /// Counts bytes in place of others, whatever the bounds.
    fn replace(self: &Arc<Self>, before: usize, bytes: usize) {
        match bytes.checked_sub(before) {
            Some(more) => {
                self.add(more);
            }
            None => self.remove(before - bytes),
        }
    }

    fn remove(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.held.fetch_sub(bytes, Relaxed);
        self.connection.remove(bytes);
        self.user.held.fetch_sub(bytes, Relaxed);
        self.user.shared.held.fetch_sub(bytes, Relaxed);
    }

    /// Ends the stream: its task is woken. What only its connection has is freed with that alone.
    fn end(&self, bound: Bound) {
        // Under the lock, so that no task registers between the two.
        let task = {
            let mut task = lock(&self.task);
            let _ = self.ended.set((bound, clock::now()));
            task.take()
        };
        if !self.has_task.load(Relaxed) {
            self.connection.close();
        }
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl Drop for OfStream {
    fn drop(&mut self) {
        // What is left was in transit.
        self.remove(self.held.load(Relaxed));
        if *self.is_listed.get_mut() {
            lock(&self.user.streams).remove(&self.id);
        }
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let mut users = lock(&self.shared.users);
        // Another one of the name may have been made meanwhile.
        if users.get(&self.name).is_some_and(|it| it.strong_count() == 0) {
            users.remove(&self.name);
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
