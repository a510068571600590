//! What waits for the peer of one connection, and the connection's end where nothing else frees it.

use std::sync::{
    Arc, Mutex,
    atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use tokio::sync::Notify;

use super::{Shared, User, lock};

/// The bytes that wait for the peer of one connection. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Connection(pub(super) Arc<OfConnection>);

#[derive(Debug)]
pub(super) struct OfConnection {
    id: usize,
    held: AtomicUsize,
    /// The user of its latest stream.
    user: Mutex<Option<Arc<User>>>,
    is_closed: AtomicBool,
    closed: Notify,
    shared: Arc<Shared>,
}

impl Connection {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        let connection = Self(Arc::new(OfConnection {
            id: shared.next_id(),
            held: AtomicUsize::new(0),
            user: Mutex::default(),
            is_closed: AtomicBool::new(false),
            closed: Notify::new(),
            shared: Arc::clone(shared),
        }));
        lock(&shared.connections).insert(connection.0.id, Arc::downgrade(&connection.0));
        connection
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    pub(super) fn id(&self) -> usize {
        self.0.id
    }

    pub(super) fn latest_user(&self) -> Option<Arc<User>> {
        lock(&self.0.user).clone()
    }

    pub(super) fn add(&self, bytes: usize) -> usize {
        self.0.held.fetch_add(bytes, Relaxed) + bytes
    }

    pub(super) fn remove(&self, bytes: usize) {
        self.0.held.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn user(&self, name: &str) -> Arc<User> {
        let mut latest = lock(&self.0.user);
        match &*latest {
            Some(user) if *user.name == *name => Arc::clone(user),
            _ => Arc::clone(latest.insert(self.0.shared.user(name))),
        }
    }

    pub fn held(&self) -> usize {
        self.0.held.load(Relaxed)
    }

    /// Completes when the connection is to be closed, since nothing else frees its bytes.
    pub async fn closed(&self) {
        let notified = self.0.closed.notified();
        if !self.0.is_closed.load(Acquire) {
            notified.await;
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed.load(Acquire)
    }

    pub(super) fn close(&self) {
        self.0.is_closed.store(true, Release);
        self.0.closed.notify_waiters();
    }
}

impl Drop for OfConnection {
    fn drop(&mut self) {
        lock(&self.shared.connections).remove(&self.id);
    }
}
