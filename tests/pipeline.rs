//! What the pipeline promises, in process and with time under control.

mod support;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::time::{advance, sleep, timeout};
use toolwire::{
    clock,
    context::{CallId, CallTools, Lineage, RequestId, StopCause, ToolContext},
    contract::{ErrorCode, Event, Refusal, Terminal, ToolError, ToolResult},
    pipeline::{Call, Step, Which},
    store::{
        MemoryIdempotency, StoreError,
        idempotency::{ArgumentsDigest, Begun, Idempotency, Key},
    },
};

use support::{Bench, arguments};

/// A store that takes its time over what is new, as one that writes to a disk does.
#[derive(Debug, Default)]
struct SlowStore(MemoryIdempotency);

impl Idempotency for SlowStore {
    fn begin<'a>(&'a self, key: &'a Key, digest: ArgumentsDigest, now: SystemTime) -> BoxFuture<'a, Begun> {
        Box::pin(async move {
            let begun = self.0.begin(key, digest, now).await;
            if matches!(begun, Begun::New) {
                sleep(Duration::from_millis(10)).await;
            }
            begun
        })
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.end(key, result)
    }

    fn forget<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.forget(key)
    }
}

/// A store that cannot record anything.
#[derive(Debug)]
struct BrokenStore;

impl Idempotency for BrokenStore {
    fn begin<'a>(
        &'a self,
        _key: &'a Key,
        _digest: ArgumentsDigest,
        _now: SystemTime,
    ) -> BoxFuture<'a, Begun> {
        Box::pin(async { Begun::Unavailable(StoreError::Nowhere("disk full: /secret/path".to_owned())) })
    }

    fn end<'a>(&'a self, _key: &'a Key, _result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        unreachable!("nothing begins")
    }

    fn forget<'a>(&'a self, _key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        unreachable!("nothing begins")
    }
}

#[track_caller]
fn result(end: Result<Terminal, Refusal>) -> ToolResult {
    match end.expect("not refused") {
        Terminal::Result(result) => result,
        Terminal::ConfirmationRequired(it) => panic!("awaits {it:?}"),
    }
}

#[track_caller]
fn error(end: Result<Terminal, Refusal>) -> (ErrorCode, String) {
    let error = result(end).outcome.expect_err("an error");
    (error.code, error.message)
}

fn write(request_id: RequestId, value: &str, duration: &str) -> Call {
    let mut call = Bench::call("debug_write", json!({"value": value, "duration": duration}));
    call.request_id = Some(request_id);
    call
}

/// Carries a call out and holds its result to spec 001's constraints. Returns how it failed, if it did.
async fn constrained(bench: &Bench, mut call: Call) -> Option<ToolError> {
    let tool = call.target.as_str().to_owned();
    let arrived = call.arrived.wall;
    call.request_id = Some(RequestId::generate());
    // 3: it never throws.
    let result = result(bench.run(call).await);
    assert_eq!(result.tool, tool);
    let failure = result.outcome.as_ref().err().cloned();
    // 4: the time is that of the attempt, on errors too.
    assert_eq!(result.fetched_at, arrived, "{tool}");
    let wire = support::wire_json(result);
    let keys: Vec<_> = wire.as_object().expect("an object").keys().map(String::as_str).collect();
    // 1 and 2: no flag of success, and the time has its one name.
    assert!(!keys.contains(&"success") && !keys.contains(&"timestamp"), "{tool}: {keys:?}");
    assert!(keys.contains(&"fetchedAt"), "{tool}: {keys:?}");
    // 5: data or an error.
    assert_ne!(keys.contains(&"data"), keys.contains(&"error"), "{tool}: {wire}");
    assert_eq!(keys.contains(&"error"), failure.is_some(), "{tool}: {wire}");
    failure
}

