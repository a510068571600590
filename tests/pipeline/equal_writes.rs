//! A write without a `request_id` whose caller lost the answer is not made twice, if the caller asks for it.
//!
//! With the clock of the machine: the state has a thread of its own, which a paused clock would overtake.

use futures_util::future::join_all;
use toolwire::{engine::pipeline::CallOptions, state::Store};

use super::*;

fn bench() -> Bench {
    Bench::recording_in(&Arc::new(Store::in_memory()))
}

fn resuming(value: &str, duration: &str) -> Call {
    let mut call = Bench::call("debug_write", json!({"value": value, "duration": duration}));
    call.options = CallOptions { resume_equal_write: true, ..CallOptions::default() }.if_any();
    call
}

#[track_caller]
fn writes(end: Result<Terminal, Refusal>) -> u64 {
    result(end).outcome.expect("data").json()["writes"].as_u64().expect("a number")
}

/// Lets a call begin, and its caller leave.
async fn lose(bench: &Bench, call: Call) {
    drop(bench.pipeline.start(call).await.expect("accepted"));
}

#[tokio::test]
async fn a_call_whose_answer_was_lost_is_repeated_without_another_write() {
    let bench = bench();
    for expected in 1..=3 {
        lose(&bench, resuming("x", "0.05s")).await;
        lose(&bench, resuming("x", "0.05s")).await;
        assert_eq!(writes(bench.run(resuming("x", "0.05s")).await), expected);
    }
    assert_eq!(writes(bench.run(resuming("y", "0s")).await), 4, "other arguments are another write");
}

#[tokio::test]
async fn an_answer_that_waits_untaken_was_not_delivered() {
    let bench = bench();
    let stream = bench.pipeline.start(resuming("x", "0s")).await.expect("accepted");
    while !bench.pipeline.in_flight().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(stream);
    assert_eq!(writes(bench.run(resuming("x", "0s")).await), 1);
}

#[tokio::test]
async fn equal_calls_at_the_same_instant_are_one_write() {
    let bench = bench();
    let ends = join_all((0..16).map(|_| bench.run(resuming("x", "0.5s")))).await;
    assert!(ends.into_iter().all(|end| writes(end) == 1));
}

#[tokio::test]
async fn without_the_option_nothing_is_lent() {
    let bench = bench();
    lose(&bench, resuming("x", "0.05s")).await;
    let refusal = bench.run(Bench::call("debug_write", json!({"value": "x"}))).await.unwrap_err();
    assert!(refusal.to_string().contains("request_id is required"), "{refusal}");
    assert_eq!(writes(bench.run(write(RequestId::generate(), "x", "0.05s")).await), 2);
}

/// A caller that gives identifiers means another write by another one; a repeat that lost its own is lent it.
#[tokio::test]
async fn a_call_with_a_request_id_keeps_it_and_lends_it() {
    let bench = bench();
    let with_own = |request_id| {
        let mut call = resuming("x", "0.05s");
        call.request_id = Some(request_id);
        call
    };
    let id = RequestId::generate();
    lose(&bench, with_own(id)).await;
    assert_eq!(writes(bench.run(with_own(RequestId::generate())).await), 2);
    let repeat = resuming("x", "0.05s");
    let facts = Arc::clone(&repeat.facts);
    writes(bench.run(repeat).await);
    assert_eq!(facts.resumed_request_id(), Some(id));
    assert_eq!(writes(bench.run(resuming("x", "0.05s")).await), 3);
}

#[tokio::test]
async fn an_unknown_outcome_is_lent_until_it_is_known() {
    let store = Arc::new(Store::in_memory());
    let bench = Bench::recording_in(&store);
    let mut call = resuming("x", "0.3s");
    call.context.deadline = call.context.deadline.no_later_than(clock::now() + Duration::from_millis(50));
    assert_eq!(bench.run(call).await.unwrap_err(), Refusal::DeadlineExceeded);
    assert_eq!(writes(bench.run(resuming("x", "0.3s")).await), 1);
    assert_eq!(writes(bench.run(resuming("x", "0.3s")).await), 2);
}

#[tokio::test]
async fn a_read_is_never_given_a_request_id() {
    let bench = bench();
    let mut read = Bench::call("debug_sleep", json!({"duration": "0s"}));
    read.options = CallOptions { resume_equal_write: true, ..CallOptions::default() }.if_any();
    let facts = Arc::clone(&read.facts);
    result(bench.run(read).await);
    assert_eq!(facts.resumed_request_id(), None);
}
