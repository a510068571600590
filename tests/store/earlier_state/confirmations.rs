//! Confirmations, and calls with a `request_id`.

use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use toolwire::{
    base::clock,
    state::{
        Store,
        confirmations::{Admission, Confirmation, Decided, Decision, Verdict, life::State},
        idempotency::{About, Beginning, Begun, Effect},
    },
    tool::context::{CallId, KnownBy},
};

use super::{super::user, WAITS, assert_sound, each, lines, output, request_id, unpack};

/// The confirmation of a call whose summary has this text.
async fn find(store: &Store, all: &[Value], summary: &str) -> Confirmation {
    let id = all.iter().find(|it| it["summary"].as_str().unwrap().contains(summary)).unwrap();
    let id = id["confirmation_id"].as_str().unwrap().parse().unwrap();
    store.at_time(clock::wall()).confirmation(&id).await.unwrap().unwrap()
}

async fn decide(store: &Store, confirmation: &Confirmation, verdict: Verdict) -> State {
    let (by, via) = (user("alex"), "grpc".to_owned());
    let decided = Decided { at: clock::wall(), by, via, on_behalf_of: String::new() };
    let (reason, known_by) = ("because".to_owned(), KnownBy::Token);
    let decision = Decision { verdict, decided, reason, known_by, peer: None, workload: None };
    let outcome = store.decide_confirmation(&confirmation.id, &decision).await.unwrap().unwrap();
    assert!(outcome.holds, "{outcome:?}");
    outcome.confirmation.state
}

/// Makes the call of a confirmation again.
async fn begin(store: &Store, confirmation: &Confirmation) -> Admission {
    let asked = &confirmation.asked;
    let about = About::of(CallId::generate(), asked.definition_digest);
    let (key, digest, now) = (&confirmation.key, confirmation.arguments_digest, clock::wall());
    let begins = Beginning { key, effect: Effect::Write, digest, about: &about };
    store.at_time(now).begin_confirmed(begins, asked, Duration::from_mins(10)).await
}

#[tokio::test]
async fn confirmations_are_listed_decided_and_used() {
    let state = unpack();
    let all = lines(&state, &["confirmations", "--all"]);
    let states = each(&all, "state").into_iter().map(|it| it.trim_start_matches("CONFIRMATION_STATE_"));
    let expected = "PENDING PENDING PENDING PENDING PENDING USED WITHDRAWN DENIED USED WITHDRAWN DENIED USED APPROVED \
                    VOIDED EXPIRED";
    assert_eq!(states.collect::<Vec<_>>().join(" "), expected);
    assert_eq!(lines(&state, &["confirmations", "--user", "riley"]).len(), 1);

    let store = Store::at(state.path());
    let approved = find(&store, &all, "approved, not made again").await;
    assert_eq!(approved.decided.as_ref().unwrap().on_behalf_of, "Zoë of the board");
    let pending = find(&store, &all, r#""wait""#).await;
    let definition_digest = Some(pending.asked.definition_digest);
    let use_within = Duration::from_mins(10);
    let approve = Verdict::Approve { use_within, definition_digest };
    assert_eq!(decide(&store, &pending, approve).await, State::Approved);
    for confirmation in [approved, pending] {
        let begun = begin(&store, &confirmation).await;
        assert!(matches!(begun, Admission::Begun(Begun::New)), "{begun:?}");
        let used = store.at_time(clock::wall()).confirmation(&confirmation.id).await.unwrap().unwrap();
        assert_eq!(used.state, State::Used);
    }
    let of_task = find(&store, &all, "buy a lamp").await;
    assert_eq!(decide(&store, &of_task, Verdict::Deny).await, State::Denied);
    let timeline = lines(&state, &["timeline", WAITS]);
    assert_eq!(timeline.last().unwrap()["decision"]["confirmation_id"], of_task.id.as_str());
    assert_sound(&state);
}

/// What a call made again under its `request_id` prints, on both streams.
fn repeat(state: &TempDir, digits: u8, arguments: &[&str]) -> String {
    let request_id = request_id(digits);
    let ended = output(state, &[&["call"], arguments, &["--request-id", &request_id]].concat());
    [ended.stdout, ended.stderr].map(|stream| String::from_utf8(stream).unwrap()).concat()
}

#[test]
fn calls_are_answered_from_their_records() {
    let state = unpack();
    for (digits, arguments, answer) in [
        (10, ["debug_write", "value=kept: naïve ₹", "duration=0s"], r#""writes": 2"#),
        (5, ["debug_confirm", "value=gekauft für 5 €", "duration=0s"], r#""writes": 1"#),
        (6, ["debug_confirm", "value=no", "duration=0s"], "CONFIRMATION_DENIED"),
        (1, ["debug_confirm", "value=too late", "duration=0s"], "CONFIRMATION_EXPIRED"),
        (92, ["debug_write", "value=left", "duration=60s"], "OUTCOME_UNKNOWN"),
        (10, ["debug_write", "value=another", "duration=0s"], "ALREADY_EXISTS"),
    ] {
        let printed = repeat(&state, digits, &arguments);
        assert!(printed.contains(answer), "{arguments:?}: {printed}");
    }
    let calls = lines(&state, &["calls"]);
    let with = |state: &str| each(&calls, "state").into_iter().filter(|it| *it == state).count();
    let states = ["SUCCEEDED", "AWAITING_CONFIRMATION", "OUTCOME_UNKNOWN", "FAILED", "CANCELLED"];
    assert_eq!(states.map(|it| with(&format!("CALL_STATE_{it}"))), [30, 8, 3, 3, 2]);
    let audit = lines(&state, &["audit"]);
    let withdrawn = each(&audit, "verdict").into_iter().filter(|it| *it == "AUDIT_VERDICT_WITHDRAWN").count();
    assert_eq!((audit.len(), withdrawn), (65, 2));
    assert_sound(&state);
}