#[tokio::test]
async fn every_tool_and_every_kind_of_failure_keeps_the_five_constraints_of_a_result() {
    let bench = Bench::new();
    for tool in bench.registry.snapshot().tools() {
        let name = &tool.definition.name;
        assert!(!tool.definition.examples.is_empty(), "{name} has no example");
        for example in &tool.definition.examples {
            constrained(&bench, Bench::call_with(name, example.arguments.clone())).await;
        }
        let invalid = constrained(&bench, Bench::call(name, json!({"nonsense": 1}))).await.expect("an error");
        assert_eq!(invalid.code, ErrorCode::InvalidArgument, "{name}");
        let cancelled = Bench::call_with(name, tool.definition.examples[0].arguments.clone());
        cancelled.context.cancellation.cancel(StopCause::Cancelled);
        let cancelled = constrained(&bench, cancelled).await.expect("an error");
        assert_eq!(cancelled.code, ErrorCode::Cancelled, "{name}");
    }
    for code in ErrorCode::ALL {
        let call = Bench::call("debug_fail", json!({"code": code.name(), "retry_after": "2s"}));
        let failed = constrained(&bench, call).await.expect("an error");
        assert_eq!((failed.code, failed.retry_after), (code, Some(Duration::from_secs(2))));
    }
    for when in ["start", "stream"] {
        let call = Bench::call("debug_panic", json!({"when": when}));
        assert_eq!(constrained(&bench, call).await.expect("an error").code, ErrorCode::Unknown);
    }
    let hasty = json!({"timeout_ms": 1});
    for (tool, input, code) in [
        ("debug_sleep", json!({"duration": "5s"}), ErrorCode::Timeout),
        ("debug_write", json!({"value": "x", "duration": "5s"}), ErrorCode::OutcomeUnknown),
    ] {
        let bench = Bench::with_manifest(tool, &hasty);
        assert_eq!(constrained(&bench, Bench::call(tool, input)).await.expect("an error").code, code);
    }
}

#[tokio::test]
async fn a_context_cancelled_beforehand_is_answered_by_every_tool_without_any_io() {
    // There is no source to read from: a tool that tried would fail otherwise.
    let bench = Bench::without_sources();
    for tool in bench.registry.snapshot().tools() {
        let mut call = Bench::call_with(&tool.definition.name, tool.definition.examples[0].arguments.clone());
        call.request_id = Some(RequestId::generate());
        call.context.cancellation.cancel(StopCause::Cancelled);
        let expected = (ErrorCode::Cancelled, "Request was cancelled".to_owned());
        assert_eq!(error(bench.run(call).await), expected, "{}", tool.definition.name);
    }
    let reads = bench.run(Bench::call("get_quotes", json!({"symbol": "AAPL"}))).await;
    assert_eq!(error(reads).0, ErrorCode::Unknown, "the bench really has no source");
}

#[tokio::test(start_paused = true)]
async fn the_manifest_time_out_is_a_result_and_the_deadline_a_refusal() {
    let bench = Bench::with_manifest("debug_sleep", &json!({"timeout_ms": 200}));
    let sleep = || Bench::call("debug_sleep", json!({"duration": "5s"}));

    let (code, message) = error(bench.run(sleep()).await);
    assert_eq!(code, ErrorCode::Timeout);
    assert_eq!(message, "debug_sleep did not finish within its time-out of 0.2 s");

    // Equal instants: the deadline wins.
    let mut call = sleep();
    call.context.deadline = call.context.deadline.shortened(call.arrived.at + Duration::from_millis(200));
    assert_eq!(bench.run(call).await.unwrap_err(), Refusal::DeadlineExceeded);

    let mut call = sleep();
    call.context.deadline = call.context.deadline.shortened(call.arrived.at + Duration::from_millis(199));
    assert_eq!(bench.run(call).await.unwrap_err(), Refusal::DeadlineExceeded);
}

