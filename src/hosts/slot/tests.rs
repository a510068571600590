//! The protocol of a slot, message by message.

use std::time::Duration;

use proptest::prelude::*;
use prost::{Message as _, bytes::Bytes};

use super::*;
use toolwire_base::clock;
use toolwire_providers::bounds::MAX_OFFERS;

const STEP: Duration = Duration::from_secs(1);

fn hello() -> wire::Hello {
    wire::Hello {
        instance: "i1".into(),
        protocol: 1,
        catalogue_id: "c1".into(),
        sdk: "test/1".into(),
        ..wire::Hello::default()
    }
}

fn outcome(call: CallId) -> wire::Outcome {
    let outcome = Some(wire::outcome::Outcome::DataJson("{}".into()));
    wire::Outcome { call_id: call.to_string(), outcome }
}

/// One message of each kind, about the given call.
fn messages(call: CallId) -> [Message; 7] {
    let call_id = call.to_string();
    [
        Message::Hello(hello()),
        Message::Progress(wire::Progress { call_id: call_id.clone(), ..wire::Progress::default() }),
        Message::Chunk(wire::Chunk { call_id, data_json: "{}".into() }),
        Message::Outcome(outcome(call)),
        Message::Late(wire::Late { outcome: Some(outcome(call)) }),
        Message::Pong(wire::Pong {}),
        Message::Leaving(wire::Leaving {}),
    ]
}

fn greeting() -> Greeting {
    let now = clock::now();
    match Slot::open(now).receive(Some(Message::Hello(hello())), now) {
        Ok(Received::Greeting(greeting)) => greeting,
        other => panic!("{other:?}"),
    }
}

/// A slot in each state, with the call that it is about.
fn slot(state: &str, call: CallId, now: Instant) -> Slot {
    let mut slot = Slot::open(now);
    if state == "offering" {
        slot.ask_for_offers(greeting(), now);
    }
    if !matches!(state, "greeting" | "offering") {
        slot.welcome(now);
    }
    if state.starts_with("busy") {
        assert!(slot.start(call, now));
    }
    if matches!(state, "busy, leaving" | "leaving") {
        assert_eq!(slot.leave(now), Leave::Send);
    }
    slot
}

#[test]
fn each_state_allows_what_the_table_of_the_contract_says() {
    // Hello, Progress, Chunk, Outcome, Late, Pong, Leaving.
    let table = [
        ("greeting", [true, false, false, false, false, false, false]),
        ("offering", [true, false, false, false, false, false, false]),
        ("idle", [false, false, false, false, true, true, true]),
        ("busy", [false, true, true, true, true, true, true]),
        ("busy, leaving", [false, true, true, true, true, true, true]),
        ("leaving", [false, false, false, false, true, true, true]),
    ];
    let (call, now) = (CallId::generate(), clock::now());
    for (state, allowed) in table {
        for (message, is_allowed) in messages(call).into_iter().zip(allowed) {
            let received = slot(state, call, now).receive(Some(message.clone()), now);
            assert_eq!(received.is_ok(), is_allowed, "{state}: {message:?}: {received:?}");
            assert!(is_allowed || matches!(received, Err(End::Violation(_))), "{state}: {message:?}");
        }
        assert!(slot(state, call, now).receive(None, now).is_err(), "an unknown kind");
    }
}

#[test]
fn a_message_about_another_call_is_a_violation() {
    let (call, now) = (CallId::generate(), clock::now());
    for message in messages(CallId::generate()).into_iter().skip(1).take(3) {
        let received = slot("busy", call, now).receive(Some(message), now);
        assert!(matches!(received, Err(End::Violation(_))), "{received:?}");
    }
}

#[test]
fn an_outcome_makes_it_idle_and_after_leave_it_leaves() {
    let (call, now) = (CallId::generate(), clock::now());
    let mut busy = slot("busy", call, now);
    busy.receive(Some(Message::Outcome(outcome(call))), now).unwrap();
    assert!(busy.is_idle() && busy.start(CallId::generate(), now));
    let mut leaving = slot("busy, leaving", call, now);
    assert!(matches!(leaving.half_close(), End::Violation(_)));
    leaving.receive(Some(Message::Outcome(outcome(call))), now).unwrap();
    assert_eq!(leaving.half_close(), End::Left);
    assert!(!leaving.start(call, now), "it takes no more calls");
    assert_eq!(
        leaving.poll(now + HALF_CLOSE),
        Err(End::Left),
        "a host that does not half-close is not waited for"
    );
}

#[test]
fn only_a_slot_that_left_is_half_closed() {
    let (call, now) = (CallId::generate(), clock::now());
    for state in ["greeting", "offering", "idle", "busy", "busy, leaving"] {
        assert!(matches!(slot(state, call, now).half_close(), End::Violation(_)), "{state}");
    }
    assert_eq!(slot("leaving", call, now).half_close(), End::Left);
}

