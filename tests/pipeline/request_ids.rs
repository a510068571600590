//! Calls with a `request_id`: recorded first, carried out once, answered alike.

use std::{fmt, future::ready};

use toolwire::state::idempotency::Bound;

use super::*;

/// A store that takes its time over what is new, as one that writes to a disk does.
#[derive(Debug, Default)]
struct SlowStore(MemoryIdempotency);

impl Idempotency for SlowStore {
    fn begin<'a>(&'a self, call: Beginning<'a>) -> BoxFuture<'a, Begun> {
        Box::pin(async move {
            let begun = self.0.begin(call).await;
            if matches!(begun, Begun::New) {
                sleep(Duration::from_millis(10)).await;
            }
            begun
        })
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.end(key, result)
    }

    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.suspend(key)
    }

    fn forget<'a>(&'a self, key: &'a Key, code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.forget(key, code)
    }
}

/// A store that answers every beginning alike, and takes every end.
struct Answering<F>(F);

impl<F> fmt::Debug for Answering<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answering")
    }
}

impl<F: Fn() -> Begun + Send + Sync> Idempotency for Answering<F> {
    fn begin<'a>(&'a self, _call: Beginning<'a>) -> BoxFuture<'a, Begun> {
        Box::pin(ready((self.0)()))
    }