#[tokio::test]
async fn every_level_of_nested_calls_has_less_time_than_the_one_above() {
    let bench = Bench::new();
    let mut call = Bench::call("debug_nested", json!({"depth": 5, "duration": "0s"}));
    call.context.deadline = call.context.deadline.shortened(call.arrived.at + Duration::from_secs(10));
    let outcome = result(bench.run(call).await).outcome.expect("data");
    let levels = outcome.json()["levels"].as_array().expect("a list").clone();
    assert_eq!(levels.len(), 5);
    for pair in levels.windows(2) {
        assert_eq!(pair[1]["parent_call_id"], pair[0]["call_id"]);
        assert!(support::seconds(&pair[1]["remaining"]) < support::seconds(&pair[0]["remaining"]));
    }
}

#[tokio::test]
async fn calls_nest_eight_levels_deep_and_no_deeper() {
    // The bundled manifest asks for no more than there is.
    let bench = Bench::with_manifest("debug_nested", &json!({"parameters": {"depth": {"maximum": 20}}}));
    let deep = |depth| Bench::call("debug_nested", json!({"depth": depth, "duration": "0s"}));
    assert!(result(bench.run(deep(9)).await).outcome.is_ok());
    let (code, message) = error(bench.run(deep(10)).await);
    assert_eq!(code, ErrorCode::InvalidArgument);
    assert!(message.contains("deeper than 8 levels"), "{message}");
}

#[tokio::test]
async fn a_panic_is_a_result_at_the_start_and_in_mid_stream() {
    let bench = Bench::new();
    for when in ["start", "stream"] {
        let call = Bench::call("debug_panic", json!({"when": when}));
        let call_id = call.context.call_id;
        let (code, message) = error(bench.run(call).await);
        assert_eq!(code, ErrorCode::Unknown);
        assert!(message.contains(&call_id.to_string()), "{message}");
    }
}

#[tokio::test]
async fn a_stream_is_accepted_first_and_ends_once() {
    let bench = Bench::new();
    let call = Bench::call("debug_stream", json!({"count": 40, "bytes": 10}));
    let mut stream = bench.pipeline.start(call).await.expect("not refused");
    let mut steps = Vec::new();
    while let Some(step) = stream.next().await {
        steps.push(match step.expect("no refusal in mid-stream") {
            Step::Event(Event::Accepted { .. }) => "accepted",
            Step::Event(Event::Chunk(_)) => "chunk",
            Step::Event(Event::Progress { .. }) => "progress",
            Step::Terminal(_) => "terminal",
        });
    }
    let mut expected = vec!["accepted"];
    expected.extend(["chunk"; 40]);
    expected.push("terminal");
    assert_eq!(steps, expected);
}

