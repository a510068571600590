//! Limits per peer, and the closing of idle connections.

use tokio::time::advance;

use super::*;

fn of(max_connections: usize, max_connections_per_peer: usize) -> Connections {
    let unauthenticated_timeout = Duration::from_secs(10);
    let trusted_peers = vec!["10.0.0.0/8".parse().unwrap()];
    let limits = ServerBounds {
        max_connections,
        max_connections_per_peer,
        trusted_peers,
        unauthenticated_timeout,
        ..ServerBounds::default()
    };
    Connections::new(&limits, Backlog::default())
}

fn peer(last: u8) -> SocketAddr {
    ([192, 0, 2, last], 4_000).into()
}

#[tokio::test]
async fn a_peer_has_its_share_and_one_that_is_trusted_has_all() {
    let connections = of(10, 2);
    let mut slots: Vec<_> = (0..2).map(|_| connections.take(peer(1)).unwrap()).collect();
    for slot in &slots {
        slot.state.record_request();
    }
    assert!(connections.take(peer(1)).is_none());
    slots.extend(connections.take(peer(2)));
    slots.extend((0..5).filter_map(|_| connections.take(([10, 1, 2, 3], 1).into())));
    assert_eq!(slots.len(), 8);
    slots.remove(0);
    assert!(connections.take(peer(1)).is_some());
    drop(slots);
    assert!(connections.lock().by_origin.is_empty() && connections.lock().slots.is_empty());
}

#[tokio::test]
async fn at_its_bound_a_peer_gives_up_its_oldest_connection_without_a_request_and_nobody_elses() {
    let connections = of(10, 3);
    let (others, asked) = (connections.take(peer(2)).unwrap(), connections.take(peer(1)).unwrap());
    asked.state.record_request();
    let mut silent: Vec<_> = (0..2).map(|_| connections.take(peer(1)).unwrap()).collect();
    let newcomer = connections.take(peer(1)).expect("it takes the slot of the oldest silent one");
    let closed = |slot: &Slot| slot.state.closed.is_cancelled();
    assert!(closed(&silent[0]) && !closed(&silent[1]) && !closed(&asked) && !closed(&others));
    // The slot counts once, whether or not the replaced connection has ended.
    drop(silent.remove(0));
    newcomer.state.record_request();
    silent[0].state.record_request();
    assert!(connections.take(peer(1)).is_none(), "each of the three has sent a request");
    drop((others, asked, silent, newcomer));
    assert!(connections.lock().by_origin.is_empty() && connections.lock().slots.is_empty());
}

#[tokio::test(start_paused = true)]
async fn when_a_peers_share_is_short_its_silent_ones_without_credentials_go() {
    let connections = of(100, 4);
    let slots: Vec<_> = (0..4).map(|_| connections.take(peer(1)).unwrap()).collect();
    let other = connections.take(peer(2)).unwrap();
    // Each has sent a request, and none has authenticated.
    for slot in &slots {
        slot.state.record_request();
    }
    connections.close_idle();
    assert!(!slots.iter().any(|slot| slot.state.closed.is_cancelled()));
    advance(Duration::from_secs(10)).await;
    connections.close_idle();
    let closed = slots.iter().filter(|slot| slot.state.closed.is_cancelled()).count();
    assert!(closed == 1 && !other.state.closed.is_cancelled(), "{closed}");
}

#[tokio::test(start_paused = true)]
async fn when_room_is_short_the_silent_ones_without_credentials_go_the_oldest_first() {
    let connections = of(8, 8);
    let slots: Vec<_> = (1..=8).map(|last| connections.take(peer(last)).unwrap()).collect();
    slots[0].state.set_authenticated();
    advance(Duration::from_secs(8)).await;
    slots[1].state.record_request();
    connections.close_idle();
    let closed = || slots.iter().map(|slot| slot.state.closed.is_cancelled()).collect::<Vec<_>>();
    assert_eq!(closed(), [false; 8], "none has been silent for long enough");
    advance(Duration::from_secs(2)).await;
    slots[2].state.record_request();
    connections.close_idle();
    let expected = 2;
    assert_eq!(closed().iter().filter(|closed| **closed).count(), expected, "as many as are too many");
    assert_eq!(closed()[..3], [false; 3]);
}

#[tokio::test(start_paused = true)]
async fn while_there_is_room_nobody_goes() {
    let connections = of(100, 100);
    let slot = connections.take(peer(1)).unwrap();
    advance(Duration::from_hours(1)).await;
    connections.close_idle();
    assert!(!slot.state.closed.is_cancelled());
}
