//! The limits on open connections, in total and per peer. Near a limit, connections that never sent a request or never
//! authenticated are closed in favour of new ones.
//!
//! Not here: the protocol on a connection (`connection`).

use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, MissedTickBehavior, interval},
};

pub(super) use self::connection_state::ConnectionState;
use self::peer_connections::{Grant, PeerConnections};
use super::{limits::Limit, quotas::Origin};
use toolwire_base::{backlog::Backlog, clock};
use toolwire_config::{Network, ServerBounds};
use toolwire_telemetry::metric;

mod connection_state;
mod peer_connections;

/// The interval at which idle connections without credentials are checked.
const INTERVAL: Duration = Duration::from_secs(1);

/// The connections that are open. Cheap to clone; clones share state.
#[derive(Debug, Clone)]
pub(super) struct Connections(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    most_of_peer: usize,
    trusted: Vec<Network>,
    /// The idle time after which a connection without credentials may be closed near a limit.
    unauthenticated: Duration,
    start: Instant,
    backlog: Backlog,
    open: Mutex<OpenConnections>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    slots: HashMap<u64, Arc<ConnectionState>>,
    by_origin: HashMap<Origin, PeerConnections>,
}

/// The slot of one connection, released on drop.
#[derive(Debug)]
pub(super) struct Slot {
    connections: Connections,
    key: u64,
    pub(super) state: Arc<ConnectionState>,
}

impl Connections {
    pub(super) fn new(limits: &ServerBounds, backlog: Backlog) -> Self {
        Self(Arc::new(Shared {
            most: limits.max_connections,
            most_of_peer: limits.max_connections_per_peer,
            trusted: limits.trusted_peers.clone(),
            unauthenticated: limits.unauthenticated_timeout,
            start: clock::now(),
            backlog,
            open: Mutex::default(),
            freed: Notify::new(),
        }))
    }

    /// Waits until the total is below its limit: backpressure on the accept queue.
    pub(super) async fn wait_for_slot(&self) {
        if self.has_free_slot() {
            return;
        }
        Limit::Connections.exceeded("connections", &self.0.most);
        loop {
            let freed = self.0.freed.notified();
            if self.has_free_slot() {
                return;
            }
            freed.await;
        }
    }

    pub(super) fn has_free_slot(&self) -> bool {
        self.lock().slots.len() < self.0.most
    }

    /// A slot for a connection. At the limit of its peer, the peer's oldest connection that never sent a request is
    /// closed in favour of it, so that idle connections do not lock out other clients behind the same address. `None`
    /// if every connection of the peer has sent one.
    pub(super) fn take(&self, peer: SocketAddr) -> Option<Slot> {
        let origin = self.origin(peer.ip());
        let (grant, slot) = self.take_of(origin);
        if let (Grant::Replaced | Grant::None, Some(origin)) = (grant, origin) {
            Limit::PeerConnections.exceeded("connections of one peer", &origin);
        }
        slot
    }

    fn take_of(&self, origin: Option<Origin>) -> (Grant, Option<Slot>) {
        let state = Arc::new(ConnectionState::new(origin, self.0.start, self.0.backlog.connection()));
        let mut open = self.lock();
        let key = open.next;
        let grant = match origin {
            Some(origin) => {
                let of_peer = open.by_origin.entry(origin).or_default();
                of_peer.take(key, &state, self.0.most_of_peer)
            }
            None => Grant::Free,
        };
        if grant == Grant::None {
            return (grant, None);
        }
        open.next += 1;
        open.slots.insert(key, Arc::clone(&state));
        drop(open);
        metric::connections_open(1);
        (grant, Some(Slot { connections: self.clone(), key, state }))
    }

    /// Closes idle connections near a limit, once an interval, for as long as it is polled.
    pub(super) async fn reap_idle(&self) -> Infallible {
        let mut interval = interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            self.close_idle();
        }
    }

    /// While more than three quarters of all slots, or of one peer's, are taken, closes connections that never
    /// authenticated and are idle for longer than the bound, the longest idle first.
    fn close_idle(&self) {
        let open = self.lock();
        let mut surplus = surplus(open.slots.len(), self.0.most);
        let mut of_peers: HashMap<_, _> = open
            .by_origin
            .iter()
            .map(|(origin, it)| (*origin, self::surplus(it.count, self.0.most_of_peer)))
            .collect();
        of_peers.retain(|_, surplus| *surplus > 0);
        if surplus == 0 && of_peers.is_empty() {
            return;
        }
        let idle =
            |state: &&Arc<ConnectionState>| state.idle_time().is_some_and(|it| it >= self.0.unauthenticated);
        let mut idle: Vec<_> = open.slots.values().filter(idle).cloned().collect();
        // Not under the lock: closing a connection wakes its task, which releases its slot.
        drop(open);
        idle.sort_by_key(|state| state.last_request());
        for state in &idle {
            let of_peer = state.origin.and_then(|origin| of_peers.get_mut(&origin)).filter(|it| **it > 0);
            if surplus == 0 && of_peer.is_none() {
                continue;
            }
            surplus = surplus.saturating_sub(1);
            if let Some(of_peer) = of_peer {
                *of_peer -= 1;
            }
            state.closed.cancel();
            let origin = state.origin.map_or_else(|| "a trusted peer".to_owned(), |it| it.to_string());
            Limit::Unauthenticated.exceeded("connections without credentials", &origin);
        }
    }

    /// The origin that a peer's connections count against; `None` for a trusted peer.
    fn origin(&self, peer: IpAddr) -> Option<Origin> {
        let is_trusted = self.0.trusted.iter().any(|network| network.contains(peer));
        (!is_trusted).then(|| peer.into())
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of taken slots beyond three quarters of the limit.
fn surplus(taken: usize, most: usize) -> usize {
    taken.saturating_sub(most - most.div_ceil(4))
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.slots.remove(&self.key);
        if let Some(origin) = self.state.origin
            && let Some(of_peer) = open.by_origin.get_mut(&origin)
        {
            of_peer.leave(self.key, &self.state);
            if of_peer.count == 0 {
                open.by_origin.remove(&origin);
            }
        }
        drop(open);
        metric::connections_open(-1);
        self.connections.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests;