#[tokio::test]
async fn a_call_that_fails_validation_is_its_result_alone() {
    let bench = Bench::new();
    let call = Bench::call("get_performance", json!({"timefram": "YTD", "account": 7}));
    let mut stream = bench.pipeline.start(call).await.expect("not refused");
    let Some(Ok(Step::Terminal(Terminal::Result(result)))) = stream.next().await else { panic!("a result") };
    let violations = result.outcome.expect_err("an error").violations;
    let mut rules: Vec<_> = violations.iter().map(|v| (v.pointer.as_str(), v.rule.as_str())).collect();
    rules.sort_unstable();
    assert_eq!(
        rules,
        [("/account", "type"), ("/timefram", "additionalProperties"), ("/timeframe", "required")]
    );
    let near = violations.iter().find(|v| v.pointer == "/timefram").expect("listed");
    assert!(near.description.contains("timeframe"), "{}", near.description);
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn an_unknown_tool_or_intent_names_near_names() {
    let bench = Bench::new();
    let refusal = bench.run(Bench::call("get_quote", json!({}))).await.unwrap_err();
    assert!(
        matches!(&refusal, Refusal::UnknownTool { near, .. } if near.contains(&"get_quotes".to_owned())),
        "{refusal}"
    );
    let refusal = bench.run(Bench::intent("quote", json!({}))).await.unwrap_err();
    assert!(refusal.to_string().starts_with("Unknown intent: quote"), "{refusal}");
}

#[tokio::test]
async fn an_intent_drops_what_its_tool_does_not_declare() {
    let bench = Bench::new();
    let call = Bench::intent("quotes", json!({"symbol": "AAPL", "account": "Brokerage", "timeframe": null}));
    assert_eq!(result(bench.run(call).await).tool, "get_quotes");
    let call = Bench::call("get_quotes", json!({"symbol": "AAPL", "account": "Brokerage"}));
    assert_eq!(error(bench.run(call).await).0, ErrorCode::InvalidArgument);
}

#[tokio::test]
async fn permission_comes_before_existence() {
    let bench = Bench::allowing(&["get_*"]);
    for name in ["debug_sleep", "no_such_tool"] {
        let refusal = bench.run(Bench::call(name, json!({}))).await.unwrap_err();
        assert_eq!(refusal, Refusal::PermissionDenied { tool: name.to_owned() });
    }
    let refusal = bench.run(Bench::call("get_quote", json!({}))).await.unwrap_err();
    assert!(matches!(refusal, Refusal::UnknownTool { .. }));
    // An intent of a denied tool does not tell that it exists.
    for intent in ["portfolio_ranking", "no_such_intent"] {
        let refusal = bench.run(Bench::intent(intent, json!({}))).await.unwrap_err();
        assert_eq!(refusal, Refusal::UnknownIntent { intent: intent.to_owned(), near: Vec::new() });
    }
    // A nested call is the user's own too.
    let bench = Bench::allowing(&["get_symbol_performance", "get_positions"]);
    let call = Bench::call("get_symbol_performance", json!({"symbol": "AAPL"}));
    assert_eq!(error(bench.run(call).await).0, ErrorCode::PermissionDenied);
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
    call.context.deadline = call.context.deadline.shortened(clock::now() + Duration::from_secs(1));
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
    assert!(!bench.pipeline.in_flight().cancel(&other, Which::Call(call_id)));
    assert!(!bench.pipeline.in_flight().cancel(&user, Which::Call(CallId::generate())));
    assert!(bench.pipeline.in_flight().cancel(&user, Which::Call(call_id)));
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
    call.context.deadline = call.context.deadline.shortened(clock::now() + Duration::from_millis(5));
    assert_eq!(bench.run(call).await.unwrap_err(), Refusal::DeadlineExceeded);
    assert!(!bench.pipeline.in_flight().is_empty(), "who ends the server waits for it");
    bench.pipeline.in_flight().emptied().await;
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
    assert!(bench.pipeline.in_flight().cancel(&support::user_id(), Which::Request(id)));
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
    let (user, call_id) = (support::user_id(), second.context.call_id);
    let second = run(second);
    sleep(Duration::from_millis(1)).await;
    assert!(bench.pipeline.in_flight().cancel(&user, Which::Call(call_id)));
    assert_eq!(error(second.await.expect("no panic")).0, ErrorCode::Cancelled);
    assert_eq!(result(first.await.expect("no panic")).outcome.expect("data").json()["writes"], 1);
}

#[tokio::test]
async fn a_call_that_cannot_be_recorded_is_refused_and_not_carried_out() {
    let bench = Bench::storing(BrokenStore);
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
    let outer = Lineage::of(RequestId::generate());
    let attempt = async |lineage: &Lineage| {
        let parent = ToolContext {
            lineage: Lineage::of(lineage.request_id()),
            ..Bench::call("debug_nested", json!({})).context
        };
        let mut writes = Vec::new();
        for _ in 0..2 {
            let input = arguments(json!({"value": "x", "duration": "0s"}));
            let (payload, _) = bench.pipeline.call_tool(&parent, "debug_write", input).await.expect("data");
            writes.push(payload.json()["writes"].clone());
        }
        writes
    };
    assert_eq!(attempt(&outer).await, [1, 2]);
    assert_eq!(attempt(&outer).await, [1, 2]);
    assert_eq!(attempt(&Lineage::of(RequestId::generate())).await, [3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_write_is_told_and_whoever_waits_for_it_learns_its_outcome() {
    let bench = Bench::new();
    let id = RequestId::generate();
    let first = bench.pipeline.start(write(id, "x", "10s")).await.expect("accepted");
    let second = bench.pipeline.start(write(id, "x", "10s")).await.expect("accepted");
    sleep(Duration::from_secs(1)).await;
    assert!(bench.pipeline.in_flight().cancel(&support::user_id(), Which::Request(id)));
    for waiting in [first, second] {
        assert_eq!(result(waiting.terminal().await).outcome.expect("data").json()["writes"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_write_that_goes_on_still_ends_for_its_caller_at_the_deadline() {
    let bench = Bench::new();
    let id = RequestId::generate();
    let mut call = write(id, "x", "10s");
    call.context.deadline = call.context.deadline.shortened(clock::now() + Duration::from_secs(5));
    let waiting = bench.pipeline.start(call).await.expect("accepted");
    sleep(Duration::from_secs(1)).await;
    assert!(bench.pipeline.in_flight().cancel(&support::user_id(), Which::Request(id)));
    assert_eq!(waiting.terminal().await.unwrap_err(), Refusal::DeadlineExceeded);
}

#[tokio::test(start_paused = true)]
async fn a_nested_write_has_no_more_time_than_the_outermost_call() {
    let bench = Bench::new();
    let mut parent = Bench::call("debug_nested", json!({})).context;
    parent.deadline = parent.deadline.capped(clock::now() + Duration::from_secs(2));
    let started = clock::now();
    let input = arguments(json!({"value": "x", "duration": "10s"}));
    assert!(bench.pipeline.call_tool(&parent, "debug_write", input).await.is_err());
    bench.pipeline.in_flight().emptied().await;
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

#[tokio::test(start_paused = true)]
async fn a_long_call_shows_that_it_is_alive() {
    let bench = Bench::new();
    let call = Bench::call("debug_sleep", json!({"duration": "70s"}));
    let mut stream = bench.pipeline.start(call).await.expect("accepted");
    let mut alive = 0;
    while let Some(step) = stream.next().await {
        alive += usize::from(matches!(step, Ok(Step::Event(Event::Progress { .. }))));
    }
    assert_eq!(alive, 3);
}

/// What a call says on its way to its end, and how long after its start.
async fn told(bench: &Bench, call: Call) -> Vec<(u64, String)> {
    let started = clock::now();
    let mut stream = bench.pipeline.start(call).await.expect("accepted");
    let mut said = Vec::new();
    while let Some(step) = stream.next().await {
        if let Step::Event(Event::Progress { message, .. }) = step.expect("no refusal in mid-stream") {
            said.push(((clock::now() - started).as_secs(), message));
        }
    }
    said
}

const WORDS: &[&str] = &["Sleeping for {duration}", "slept {slept}, {{done}}"];

fn with_words() -> Bench {
    Bench::with_manifest("debug_sleep", &json!({"progress": WORDS[0], "summary": WORDS[1]}))
}

#[tokio::test(start_paused = true)]
async fn a_manifests_words_tell_what_is_done_that_it_goes_on_and_what_came_out() {
    let bench = with_words();
    let said = told(&bench, Bench::call("debug_sleep", json!({"duration": "50s"}))).await;
    let doing = || "Sleeping for 50s".to_owned();
    let done = "debug_sleep(\"50s\") → slept 50s, {done}".to_owned();
    assert_eq!(said, [(0, doing()), (20, doing()), (40, doing()), (50, done)]);
    // What is ready at once is not narrated, only summed up.
    let said = told(&bench, Bench::call("debug_sleep", json!({"duration": "0s"}))).await;
    assert_eq!(said, [(0, "debug_sleep(\"0s\") → slept 0s, {done}".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_not_summed_up_and_a_nested_call_says_nothing() {
    let words = json!({"summary": "{levels} levels", "timeout_ms": 1_000});
    let bench = Bench::with_manifest("debug_nested", &words);
    let call = |duration| Bench::call("debug_nested", json!({"depth": 3, "duration": duration}));
    assert_eq!(told(&bench, call("0s")).await, [(0, "debug_nested(3, \"0s\") → 3 levels".to_owned())]);
    assert_eq!(told(&bench, call("5s")).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_only_waits_for_the_end_gets_it_and_is_missed_when_gone() {
    let bench = with_words();
    let call = || Bench::call("debug_sleep", json!({"duration": "50s"}));
    assert!(result(bench.pipeline.finish(call()).await).outcome.is_ok());
    let left = call();
    let cancellation = left.context.cancellation.clone();
    assert!(timeout(Duration::from_secs(1), bench.pipeline.finish(left)).await.is_err());
    bench.pipeline.in_flight().emptied().await;
    assert_eq!(cancellation.cause(), Some(StopCause::CallerGone));
}

/// The nonce of a result, if it is framed.
fn nonce(end: Result<Terminal, Refusal>) -> Option<String> {
    result(end).provenance.untrusted_nonce
}

#[tokio::test(start_paused = true)]
async fn text_from_outside_has_a_fresh_nonce_in_each_response_from_a_cache_too() {
    let policy = json!({"ttl_s": 600, "tier": "request"});
    let bench = Bench::with_manifest("debug_sleep", &json!({"untrusted": true, "cache": policy}));
    let call = || Bench::call("debug_sleep", json!({"duration": "0s"}));
    let repeated = call();
    let facts = Arc::clone(&repeated.facts);
    let nonces = [bench.run(call()).await, bench.run(repeated).await].map(nonce).map(Option::unwrap);
    assert!(facts.is_cache_hit());
    assert_ne!(nonces[0], nonces[1]);
    assert!(nonces.iter().all(|it| it.len() == 32 && it.bytes().all(|b| b.is_ascii_hexdigit())));
    // A repeat by request_id is another response too.
    let id = RequestId::generate();
    let once = || Call { request_id: Some(id), ..call() };
    let (first, repeat) = (nonce(bench.run(once()).await), nonce(bench.run(once()).await));
    assert!(first.is_some() && repeat.is_some() && first != repeat);

    let trusted = Bench::new();
    assert_eq!(nonce(trusted.run(call()).await), None);
    let failed = Bench::with_manifest("debug_fail", &json!({"untrusted": true}));
    assert_eq!(nonce(failed.run(Bench::call("debug_fail", json!({"code": "BLOCKED"}))).await), None);
}

#[tokio::test]
async fn a_composite_that_takes_in_text_from_outside_is_framed_once() {
    let call = || Bench::call("get_symbol_performance", json!({"symbol": "AAPL"}));
    assert_eq!(nonce(Bench::new().run(call()).await), None);
    let bench = Bench::with_manifest("get_quotes", &json!({"untrusted": true}));
    assert_eq!(nonce(bench.run(call()).await).expect("framed").len(), 32);
    // The part has none: only a response does.
    let bench = Bench::with_manifest("debug_sleep", &json!({"untrusted": true}));
    let input = arguments(json!({"duration": "0s"}));
    let part = bench.pipeline.call_tool(&call().context, "debug_sleep", input).await;
    let (_, provenance) = part.expect("data");
    assert_eq!(provenance.untrusted_nonce.as_deref(), Some(""));
}

#[tokio::test]
async fn a_tool_that_only_records_needs_no_code_and_answers_that_it_did() {
    let bench = Bench::with_tool(&json!({
        "name": "stop_and_think",
        "description": "Records a thought. Use this when the next step is not clear. Do not use it for facts.",
        "type": "non_function_tool",
        "category": "read",
        "consequence_level": "low",
        "requires_confirmation": false,
        "parameters": {"thoughts": {"type": "string", "description": "The thought", "required": true}},
        "returns": {"logged": "boolean"}
    }));
    let thought = result(bench.run(Bench::call("stop_and_think", json!({"thoughts": "Hm."}))).await);
    assert_eq!(thought.outcome.expect("data").json(), &json!({"logged": true}));
    let (code, _) = error(bench.run(Bench::call("stop_and_think", json!({}))).await);
    assert_eq!(code, ErrorCode::InvalidArgument);
}
