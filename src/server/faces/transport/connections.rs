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

pub(super) use self::known::Known;
use self::of_peer::{OfPeer, Share};
use super::{limits::Limit, quotas::Origin};
use toolwire_base::clock;
use toolwire_config::{Network, ServerBounds};
use toolwire_telemetry::metric;

mod known;
mod of_peer;

/// How often idle connections without credentials are looked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// The connections that are open. Cheap to clone; clones share state.
#[derive(Debug, Clone)]
pub(super) struct Connections(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    most_of_peer: usize,
    trusted: Vec<Network>,
    /// How long a connection without credentials may be idle before it may be closed near a limit.
    unauthenticated: Duration,
    start: Instant,
    open: Mutex<Open>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    places: HashMap<u64, Arc<Known>>,
    by_origin: HashMap<Origin, OfPeer>,
}

/// The slot of one connection, released on drop.
#[derive(Debug)]
pub(super) struct Place {
    connections: Connections,
    key: u64,
    pub(super) known: Arc<Known>,
}

impl Connections {
    pub(super) fn new(limits: &ServerBounds) -> Self {
        Self(Arc::new(Shared {
            most: limits.max_connections,
            most_of_peer: limits.max_connections_per_peer,
            trusted: limits.trusted_peers.clone(),
            unauthenticated: limits.unauthenticated_timeout,
            start: clock::now(),
            open: Mutex::default(),
            freed: Notify::new(),
        }))
    }

    /// Waits until the total is below its limit: backpressure on the accept queue.
    pub(super) async fn room(&self) {
        if self.has_room() {
            return;
        }
        Limit::Connections.exceeded("connections", &self.0.most);
        loop {
            let freed = self.0.freed.notified();
            if self.has_room() {
                return;
            }
            freed.await;
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.lock().places.len() < self.0.most
    }

    /// A slot for a connection. At the limit of its peer, the peer's oldest connection that never sent a request is
    /// closed in favour of it, so that idle connections do not lock out other clients behind the same address. `None`
    /// if every connection of the peer has sent one.
    pub(super) fn take(&self, peer: SocketAddr) -> Option<Place> {
        let origin = self.origin(peer.ip());
        let (share, place) = self.take_of(origin);
        if let (Share::Replaced | Share::None, Some(origin)) = (share, origin) {
            Limit::PeerConnections.exceeded("connections of one peer", &origin);
        }
        place
    }

    fn take_of(&self, origin: Option<Origin>) -> (Share, Option<Place>) {
        let known = Arc::new(Known::new(origin, self.0.start));
        let mut open = self.lock();
        let key = open.next;
        let share = match origin {
            Some(origin) => {
                let of_peer = open.by_origin.entry(origin).or_default();
                of_peer.take(key, &known, self.0.most_of_peer)
            }
            None => Share::Free,
        };
        if share == Share::None {
            return (share, None);
        }
        open.next += 1;
        open.places.insert(key, Arc::clone(&known));
        drop(open);
        metric::connections_open(1);
        (share, Some(Place { connections: self.clone(), key, known }))
    }

    /// Closes idle connections near a limit, once an interval, for as long as it is polled.
    pub(super) async fn tend(&self) -> Infallible {
        let mut interval = interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            self.make_room();
        }
    }

    /// While more than three quarters of all slots, or of one peer's, are taken, closes connections that never
    /// authenticated and are idle for longer than the bound, the longest idle first.
    fn make_room(&self) {
        let open = self.lock();
        let mut surplus = surplus(open.places.len(), self.0.most);
        let mut of_peers: HashMap<_, _> = open
            .by_origin
            .iter()
            .map(|(origin, it)| (*origin, self::surplus(it.count, self.0.most_of_peer)))
            .collect();
        of_peers.retain(|_, surplus| *surplus > 0);
        if surplus == 0 && of_peers.is_empty() {
            return;
        }
        let silent = |known: &&Arc<Known>| known.silence().is_some_and(|it| it >= self.0.unauthenticated);
        let mut silent: Vec<_> = open.places.values().filter(silent).cloned().collect();
        drop(open);
        silent.sort_by_key(|known| known.heard());
        for known in &silent {
            let of_peer = known.origin.and_then(|origin| of_peers.get_mut(&origin)).filter(|it| **it > 0);
            if surplus == 0 && of_peer.is_none() {
                continue;
            }
            surplus = surplus.saturating_sub(1);
            if let Some(of_peer) = of_peer {
                *of_peer -= 1;
            }
            known.closed.cancel();
            let origin = known.origin.map_or_else(|| "a trusted peer".to_owned(), |it| it.to_string());
            Limit::Unauthenticated.exceeded("connections without credentials", &origin);
        }
    }

    /// The origin that a peer's connections count against; `None` for a trusted peer.
    fn origin(&self, peer: IpAddr) -> Option<Origin> {
        let is_trusted = self.0.trusted.iter().any(|network| network.contains(peer));
        (!is_trusted).then(|| peer.into())
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many of the taken slots are beyond three quarters of the limit.
fn surplus(taken: usize, most: usize) -> usize {
    taken.saturating_sub(most - most.div_ceil(4))
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.places.remove(&self.key);
        if let Some(origin) = self.known.origin
            && let Some(of_peer) = open.by_origin.get_mut(&origin)
        {
            of_peer.leave(self.key, &self.known);
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
