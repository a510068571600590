//! What each holds, and the end of the largest beyond a bound.

use std::task::{Context, Poll};

use super::*;

const KIB: usize = 1024;

fn backlog(connection: usize, user: usize, all: usize) -> Backlog {
    Backlog::new(Bounds { connection: connection * KIB, user: user * KIB, all: all * KIB })
}

#[test]
fn bytes_count_for_their_stream_connection_user_and_all_until_they_are_dropped() {
    let backlog = backlog(100, 100, 100);
    let (one, two) = (backlog.connection(), backlog.connection());
    let (a, b) = (one.stream("a"), two.stream("a"));
    let (first, mut second) = (a.acquire(10).unwrap(), b.acquire(20).unwrap());
    assert_eq!((one.held(), two.held(), backlog.held_for("a"), backlog.held()), (10, 20, 30, 30));
    let part = second.split(5);
    drop(second);
    assert_eq!((b.held(), backlog.held()), (5, 15));
    drop((first, part));
    assert_eq!((one.held(), two.held(), backlog.held_for("a"), backlog.held()), (0, 0, 0, 0));
    drop((a, b, one, two));
    assert!(lock(&backlog.0.users).is_empty() && lock(&backlog.0.connections).is_empty());
}

#[test]
fn bytes_in_transit_count_once_in_whichever_form_they_are() {
    let backlog = backlog(100, 100, 100);
    let connection = backlog.connection();
    let stream = connection.stream("a");
    stream.acquire(100).unwrap().pass_on();
    assert_eq!(backlog.held(), 100, "the event");
    stream.pass_on(130).unwrap();
    assert_eq!(backlog.held(), 130, "the message made of it");
    let frame = stream.take_up(120);
    assert_eq!(backlog.held(), 120, "the frame");
    stream.acquire(7).unwrap().pass_on();
    drop(frame);
    assert_eq!(backlog.held(), 7);
    stream.detach();
    assert_eq!(backlog.held(), 0);
}

#[test]
fn beyond_the_bound_of_a_user_its_largest_stream_ends_and_no_smaller_one() {
    let backlog = backlog(1_000, 100, 1_000);
    let connection = backlog.connection();
    let (large, small, other) = (connection.stream("a"), connection.stream("a"), connection.stream("b"));
    let held = large.acquire(90 * KIB).unwrap();
    let _others = other.acquire(95 * KIB).unwrap();
    let _small = small.acquire(20 * KIB).expect("the larger one ends");
    assert_eq!((large.ended(), small.ended(), other.ended()), (Some(Bound::User), None, None));
    assert!(large.acquire(1).is_err(), "it makes no more");
    drop(held);
    let larger = connection.stream("a");
    assert_eq!(larger.acquire(90 * KIB).err(), Some(Bound::User), "nobody holds more than it would");
    assert_eq!((larger.held(), backlog.held_for("a"), small.ended()), (0, 20 * KIB, None));
}

#[test]
fn of_equal_streams_the_newest_fails() {
    let backlog = backlog(1_000, 100, 1_000);
    let connection = backlog.connection();
    let streams: Vec<_> = (0..40).map(|_| connection.stream("a")).collect();
    let permits: Vec<_> = streams.iter().filter_map(|it| it.acquire(20 * KIB).ok()).collect();
    assert_eq!(permits.len(), 5);
    assert!(streams[..5].iter().all(|it| it.ended().is_none()) && backlog.held() == 100 * KIB);
}

#[test]
fn beyond_the_bound_of_all_the_largest_user_gives_way() {
    let backlog = backlog(1_000, 100, 150);
    let connections = [backlog.connection(), backlog.connection()];
    let hogs: Vec<_> = (0..5).map(|_| connections[0].stream("hog")).collect();
    let _held: Vec<_> = hogs.iter().map(|it| it.acquire(20 * KIB).unwrap()).collect();
    let quiet = connections[1].stream("quiet");
    let _quiet = quiet.acquire(35 * KIB).unwrap();
    let newcomer = connections[1].stream("new");
    let _new = newcomer.acquire(30 * KIB).expect("the largest user makes room");
    assert_eq!(hogs.iter().filter(|it| it.ended() == Some(Bound::All)).count(), 1);
    assert_eq!((quiet.ended(), newcomer.ended()), (None, None));
    let more = connections[0].stream("hog");
    assert!(more.acquire(21 * KIB).is_err(), "none of its streams holds more");
}

#[test]
fn while_ended_streams_free_nothing_yet_little_more_is_taken() {
    let backlog = backlog(1_000, 100, 1_000);
    let connection = backlog.connection();
    let stalled: Vec<_> = (0..2).map(|_| connection.stream("a")).collect();
    let _held: Vec<_> = stalled.iter().map(|it| it.acquire(50 * KIB).unwrap()).collect();
    let newcomers: Vec<_> = (0..40).map(|_| connection.stream("a")).collect();
    let taken: Vec<_> = newcomers.iter().filter_map(|it| it.acquire(16 * KIB).ok()).collect();
    assert!(taken.is_empty() && backlog.held() == 100 * KIB, "{} of {}", taken.len(), backlog.held());
    assert!(connection.stream("a").acquire(KIB).is_ok(), "a small answer comes");
}

#[test]
fn a_connection_has_a_bound_over_its_users() {
    let backlog = backlog(100, 100, 1_000);
    let (proxy, other) = (backlog.connection(), backlog.connection());
    let streams: Vec<_> = ["a", "b", "c"].map(|user| proxy.stream(user)).into();
    let _held: Vec<_> = streams.iter().filter_map(|it| it.acquire(40 * KIB).ok()).collect();
    assert_eq!(streams[2].ended(), Some(Bound::Connection));
    assert!(other.stream("c").acquire(40 * KIB).is_ok());
}

#[test]
fn what_only_a_connection_has_is_freed_by_closing_it() {
    let backlog = backlog(1_000, 100, 1_000);
    let (stuck, good) = (backlog.connection(), backlog.connection());
    let sent = stuck.stream("a");
    let _frames = sent.count(90 * KIB);
    sent.detach();
    assert!(good.stream("a").acquire(20 * KIB).is_ok());
    assert!(stuck.is_closed() && !good.is_closed());
}

#[test]
fn many_small_responses_that_a_connection_keeps_count_too() {
    let backlog = backlog(1_000, 100, 1_000);
    let (stuck, good) = (backlog.connection(), backlog.connection());
    let small: Vec<_> = (0..100).map(|_| stuck.stream("a").count(KIB)).collect();
    assert!(good.stream("a").acquire(KIB).is_ok() && stuck.is_closed() && !good.is_closed());
    drop(small);
    assert_eq!(backlog.held(), 0);
}

#[test]
fn whoever_waits_for_the_end_is_woken_and_one_reports_it() {
    let backlog = backlog(1_000, 10, 1_000);
    let stream = backlog.connection().stream("a");
    let cx = Context::from_waker(Waker::noop());
    assert!(stream.poll_ended(&cx).is_pending());
    assert!(stream.acquire(11 * KIB).is_err());
    assert_eq!(stream.poll_ended(&cx), Poll::Ready(Bound::User));
    assert_eq!((stream.take_report(), stream.take_report()), (Some(Bound::User), None));
    assert!(stream.try_acquire(11 * KIB).is_none() && backlog.held() == 0);
}