#[test]
fn leave_is_sent_once_and_not_before_the_welcome() {
    let (call, now) = (CallId::generate(), clock::now());
    for (state, leave) in [
        ("greeting", Leave::Ignore),
        ("offering", Leave::Ignore),
        ("idle", Leave::Send),
        ("busy", Leave::Send),
    ] {
        let mut slot = slot(state, call, now);
        assert_eq!((slot.leave(now), slot.leave(now)), (leave, Leave::Ignore), "{state}");
    }
}

#[test]
fn a_greeting_is_checked() {
    let now = clock::now();
    let first = |hello: wire::Hello| Slot::open(now).receive(Some(Message::Hello(hello)), now);
    assert_eq!(first(wire::Hello { protocol: 2, ..hello() }), Err(End::UnknownProtocol(2)));
    let long = "x".repeat(65);
    for bad in [
        wire::Hello { instance: String::new(), ..hello() },
        wire::Hello { instance: "a b".into(), ..hello() },
        wire::Hello { catalogue_id: long.clone(), ..hello() },
        wire::Hello { sdk: long, ..hello() },
        wire::Hello { offers: vec![Bytes::new()], ..hello() },
    ] {
        assert!(matches!(first(bad.clone()), Err(End::Violation(_))), "{bad:?}");
    }
    let second = |hello: wire::Hello| {
        slot("offering", CallId::generate(), now).receive(Some(Message::Hello(hello)), now)
    };
    let offers = vec![wire::Offer { name: "status".into(), ..wire::Offer::default() }; MAX_OFFERS];
    let encoded: Vec<Bytes> = offers.iter().map(|it| it.encode_to_vec().into()).collect();
    for bad in [vec![Bytes::new(); MAX_OFFERS + 1], vec![Bytes::from_static(b"\xff")]] {
        assert!(matches!(second(wire::Hello { offers: bad, ..hello() }), Err(End::Violation(_))));
    }
    assert!(matches!(second(wire::Hello { instance: "i2".into(), ..hello() }), Err(End::Violation(_))));
    assert_eq!(second(wire::Hello { offers: encoded, ..hello() }), Ok(Received::Offers(greeting(), offers)));
}

#[test]
fn a_greeting_that_takes_too_long_ends_the_stream() {
    let (call, now) = (CallId::generate(), clock::now());
    for (state, bound) in [("greeting", GREETING), ("offering", OFFERING)] {
        let mut slot = slot(state, call, now);
        assert_eq!(slot.poll(now + bound - STEP), Ok(Due::Nothing));
        assert!(matches!(slot.poll(now + bound), Err(End::Idle(_))), "{state}");
    }
}

#[test]
fn silence_in_one_direction_asks_for_pong_and_without_it_the_slot_is_lost() {
    let (call, now) = (CallId::generate(), clock::now());
    for state in ["idle", "busy"] {
        let mut slot = slot(state, call, now);
        // What is sent alone does not show that the host is there.
        slot.note_sent(now + SILENCE - STEP);
        assert_eq!(slot.poll(now + SILENCE - STEP), Ok(Due::Nothing));
        assert_eq!(slot.poll(now + SILENCE), Ok(Due::Ping));
        let pinged = now + SILENCE;
        assert_eq!(slot.next_poll(), pinged + PONG);
        slot.receive(Some(Message::Pong(wire::Pong {})), pinged + STEP).unwrap();
        assert_eq!(slot.poll(pinged + PONG), Ok(Due::Nothing));
        assert_eq!(slot.poll(pinged + SILENCE), Ok(Due::Ping));
        assert!(matches!(slot.poll(pinged + SILENCE + PONG), Err(End::Idle(_))), "{state}");
    }
}

#[test]
fn time_in_which_the_host_was_not_read_is_no_silence_of_it() {
    let now = clock::now();
    let mut slot = slot("busy", CallId::generate(), now);
    let later = now + SILENCE * 5;
    slot.resume_reading(later);
    slot.note_sent(later);
    assert_eq!(slot.poll(later), Ok(Due::Nothing));
}

proptest! {
    /// Whatever a host sends in whatever order, no call is started on a slot that has one, and each is ended once.
    #[test]
    fn starts_and_outcomes_alternate(steps in prop::collection::vec(0..9_usize, 1..60)) {
        let (call, mut now) = (CallId::generate(), clock::now());
        let mut slot = slot("idle", call, now);
        let mut is_under_way = false;
        for step in steps {
            now += STEP;
            match step {
                7 => {
                    let has_started = slot.start(call, now);
                    prop_assert!(!(has_started && is_under_way));
                    is_under_way |= has_started;
                }
                8 => {
                    slot.leave(now);
                }
                kind => match slot.receive(messages(call).into_iter().nth(kind), now) {
                    Ok(Received::Outcome(_)) => {
                        prop_assert!(is_under_way);
                        is_under_way = false;
                    }
                    Ok(Received::Progress { .. } | Received::Chunk(_)) => prop_assert!(is_under_way),
                    Ok(_) => {}
                    Err(_) => break,
                },
            }
            prop_assert_eq!(slot.is_idle() && is_under_way, false);
        }
    }
}
