//! The choice of a slot, and the calls that wait for one.

use std::collections::HashSet;

use super::*;
use crate::{
    bounds::{MAX_SLOTS_OF_PROVIDER, MAX_WAITING_OF_USER},
    end::End,
};

/// Of all providers.
const MAX_SLOTS: usize = 4 * MAX_SLOTS_OF_PROVIDER;

fn pool() -> (Pool, ProviderName) {
    (Pool::new(MAX_SLOTS), "shop".into())
}

fn join(pool: &Pool, provider: &ProviderName, instance: &str) -> (Handle, mpsc::UnboundedReceiver<Command>) {
    join_of(pool, provider, (instance, "c1"))
}

fn join_of(
    pool: &Pool,
    provider: &ProviderName,
    (instance, catalogue): (&str, &str),
) -> (Handle, mpsc::UnboundedReceiver<Command>) {
    let (commands, receiver) = mpsc::unbounded_channel();
    (pool.join(provider, (&instance.into(), "sdk"), &catalogue.into(), commands), receiver)
}

fn user(name: &str) -> UserId {
    name.parse().expect("a user id")
}

fn slot(acquired: Acquired) -> Lease {
    match acquired {
        Acquired::Slot(lease) => lease,
        other => panic!("{other:?}"),
    }
}

fn waiting(acquired: Acquired) -> QueuedCall {
    match acquired {
        Acquired::Waits(waiting) => waiting,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_instance_with_the_most_idle_slots_is_chosen_and_ties_are_broken_at_random() {
    let (pool, provider) = pool();
    let _slots: Vec<_> = ["a", "a", "a", "b", "c"].map(|it| join(&pool, &provider, it)).into();
    let taken: Vec<_> = (0..2).map(|_| slot(pool.acquire(&provider, &"c1".into(), &user("riley")))).collect();
    assert!(taken.iter().all(|lease| lease.instance() == Some("a")), "{taken:?}");
    let mut seen = HashSet::new();
    for _ in 0..100 {
        let lease = slot(pool.acquire(&provider, &"c1".into(), &user("riley")));
        seen.insert(lease.instance().expect("held").to_owned());
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert_eq!(pool.count("shop"), (5, 3));
    drop(taken);
    assert_eq!(pool.count("shop"), (5, 5), "what was not used is idle again");
}

#[tokio::test]
async fn calls_wait_in_order_of_arrival_and_one_that_gave_up_loses_no_slot() {
    let (pool, provider) = pool();
    let [first, gone, second] =
        [(); 3].map(|()| waiting(pool.acquire(&provider, &"c1".into(), &user("riley"))));
    drop(gone);
    let (_one, _orders) = join(&pool, &provider, "a");
    let lease = first.slot().await.expect("a slot");
    assert_eq!(pool.count("shop"), (1, 0));
    drop(lease);
    drop(second.slot().await.expect("the same slot"));
    assert_eq!(pool.count("shop"), (1, 1));
}

#[test]
fn a_call_that_is_handed_a_slot_and_is_dropped_before_it_sees_it_gives_it_back() {
    let (pool, provider) = pool();
    let waiting = waiting(pool.acquire(&provider, &"c1".into(), &user("riley")));
    let (_slot, _orders) = join(&pool, &provider, "a");
    assert_eq!(pool.count("shop"), (1, 0));
    drop(waiting);
    assert_eq!(pool.count("shop"), (1, 1));
}

#[test]
fn sixteen_calls_of_a_user_wait_and_others_are_not_kept_out_by_them() {
    let (pool, provider) = pool();
    let wait = |name: &str| pool.acquire(&provider, &"c1".into(), &user(name));
    let mut held: Vec<_> = (0..MAX_WAITING_OF_USER).map(|_| waiting(wait("mallory"))).collect();
    assert!(matches!(wait("mallory"), Acquired::Full));
    let _riley = waiting(wait("riley"));
    held.pop();
    let _again = waiting(wait("mallory"));
}

/// The users of calls, in the order in which they get slots: each call ends before the next one gets one.
fn served(pool: &Pool, waits: Vec<(&'static str, QueuedCall)>, slot: Lease) -> Vec<&'static str> {
    let (mut waits, mut order, mut slot) = (waits, Vec::new(), Some(slot));
    while !waits.is_empty() {
        drop(slot.take());
        let mut gotten = None;
        for (at, (_, wait)) in waits.iter_mut().enumerate() {
            if let Some(lease) = wait.try_slot() {
                assert!(gotten.replace((at, lease)).is_none(), "one slot for two");
            }
        }
        let (at, lease) = gotten.expect("a slot that is free goes to one that waits");
        order.push(waits.remove(at).0);
        slot = Some(lease);
    }
    assert_eq!(pool.count("shop"), (1, 0));
    order
}

#[test]
fn users_take_turns_and_each_ones_calls_come_in_order() {
    let (pool, provider) = pool();
    let (_slot, _orders) = join(&pool, &provider, "a");
    let acquire = |name: &str| pool.acquire(&provider, &"c1".into(), &user(name));
    let first = slot(acquire("mallory"));
    let waits = ["mallory", "mallory", "mallory", "riley", "riley", "sam"];
    let waits = waits.map(|name| (name, waiting(acquire(name)))).into();
    let order = served(&pool, waits, first);
    assert_eq!(order, ["riley", "sam", "mallory", "riley", "mallory", "mallory"]);
}

#[tokio::test]
async fn a_user_alone_has_all_slots_and_what_frees_goes_to_who_holds_the_fewest() {
    let (pool, provider) = pool();
    let _slots: Vec<_> = ["a"; 4].map(|it| join(&pool, &provider, it)).into();
    let acquire = |name: &str| pool.acquire(&provider, &"c1".into(), &user(name));
    let mut held: Vec<_> = (0..4).map(|_| slot(acquire("mallory"))).collect();
    let mut more: Vec<_> = (0..4).map(|_| waiting(acquire("mallory"))).collect();
    let [first, second, mut third] = ["riley"; 3].map(|name| waiting(acquire(name)));
    let mut theirs = Vec::new();
    for other in [first, second] {
        held.pop();
        theirs.push(other.slot().await.expect("before all others of mallory"));
    }
    // Two each: what mallory frees goes to mallory again.
    held.pop();
    assert!(third.try_slot().is_none() && more.remove(0).slot().await.is_some());
}

#[test]
fn streams_are_bounded_for_each_provider_and_in_all() {
    let (pool, provider) = pool();
    let mut permits: Vec<_> = (0..MAX_SLOTS_OF_PROVIDER).map(|_| pool.admit(&provider).unwrap()).collect();
    assert_eq!(pool.admit(&provider).unwrap_err(), End::TooManySlots(MAX_SLOTS));
    permits.pop();
    permits.push(pool.admit(&provider).unwrap());
    for other in 1..MAX_SLOTS / MAX_SLOTS_OF_PROVIDER {
        let other = ProviderName::from(&*format!("p{other}"));
        permits.extend((0..MAX_SLOTS_OF_PROVIDER).map(|_| pool.admit(&other).unwrap()));
    }
    assert_eq!(pool.admit(&"last".into()).unwrap_err(), End::TooManySlots(MAX_SLOTS));
    drop(permits);
    assert!(pool.admit(&"last".into()).is_ok());
}

#[tokio::test]
async fn a_call_takes_only_slots_of_its_catalogue() {
    let (pool, provider) = pool();
    let acquire = |catalogue: &str| pool.acquire(&provider, &catalogue.into(), &user("riley"));
    pool.supersede(&provider, &"c1".into(), &leave("newer"));
    let old_call = waiting(acquire("c1"));
    pool.announce(&provider, &"c2".into());
    let new_call = waiting(acquire("c2"));
    let (_new, _orders) = join_of(&pool, &provider, ("b", "c2"));
    assert!(new_call.slot().await.is_some_and(|lease| lease.instance() == Some("b")));
    let (_old, _orders) = join(&pool, &provider, "a");
    assert!(old_call.slot().await.is_some_and(|lease| lease.instance() == Some("a")));
    assert_eq!(pool.count("shop"), (2, 2));
    let mut leases: Vec<_> = ["c1", "c2"].map(|catalogue| slot(acquire(catalogue))).into();
    assert_eq!(leases.iter().map(Lease::instance).collect::<Vec<_>>(), [Some("a"), Some("b")]);
    let old_call = waiting(acquire("c1"));
    leases.pop();
    assert_eq!(pool.count("shop"), (2, 1), "idle, though a call waits");
    pool.supersede(&provider, &"c2".into(), &leave("newer"));
    assert_eq!(pool.count("shop"), (1, 1), "of what is in service");
    leases.clear();
    let last = old_call.slot().await.expect("the old slot, which has ended its call");
    assert_eq!(last.instance(), Some("a"));
    drop(last);
    assert!(matches!(acquire("c1"), Acquired::Superseded), "it left");
}

#[tokio::test]
async fn a_call_that_waits_for_the_last_slot_of_a_catalogue_ends_with_it() {
    let (pool, provider) = pool();
    let acquire = |catalogue: &str| pool.acquire(&provider, &catalogue.into(), &user("riley"));
    pool.supersede(&provider, &"c1".into(), &leave("newer"));
    let (old, _orders) = join(&pool, &provider, "a");
    let lease = slot(acquire("c1"));
    let old_call = waiting(acquire("c1"));
    pool.supersede(&provider, &"c2".into(), &leave("newer"));
    pool.remove(&old);
    assert!(old_call.slot().await.is_none());
    drop(lease);
}

#[test]
fn a_tool_of_the_same_definition_is_found_in_the_catalogue_that_took_over() {
    let (pool, provider) = pool();
    for (catalogue, tool, digest) in
        [("c1", "a", "d1"), ("c1", "b", "d1"), ("c2", "a", "d1"), ("c2", "b", "d2")]
    {
        pool.define(&provider, &catalogue.into(), tool, digest);
    }
    pool.supersede(&provider, &"c1".into(), &leave("newer"));
    assert_eq!(pool.find_equal(&provider, ("a", "d1")), Some("c1".into()));
    pool.supersede(&provider, &"c2".into(), &leave("newer"));
    assert_eq!(
        pool.find_equal(&provider, ("a", "d1")),
        None,
        "what was superseded is forgotten, and c2 was too"
    );
    pool.define(&provider, &"c3".into(), "a", "d1");
    pool.define(&provider, &"c3".into(), "b", "d2");
    pool.announce(&provider, &"c3".into());
    pool.supersede(&provider, &"c3".into(), &leave("newer"));
    assert_eq!(pool.find_equal(&provider, ("a", "d1")), Some("c3".into()));
    assert_eq!(pool.find_equal(&provider, ("b", "d1")), None, "another definition");
}

#[test]
fn definitions_of_a_catalogue_that_is_taken_back_are_forgotten() {
    let (pool, provider) = pool();
    pool.supersede(&provider, &"c1".into(), &leave("newer"));
    for number in 0..10 {
        let catalogue = CatalogueId::from(&*format!("refused{number}"));
        pool.announce(&provider, &catalogue);
        pool.define(&provider, &catalogue, "a", "d1");
        pool.retract(&provider, &catalogue);
    }
    assert!(pool.lock().providers[&provider].tools.is_empty());
}

#[test]
fn a_provider_is_forgotten_once_it_has_no_stream_and_no_call() {
    let (pool, provider) = pool();
    let permit = pool.admit(&provider).expect("a permit");
    assert!(!pool.forget(&provider));
    drop(permit);
    let call = waiting(pool.acquire(&provider, &"c1".into(), &user("riley")));
    assert!(!pool.forget(&provider));
    drop(call);
    assert!(pool.forget(&provider) && pool.lock().providers.is_empty());
}

#[test]
fn calls_of_a_catalogue_that_is_taken_back_have_nothing_to_wait_for() {
    let (pool, provider) = pool();
    pool.supersede(&provider, &"c1".into(), &leave("newer"));
    pool.announce(&provider, &"c2".into());
    pool.retract(&provider, &"c2".into());
    let acquire = |catalogue: &str| pool.acquire(&provider, &catalogue.into(), &user("riley"));
    assert!(matches!(acquire("c2"), Acquired::Superseded));
    let _waiting = waiting(acquire("c1"));
}

#[test]
fn slots_of_another_catalogue_are_idle_no_more_and_asked_to_leave() {
    let (pool, provider) = pool();
    let (old, mut commands) = join(&pool, &provider, "a");
    pool.supersede(&provider, &"c2".into(), &leave("newer"));
    assert!(matches!(commands.try_recv(), Ok(Command::Leave(it)) if it.reason == "newer"));
    assert_eq!(pool.count("shop"), (0, 0));
    pool.release(&old);
    assert_eq!(pool.count("shop"), (0, 0), "it does not come back by ending its call");
}