    fn end<'a>(&'a self, _key: &'a Key, _result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    fn suspend<'a>(&'a self, _key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }

    fn forget<'a>(&'a self, _key: &'a Key, _code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }
}

/// A bench whose store is full, and will have room in a day.
fn full_bench(bound: Bound) -> Bench {
    let full = move || Begun::Full { until: clock::wall() + Effect::Write.retention(), bound };
    Bench::storing(Answering(full))
}

#[tokio::test]
async fn a_full_share_refuses_writes_until_the_oldest_is_forgotten_and_no_read() {
    let bench = full_bench(Bound::User);
    let refusal = bench.run(write(RequestId::generate(), "x", "0s")).await.unwrap_err();
    let Refusal::TooManyRequestIds { retry_after } = &refusal else { panic!("{refusal:?}") };
    assert!(refusal.to_string().contains("the oldest is forgotten in"), "{refusal}");
    let day = Effect::Write.retention();
    assert!(*retry_after <= day && *retry_after + Duration::from_mins(1) > day, "{retry_after:?}");
    for _ in 0..3 {
        let mut read = Bench::call("debug_sleep", json!({"duration": "0s"}));
        read.request_id = Some(RequestId::generate());
        result(bench.run(read).await);
    }
}

#[tokio::test]
async fn a_share_of_all_the_room_that_is_more_than_fair_refuses_writes_and_says_whose_they_are() {
    let bench = full_bench(Bound::All);
    let refusal = bench.run(write(RequestId::generate(), "x", "0s")).await.unwrap_err();
    let Refusal::TooManyRequestIdsInAll { retry_after } = &refusal else { panic!("{refusal:?}") };
    assert!(refusal.to_string().contains("the writes of all users"), "{refusal}");
    assert!(*retry_after <= Effect::Write.retention() && *retry_after > Duration::from_hours(23));
}

#[tokio::test]
async fn a_write_that_another_process_began_may_run_until_the_cap_and_no_longer() {
    for (since, may_run) in [(Duration::from_mins(1), true), (Duration::from_secs(121), false)] {
        let begun = clock::wall() - since;
        let bench = Bench::storing(Answering(move || Begun::Unfinished { begun }));
        let error =
            result(bench.run(write(RequestId::generate(), "x", "0s")).await).outcome.expect_err("unknown");
        assert_eq!((error.code, error.retryable), (ErrorCode::OutcomeUnknown, may_run), "{error:?}");
    }
}

#[tokio::test]
async fn a_write_needs_a_request_id() {
    let bench = Bench::new();
    let refusal = bench.run(Bench::call("debug_write", json!({"value": "x"}))).await.unwrap_err();
    assert!(refusal.to_string().contains("request_id is required"), "{refusal}");
}

#[tokio::test(start_paused = true)]
async fn a_repeat_has_the_same_outcome_and_does_nothing_again() {
    let bench = Bench::new();
    let id = RequestId::generate();
    let first = result(bench.run(write(id, "x", "0s")).await);
    advance(Duration::from_secs(5)).await;
    let repeat = result(bench.run(write(id, "x", "0s")).await);
    assert_eq!(repeat.outcome.expect("data").json(), first.outcome.expect("data").json());

    let refusal = bench.run(write(id, "y", "0s")).await.unwrap_err();
    assert_eq!(refusal, Refusal::RequestIdReused { request_id: id.to_string() });

    let second = result(bench.run(write(RequestId::generate(), "x", "0s")).await);
    assert_eq!(second.outcome.expect("data").json()["writes"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_write_outlives_its_caller_and_the_repeat_attaches() {
    let bench = Bench::new();
    let id = RequestId::generate();
    let mut call = write(id, "x", "10s");
    call.context.deadline = call.context.deadline.no_later_than(clock::now() + Duration::from_secs(1));
    assert_eq!(bench.run(call).await.unwrap_err(), Refusal::DeadlineExceeded);

    let started = clock::now();
    let attached = result(bench.run(write(id, "x", "10s")).await);
    assert_eq!(attached.outcome.expect("data").json()["writes"], 1);
    assert_eq!(clock::now() - started, Duration::from_secs(9));
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_caller_leaves_goes_on() {
    let bench = Bench::new();
    let id = RequestId::generate();
    let stream = bench.pipeline.start(write(id, "x", "10s")).await.expect("accepted");
    drop(stream);
    sleep(Duration::from_secs(11)).await;
    let repeat = result(bench.run(write(id, "x", "10s")).await);
    assert_eq!(repeat.outcome.expect("data").json()["writes"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_beyond_its_time_out_has_an_unknown_outcome_until_it_ends() {
    let bench = Bench::with_manifest("debug_write", &json!({"timeout_ms": 1000}));
    let id = RequestId::generate();
    assert_eq!(error(bench.run(write(id, "x", "1.5s")).await).0, ErrorCode::OutcomeUnknown);
    let attached = result(bench.run(write(id, "x", "1.5s")).await);
    assert_eq!(attached.outcome.expect("data").json()["writes"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_says_so_and_only_its_own_user_can_cancel_it() {
    let bench = Bench::new();
    let call = Bench::call("debug_sleep", json!({"duration": "5s"}));
    let (user, call_id) = (call.context.user.id.clone(), call.context.call_id);
    let stream = bench.pipeline.start(call).await.expect("accepted");
    let other = "other".parse().expect("valid");
    assert!(bench.pipeline.in_flight().cancel(&other, CallSelector::Call(call_id)).is_none());
    assert!(bench.pipeline.in_flight().cancel(&user, CallSelector::Call(CallId::generate())).is_none());
    assert!(bench.pipeline.in_flight().cancel(&user, CallSelector::Call(call_id)).is_some());
    let expected = (ErrorCode::Cancelled, "Request was cancelled".to_owned());
    assert_eq!(error(stream.terminal().await), expected);
    assert!(bench.pipeline.in_flight().is_empty());
}

#[tokio::test(start_paused = true)]
async fn two_readers_of_one_request_share_its_work_until_the_last_one_leaves() {
    let bench = Bench::new();
    let id = RequestId::generate();
    let sleep_once = || {
        let mut call = Bench::call("debug_sleep", json!({"duration": "4s"}));
        call.request_id = Some(id);
        call
    };
    let first = bench.pipeline.start(sleep_once()).await.expect("accepted");
    sleep(Duration::from_secs(1)).await;
    let second = bench.pipeline.start(sleep_once()).await.expect("accepted");
    drop(first);
    let started = clock::now();
    assert!(result(second.terminal().await).outcome.is_ok());
    assert_eq!(clock::now() - started, Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn two_writers_of_one_request_at_the_same_instant_share_its_work() {
    let bench = Bench::storing(SlowStore::default());
    let id = RequestId::generate();
    let (first, second) = tokio::join!(bench.run(write(id, "x", "1s")), bench.run(write(id, "x", "1s")));
    for end in [first, second] {
        assert_eq!(result(end).outcome.expect("data").json()["writes"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_caller_leaves_while_it_is_recorded_is_carried_out() {
    let bench = Bench::storing(SlowStore::default());
    let id = RequestId::generate();
    let mut call = write(id, "x", "1s");
    call.context.deadline = call.context.deadline.no_later_than(clock::now() + Duration::from_millis(5));
    assert_eq!(bench.run(call).await.unwrap_err(), Refusal::DeadlineExceeded);
    assert!(!bench.pipeline.in_flight().is_empty(), "who ends the server waits for it");
    bench.pipeline.in_flight().wait_until_empty().await;
    let repeat = result(bench.run(write(id, "x", "1s")).await);
    assert_eq!(repeat.outcome.expect("data").json()["writes"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_cancelled_while_it_is_recorded_is_only_told() {
    let bench = Arc::new(Bench::storing(SlowStore::default()));
    let id = RequestId::generate();
    let first = tokio::spawn({
        let bench = Arc::clone(&bench);
        async move { bench.run(write(id, "x", "1s")).await }
    });
    sleep(Duration::from_millis(5)).await;
    assert!(
        bench.pipeline.in_flight().cancel(&crate::support::user_id(), CallSelector::Request(id)).is_some()
    );
    assert_eq!(result(first.await.expect("no panic")).outcome.expect("data").json()["writes"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_cancelled_before_its_turn_looks_at_no_record() {
    let bench = Arc::new(Bench::storing(SlowStore::default()));
    let id = RequestId::generate();
    let run = |call: Call| {
        let bench = Arc::clone(&bench);
        tokio::spawn(async move { bench.run(call).await })
    };
    let first = run(write(id, "x", "1s"));
    sleep(Duration::from_millis(1)).await;
    let second = write(id, "x", "1s");
    let (user, call_id) = (crate::support::user_id(), second.context.call_id);
    let second = run(second);
    sleep(Duration::from_millis(1)).await;
    assert!(bench.pipeline.in_flight().cancel(&user, CallSelector::Call(call_id)).is_some());
    assert_eq!(error(second.await.expect("no panic")).0, ErrorCode::Cancelled);
    assert_eq!(result(first.await.expect("no panic")).outcome.expect("data").json()["writes"], 1);
}

#[tokio::test]
async fn a_call_that_cannot_be_recorded_is_refused_and_not_carried_out() {
    let broken = || Begun::Unavailable(StoreError::Nowhere("disk full: /secret/path".to_owned()));
    let bench = Bench::storing(Answering(broken));
    let refusal = bench.run(write(RequestId::generate(), "x", "0s")).await.unwrap_err();
    assert_eq!(refusal, Refusal::StateUnavailable { retry_after: Duration::from_secs(5) });
    assert!(!refusal.to_string().contains("secret"), "the detail is for operators: {refusal}");
    assert!(bench.pipeline.in_flight().is_empty());
    // What needs no record is carried out.
    let reads = bench.run(Bench::call("get_quotes", json!({"symbol": "AAPL"}))).await;
    assert!(result(reads).outcome.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_repeated_outer_call_meets_the_outcomes_of_its_nested_writes() {
    let bench = Bench::new();
    let outer = || Lineage::of(CallId::generate()).with_request_id(RequestId::generate());
    let first = outer();
    let attempt = async |lineage: &Lineage| {
        let parent =
            ToolContext { lineage: lineage.again(), ..Bench::call("debug_nested", json!({})).context };
        let mut writes = Vec::new();
        for _ in 0..2 {
            let input = arguments(json!({"value": "x", "duration": "0s"}));
            let (payload, _) = bench.pipeline.call_tool(&parent, "debug_write", input).await.expect("data");
            writes.push(payload.json()["writes"].clone());
        }
        writes
    };
    assert_eq!(attempt(&first).await, [1, 2]);
    assert_eq!(attempt(&first).await, [1, 2]);
    assert_eq!(attempt(&outer()).await, [3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_write_is_told_and_whoever_waits_for_it_learns_its_outcome() {
    let bench = Bench::new();
    let id = RequestId::generate();
    let first = bench.pipeline.start(write(id, "x", "10s")).await.expect("accepted");
    let second = bench.pipeline.start(write(id, "x", "10s")).await.expect("accepted");
    sleep(Duration::from_secs(1)).await;
    assert!(
        bench.pipeline.in_flight().cancel(&crate::support::user_id(), CallSelector::Request(id)).is_some()
    );
    for waiting in [first, second] {
        assert_eq!(result(waiting.terminal().await).outcome.expect("data").json()["writes"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_write_that_goes_on_still_ends_for_its_caller_at_the_deadline() {
    let bench = Bench::new();
    let id = RequestId::generate();
    let mut call = write(id, "x", "10s");
    call.context.deadline = call.context.deadline.no_later_than(clock::now() + Duration::from_secs(5));
    let waiting = bench.pipeline.start(call).await.expect("accepted");
    sleep(Duration::from_secs(1)).await;
    assert!(
        bench.pipeline.in_flight().cancel(&crate::support::user_id(), CallSelector::Request(id)).is_some()
    );
    assert_eq!(waiting.terminal().await.unwrap_err(), Refusal::DeadlineExceeded);
}

#[tokio::test(start_paused = true)]
async fn a_nested_write_has_no_more_time_than_the_outermost_call() {
    let bench = Bench::new();
    let mut parent = Bench::call("debug_nested", json!({})).context;
    parent.deadline = parent.deadline.cap(clock::now() + Duration::from_secs(2));
    let started = clock::now();
    let input = arguments(json!({"value": "x", "duration": "10s"}));
    assert!(bench.pipeline.call_tool(&parent, "debug_write", input).await.is_err());
    bench.pipeline.in_flight().wait_until_empty().await;
    assert_eq!(clock::now() - started, Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_read_that_may_succeed_later_is_read_again() {
    let bench = Bench::new();
    for (code, is_kept) in [("TIMEOUT", false), ("UNAVAILABLE", false), ("NOT_FOUND", true)] {
        let id = RequestId::generate();
        let fail = || Call { request_id: Some(id), ..Bench::call("debug_fail", json!({"code": code})) };
        assert!(result(bench.run(fail()).await).outcome.is_err());
        let repeat = fail();
        let facts = Arc::clone(&repeat.facts);
        assert!(result(bench.run(repeat).await).outcome.is_err());
        assert_eq!(facts.is_cache_hit(), is_kept, "{code}");
    }
}
