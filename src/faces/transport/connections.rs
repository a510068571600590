//! The connections that are open: so many in all and of one peer, and room made by closing those that never showed
//! who they are.
//!
//! Not here: what is said on them.

use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{Config, alarm::Bound, shares::Origin};
use crate::{clock, config::Network, telemetry::metric};

/// How often it is looked whether there is room.
const INTERVAL: Duration = Duration::from_secs(1);

/// The connections that are open. Cheap to clone; clones share state.
#[derive(Debug, Clone)]
pub(super) struct Connections(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    most_of_peer: usize,
    trusted: Vec<Network>,
    /// How long a connection may have said nothing before it is closed for want of room.
    unauthenticated: Duration,
    start: Instant,
    open: Mutex<Open>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    places: HashMap<u64, Arc<Known>>,
    by_origin: HashMap<Origin, usize>,
}

/// What is known of one connection.
#[derive(Debug)]
pub(super) struct Known {
    /// None if the peer is trusted: then it may stand for many.
    pub(super) origin: Option<Origin>,
    has_authenticated: AtomicBool,
    /// When the last request came, in milliseconds since the start.
    heard: AtomicU64,
    start: Instant,
    /// Fires when the connection is to make room.
    pub(super) closed: CancellationToken,
}

/// The place of one connection, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Connections,
    key: u64,
    pub(super) known: Arc<Known>,
}

impl Connections {
    pub(super) fn new(config: &Config) -> Self {
        Self(Arc::new(Shared {
            most: config.max_connections,
            most_of_peer: config.max_connections_per_peer,
            trusted: config.trusted_peers.clone(),
            unauthenticated: config.unauthenticated_timeout,
            start: clock::now(),
            open: Mutex::default(),
            freed: Notify::new(),
        }))
    }

    /// Waits until there is room for another connection.
    pub(super) async fn room(&self) {
        if self.has_room() {
            return;
        }
        Bound::Connections.reached("connections", &self.0.most);
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

    /// A place for a connection, unless its peer has its share already.
    pub(super) fn take(&self, peer: SocketAddr) -> Option<Place> {
        let origin = self.origin(peer.ip());
        let mut open = self.lock();
        if let Some(origin) = origin {
            let count = open.by_origin.entry(origin).or_default();
            if *count >= self.0.most_of_peer {
                drop(open);
                Bound::PeerConnections.reached("connections of one peer", &origin);
                return None;
            }
            *count += 1;
        }
        let known = Arc::new(Known::new(origin, self.0.start));
        let key = open.next;
        open.next += 1;
        open.places.insert(key, Arc::clone(&known));
        metric::connections_open(1);
        Some(Place { connections: self.clone(), key, known })
    }

    /// Makes room for as long as it is polled.
    pub(super) async fn tend(&self) -> Infallible {
        let mut interval = interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            self.make_room();
        }
    }

    /// Once three quarters of the places are taken, closes connections that never authenticated and say nothing, those
    /// first that have been silent for longest, until there is room again.
    fn make_room(&self) {
        let open = self.lock();
        let surplus = open.places.len().saturating_sub(self.0.most / 4 * 3);
        if surplus == 0 {
            return;
        }
        let silent = |known: &&Arc<Known>| known.silence().is_some_and(|it| it >= self.0.unauthenticated);
        let mut silent: Vec<_> = open.places.values().filter(silent).cloned().collect();
        drop(open);
        silent.sort_by_key(|known| known.heard.load(Relaxed));
        for known in silent.iter().take(surplus) {
            known.closed.cancel();
            let origin = known.origin.map_or_else(|| "a trusted peer".to_owned(), |it| it.to_string());
            Bound::Unauthenticated.reached("connections without credentials", &origin);
        }
    }

    /// Where a peer comes from, unless it is trusted.
    fn origin(&self, peer: IpAddr) -> Option<Origin> {
        let is_trusted = self.0.trusted.iter().any(|network| network.contains(peer));
        (!is_trusted).then(|| peer.into())
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    pub(super) fn new(origin: Option<Origin>, start: Instant) -> Self {
        let known = Self {
            origin,
            has_authenticated: AtomicBool::new(false),
            heard: AtomicU64::new(0),
            start,
            closed: CancellationToken::new(),
        };
        known.hear();
        known
    }

    /// A request came.
    pub(super) fn hear(&self) {
        if !self.has_authenticated.load(Relaxed) {
            self.heard.store(self.now(), Relaxed);
        }
    }

    /// A request with credentials that are accepted came: the connection is somebody's.
    pub(super) fn authenticated(&self) {
        self.has_authenticated.store(true, Relaxed);
    }

    /// How long nothing came; none once the peer has authenticated.
    fn silence(&self) -> Option<Duration> {
        let heard = self.heard.load(Relaxed);
        (!self.has_authenticated.load(Relaxed))
            .then(|| Duration::from_millis(self.now().saturating_sub(heard)))
    }

    fn now(&self) -> u64 {
        u64::try_from(clock::now().duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.places.remove(&self.key);
        if let Some(origin) = self.known.origin {
            let left = open.by_origin.get_mut(&origin).map(|count| {
                *count -= 1;
                *count
            });
            if left == Some(0) {
                open.by_origin.remove(&origin);
            }
        }
        drop(open);
        metric::connections_open(-1);
        self.connections.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn of(max_connections: usize, max_connections_per_peer: usize) -> Connections {
        let unauthenticated_timeout = Duration::from_secs(10);
        let trusted_peers = vec!["10.0.0.0/8".parse().unwrap()];
        Connections::new(&Config {
            max_connections,
            max_connections_per_peer,
            trusted_peers,
            unauthenticated_timeout,
            ..Config::default()
        })
    }

    fn peer(last: u8) -> SocketAddr {
        ([192, 0, 2, last], 4_000).into()
    }

    #[tokio::test]
    async fn a_peer_has_its_share_and_one_that_is_trusted_has_all() {
        let connections = of(10, 2);
        let mut places: Vec<_> = (0..2).map(|_| connections.take(peer(1)).unwrap()).collect();
        assert!(connections.take(peer(1)).is_none());
        places.extend(connections.take(peer(2)));
        places.extend((0..5).filter_map(|_| connections.take(([10, 1, 2, 3], 1).into())));
        assert_eq!(places.len(), 8);
        places.remove(0);
        assert!(connections.take(peer(1)).is_some());
        drop(places);
        assert!(connections.lock().by_origin.is_empty() && connections.lock().places.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn when_room_is_short_the_silent_ones_without_credentials_go_the_oldest_first() {
        let connections = of(8, 8);
        let places: Vec<_> = (1..=8).map(|last| connections.take(peer(last)).unwrap()).collect();
        places[0].known.authenticated();
        advance(Duration::from_secs(8)).await;
        places[1].known.hear();
        connections.make_room();
        let closed = || places.iter().map(|place| place.known.closed.is_cancelled()).collect::<Vec<_>>();
        assert_eq!(closed(), [false; 8], "none has been silent for long enough");
        advance(Duration::from_secs(2)).await;
        places[2].known.hear();
        connections.make_room();
        let expected = 2;
        assert_eq!(closed().iter().filter(|closed| **closed).count(), expected, "as many as are too many");
        assert_eq!(closed()[..3], [false; 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn while_there_is_room_nobody_goes() {
        let connections = of(100, 100);
        let place = connections.take(peer(1)).unwrap();
        advance(Duration::from_hours(1)).await;
        connections.make_room();
        assert!(!place.known.closed.is_cancelled());
    }
}
