//! What is cached, for whom and how long, and that equal calls at one time are one execution.

mod support;

use std::{
    fmt::Write,
    fs,
    sync::{
        Arc, LazyLock, Mutex as StdMutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, join_all, ready};
use serde_json::{Value, json};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::sleep,
};
use toolwire::{
    clock,
    context::{CallTools, User},
    contract::{ErrorCode, Event, Payload, Refusal, Terminal, ToolResult},
    pipeline::{Call, CallStream, Step, Tiers, Which},
    registry::SourceHealth,
    store::{
        MemoryResults, StoreError,
        results::{ResultKey, Results, StoredResult},
    },
};
use tracing::{Subscriber, field::Visit, span};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt};

use support::{Bench, arguments, stops::Stops};

static STOPS: LazyLock<Stops> = LazyLock::new(Stops::install);
/// The records of executions are the process's, so the tests take turns.
static TURN: Mutex<()> = Mutex::const_new(());

/// Counts what was executed in this test's turn.
struct Turn(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Turn {
    async fn take() -> Self {
        let turn = Self(TURN.lock().await);
        STOPS.take(0).await;
        turn
    }

    /// Why each execution since the last look stopped.
    async fn executions(&self) -> Vec<String> {
        STOPS.take(0).await.into_iter().map(|stop| stop.cause).collect()
    }

    #[track_caller]
    fn assert_executions(&self, expected: usize) -> impl Future<Output = ()> {
        let place = std::panic::Location::caller();
        async move {
            let executions = self.executions().await;
            assert_eq!(executions.len(), expected, "{executions:?} at {place}");
        }
    }
}

fn policy(tier: &str, scope: &str) -> Value {
    json!({"cache": {"ttl_s": 600, "tier": tier, "scope": scope}})
}

/// `debug_sleep`, cached for ten minutes.
fn bench(tier: &str, scope: &str) -> Bench {
    Bench::with_manifest("debug_sleep", &policy(tier, scope))
}

fn nap(duration: &str) -> Call {
    Bench::call("debug_sleep", json!({"duration": duration}))
}

/// The same call, by another user.
fn by(user: &str, mut call: Call) -> Call {
    call.context.user = User::new(user.parse().expect("valid"));
    call
}

/// The same call, in a session.
fn within(session: &str, mut call: Call) -> Call {
    call.context.session_id = Some(session.parse().expect("valid"));
    call
}

/// The same call, made so much later.
fn later(seconds: u64, mut call: Call) -> Call {
    call.arrived.wall += Duration::from_secs(seconds);
    call
}

/// The same call, with so much time.
fn having(time: Duration, mut call: Call) -> Call {
    call.context.deadline = call.context.deadline.shortened(clock::now() + time);
    call
}

#[track_caller]
fn result(end: Result<Terminal, Refusal>) -> ToolResult {
    match end.expect("not refused") {
        Terminal::Result(result) => result,
        Terminal::ConfirmationRequired(it) => panic!("awaits {it:?}"),
    }
}

#[track_caller]
fn code(end: Result<Terminal, Refusal>) -> ErrorCode {
    result(end).outcome.expect_err("an error").code
}

/// Whether a call is answered from the cache.
async fn is_hit(bench: &Bench, call: Call) -> bool {
    let facts = Arc::clone(&call.facts);
    let result = result(bench.run(call).await);
    assert_eq!(
        facts.is_cache_hit(),
        result.provenance.cached_for.is_some(),
        "the log and the provenance agree"
    );
    facts.is_cache_hit()
}

/// Starts a call; it is under way when this returns.
async fn start(bench: &Bench, call: Call) -> CallStream {
    bench.pipeline.start(call).await.expect("accepted")
}

#[tokio::test(start_paused = true)]
async fn a_hit_executes_nothing_and_says_how_old_it_is() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = result(bench.run(nap("1s")).await);
    assert_eq!(first.provenance.cached_for, None);

    let call = later(10, nap("1s"));
    let (facts, arrived) = (Arc::clone(&call.facts), call.arrived.wall);
    let started = clock::now();
    let second = result(bench.run(call).await);
    assert_eq!(clock::now(), started);
    assert!(facts.is_cache_hit());
    assert_eq!(second.fetched_at, arrived);
    // The first took a second of the ten.
    let age = second.provenance.cached_for.expect("cached");
    assert!((8..=10).contains(&age.as_secs()), "{age:?}");
    assert_eq!(second.provenance.source_ids, first.provenance.source_ids);
    assert_eq!(second.outcome.expect("data").json(), first.outcome.expect("data").json());
    turn.assert_executions(1).await;
}

#[tokio::test(start_paused = true)]
async fn equal_arguments_are_equal_however_they_are_written() {
    let _turn = Turn::take().await;
    let bench = bench("request", "user");
    let call = |input| Bench::call("debug_sleep", input);
    assert!(!is_hit(&bench, call(json!({"duration": "1s", "progress_interval": "5s"}))).await);
    assert!(is_hit(&bench, call(json!({"progressInterval": "5s", "duration": "1s"}))).await);
    assert!(!is_hit(&bench, call(json!({"duration": "1s", "progress_interval": "6s"}))).await);
}

#[tokio::test(start_paused = true)]
async fn a_result_answers_until_its_ttl_is_over() {
    let _turn = Turn::take().await;
    for tier in ["request", "session", "persistent"] {
        let bench = bench(tier, "user");
        assert!(!is_hit(&bench, nap("0s")).await);
        assert!(is_hit(&bench, later(599, nap("0s"))).await, "{tier}");
        assert!(!is_hit(&bench, later(601, nap("0s"))).await, "{tier}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_a_policy_is_executed_each_time() {
    let turn = Turn::take().await;
    let bench = Bench::new();
    assert!(!is_hit(&bench, nap("0s")).await && !is_hit(&bench, nap("0s")).await);
    turn.assert_executions(2).await;
}

#[tokio::test(start_paused = true)]
async fn no_users_result_answers_another_unless_it_is_public() {
    let _turn = Turn::take().await;
    for tier in ["request", "session", "persistent"] {
        let own = bench(tier, "user");
        assert!(!is_hit(&own, nap("0s")).await);
        assert!(!is_hit(&own, by("other", nap("0s"))).await, "{tier}");
        assert!(is_hit(&own, by("other", nap("0s"))).await, "{tier}");
    }
    let public = bench("persistent", "shared");
    assert!(!is_hit(&public, nap("0s")).await);
    assert!(is_hit(&public, by("other", nap("0s"))).await);
}

#[tokio::test(start_paused = true)]
async fn calls_at_one_time_share_an_execution_only_with_whom_they_share_results() {
    let turn = Turn::take().await;
    for (scope, executions) in [("user", 2), ("shared", 1)] {
        let bench = bench("request", scope);
        let (one, other) = tokio::join!(bench.run(nap("1s")), bench.run(by("other", nap("1s"))));
        assert!(result(one).outcome.is_ok() && result(other).outcome.is_ok());
        turn.assert_executions(executions).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_session_tier_keeps_sessions_apart_and_without_one_users() {
    let _turn = Turn::take().await;
    let own = bench("session", "user");
    assert!(!is_hit(&own, within("a", nap("0s"))).await);
    assert!(is_hit(&own, within("a", nap("0s"))).await);
    assert!(!is_hit(&own, within("b", nap("0s"))).await);
    // A session is the caller's word: it opens nobody else's results.
    assert!(!is_hit(&own, by("other", within("a", nap("0s")))).await);
    assert!(!is_hit(&own, nap("0s")).await);
    assert!(is_hit(&own, nap("0s")).await);

    let public = bench("session", "shared");
    assert!(!is_hit(&public, within("a", nap("0s"))).await);
    assert!(is_hit(&public, by("other", within("a", nap("0s")))).await);
    assert!(!is_hit(&public, nap("0s")).await);
    assert!(!is_hit(&public, by("other", nap("0s"))).await);
    // The other tiers know no sessions.
    let request = bench("request", "user");
    assert!(!is_hit(&request, within("a", nap("0s"))).await);
    assert!(is_hit(&request, within("b", nap("0s"))).await);
}

#[tokio::test(start_paused = true)]
async fn that_there_is_nothing_is_known_for_a_minute_and_no_other_failure_at_all() {
    let _turn = Turn::take().await;
    let bench = Bench::with_manifest("debug_fail", &policy("request", "user"));
    let fail = |code: ErrorCode| Bench::call("debug_fail", json!({"code": code.name()}));
    for kind in ErrorCode::ALL {
        assert!(!is_hit(&bench, fail(kind)).await);
        assert_eq!(is_hit(&bench, fail(kind)).await, kind == ErrorCode::NotFound, "{}", kind.name());
    }
    assert_eq!(code(bench.run(later(59, fail(ErrorCode::NotFound))).await), ErrorCode::NotFound);
    assert!(is_hit(&bench, later(59, fail(ErrorCode::NotFound))).await);
    assert!(!is_hit(&bench, later(61, fail(ErrorCode::NotFound))).await);
}

#[tokio::test(start_paused = true)]
async fn another_definition_or_other_data_is_another_result() {
    let _turn = Turn::take().await;
    let tiers = Tiers::in_memory();
    let of = |changes: Value| {
        let mut all = policy("request", "user");
        for (key, value) in arguments(changes) {
            all[key] = value;
        }
        Bench::caching("debug_sleep", &all, tiers.clone())
    };
    let bench = of(json!({"source": {"name": "yahoo"}}));
    assert!(!is_hit(&bench, nap("0s")).await);
    assert!(is_hit(&of(json!({"source": {"name": "yahoo"}})), nap("0s")).await);
    assert!(!is_hit(&of(json!({"source": {"name": "yahoo"}, "version": "2.0.0"})), nap("0s")).await);

    let set = |bench: &Bench, source: &str, digest: &str| {
        let health = SourceHealth { digest: digest.to_owned(), ..SourceHealth::default() };
        bench.registry.set_source_health(source, health);
    };
    set(&bench, "yahoo", "embedded:1");
    assert!(!is_hit(&bench, nap("0s")).await);
    set(&bench, "reddit", "embedded:1");
    assert!(is_hit(&bench, nap("0s")).await, "it does not read from there");
    set(&bench, "yahoo", "live");
    assert!(!is_hit(&bench, nap("0s")).await);

    // A composite reads what its parts read.
    let composite = of(json!({"source": {"name": "yahoo"}, "depends_on": ["debug_nested"]}));
    assert!(!is_hit(&composite, nap("0s")).await);
    set(&composite, "reddit", "embedded:2");
    assert!(!is_hit(&composite, nap("0s")).await);
}

#[tokio::test(start_paused = true)]
async fn a_tree_of_calls_sees_the_results_of_the_one_state_it_has_pinned() {
    let _turn = Turn::take().await;
    let bench = bench("request", "user");
    let input = || arguments(json!({"duration": "0s"}));
    let hits = async |parent: &Call| {
        let (_, provenance) =
            bench.pipeline.call_tool(&parent.context, "debug_sleep", input()).await.expect("data");
        provenance.cached_for.is_some()
    };
    let parent = nap("0s");
    parent.context.pins.get_or_pin(|| bench.registry.snapshot());
    assert!(!hits(&parent).await);
    bench.registry.set_source_health("yahoo", SourceHealth { digest: "2".into(), ..SourceHealth::default() });
    assert!(hits(&parent).await, "it still sees the state it began with");
    assert!(!hits(&nap("0s")).await, "a new one sees the new state");
}

#[tokio::test]
async fn a_saved_file_is_seen_by_the_very_next_call_of_a_cached_tool() {
    let _turn = Turn::take().await;
    let data = support::data_directory();
    support::patch_json(&data.path().join("tools/get_quotes.json"), &policy("request", "user"));
    let bench = Bench::on_disk(&data);
    let call = || Bench::call("get_quotes", json!({"symbol": "AAPL"}));
    let price = async || {
        let data = result(bench.run(call()).await).outcome.expect("data");
        data.json()["quotes"][0]["price"].clone()
    };
    let before = price().await;
    assert!(is_hit(&bench, call()).await);
    // The registry is not told of it: nobody polls here.
    let master = data.path().join("brokerage/user_master.json");
    let text = fs::read_to_string(&master).expect("readable");
    assert!(text.contains(&before.to_string()), "{before}");
    fs::write(&master, text.replace(&before.to_string(), "12345.5")).expect("written");
    assert_eq!(price().await, json!(12345.5));
    assert!(is_hit(&bench, call()).await);
}

#[tokio::test]
async fn a_nested_call_is_answered_from_the_cache_too() {
    let _turn = Turn::take().await;
    let bench = Bench::with_manifest("debug_nested", &policy("request", "user"));
    let levels = async |depth| {
        let call = Bench::call("debug_nested", json!({"depth": depth, "duration": "0s"}));
        result(bench.run(call).await).outcome.expect("data").json()["levels"].clone()
    };
    let (inner, outer) = (levels(1).await, levels(2).await);
    assert_eq!(outer[1]["call_id"], inner[0]["call_id"]);
}

#[tokio::test]
async fn what_is_too_large_for_a_client_may_answer_a_tool_and_is_not_kept() {
    let _turn = Turn::take().await;
    let data = support::data_directory();
    support::patch_json(&data.path().join("tools/get_facts.json"), &policy("request", "user"));
    fs::write(data.path().join("brokerage/facts/volumes.md"), "many words ".repeat(400_000))
        .expect("written");
    let bench = Bench::on_disk(&data);
    let mut call = Bench::call("get_facts", json!({"topic": "volumes"}));
    call.context.services = bench.services.clone();
    let parent = call.context.clone();
    for _ in 0..2 {
        let part = bench.pipeline.call_tool(&parent, "get_facts", call.arguments.clone()).await;
        assert_eq!(part.expect("data").1.cached_for, None);
    }
    assert_eq!(code(bench.run(call).await), ErrorCode::ResultTooLarge);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_equal_calls_at_one_time_are_one_execution() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let ends = join_all((0..1_000).map(|_| bench.run(nap("1s")))).await;
    assert!(ends.into_iter().all(|end| result(end).outcome.is_ok()));
    turn.assert_executions(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_equal_calls_on_several_threads_are_one_execution_however_short_it_is() {
    let turn = Turn::take().await;
    let bench = Arc::new(bench("request", "user"));
    let calls = (0..1_000).map(|_| {
        let bench = Arc::clone(&bench);
        tokio::spawn(async move { bench.run(nap("0s")).await })
    });
    let ends = join_all(calls.collect::<Vec<_>>()).await;
    assert!(ends.into_iter().all(|end| result(end.expect("no panic")).outcome.is_ok()));
    turn.assert_executions(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_does_not_take_the_answer_from_another() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let (first, second) = (nap("4s"), nap("4s"));
    let (user, call_id) = (first.context.user.id.clone(), first.context.call_id);
    let (first, second) = (start(&bench, first).await, start(&bench, second).await);
    sleep(Duration::from_secs(1)).await;
    assert!(bench.pipeline.in_flight().cancel(&user, Which::Call(call_id)));
    assert_eq!(code(first.terminal().await), ErrorCode::Cancelled);
    let started = clock::now();
    assert!(result(second.terminal().await).outcome.is_ok());
    assert_eq!(clock::now() - started, Duration::from_secs(3));
    assert_eq!(turn.executions().await, ["completed"]);
}

#[tokio::test(start_paused = true)]
async fn the_last_caller_to_leave_takes_the_work_along_and_nothing_is_kept() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let (first, second) = (start(&bench, nap("4s")).await, start(&bench, nap("4s")).await);
    sleep(Duration::from_secs(1)).await;
    drop(first);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(turn.executions().await, [""; 0]);
    let started = clock::now();
    drop(second);
    let stopped = STOPS.take(1).await;
    assert_eq!(stopped[0].cause, "caller_gone");
    assert_eq!(clock::now(), started, "it stopped at once");
    assert!(!is_hit(&bench, nap("4s")).await);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_comes_after_everybody_left_is_executed_anew() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = start(&bench, nap("4s")).await;
    sleep(Duration::from_secs(1)).await;
    drop(first);
    bench.pipeline.in_flight().emptied().await;
    assert!(result(bench.run(nap("4s")).await).outcome.is_ok());
    assert_eq!(turn.executions().await, ["caller_gone", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_joiner_with_time_left_does_not_share_the_deadline_of_the_first_caller() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = start(&bench, having(Duration::from_secs(1), nap("4s"))).await;
    let second = start(&bench, nap("4s")).await;
    let started = clock::now();
    assert_eq!(first.terminal().await.unwrap_err(), Refusal::DeadlineExceeded);
    assert!(result(second.terminal().await).outcome.is_ok());
    assert_eq!(clock::now() - started, Duration::from_secs(5));
    assert_eq!(turn.executions().await, ["deadline", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_joiner_without_time_for_another_execution_ends_by_its_own_deadline() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = start(&bench, having(Duration::from_secs(1), nap("4s"))).await;
    let second = start(&bench, having(Duration::from_millis(1_050), nap("4s"))).await;
    let started = clock::now();
    assert_eq!(first.terminal().await.unwrap_err(), Refusal::DeadlineExceeded);
    assert_eq!(second.terminal().await.unwrap_err(), Refusal::DeadlineExceeded);
    assert_eq!(clock::now() - started, Duration::from_millis(1_050));
    assert_eq!(turn.executions().await, ["deadline"]);
}

#[tokio::test(start_paused = true)]
async fn a_joiner_keeps_its_own_shorter_deadline() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = start(&bench, nap("4s")).await;
    let second = bench.run(having(Duration::from_secs(1), nap("4s"))).await;
    assert_eq!(second.unwrap_err(), Refusal::DeadlineExceeded);
    assert!(result(first.terminal().await).outcome.is_ok());
    assert_eq!(turn.executions().await, ["completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_only_the_first_caller_could_not_wait_for_is_asked_for_again() {
    let turn = Turn::take().await;
    let bench = Bench::with_manifest("debug_fail", &policy("request", "user"));
    let limited = |time| {
        let input = json!({"code": "RATE_LIMITED", "retry_after": "2s"});
        having(Duration::from_secs(time), Bench::call("debug_fail", input))
    };
    for (first, second, executions) in [(1, 3, 2), (3, 4, 1), (1, 1, 1)] {
        let first = start(&bench, limited(first)).await;
        let second = start(&bench, limited(second)).await;
        assert_eq!(code(first.terminal().await), ErrorCode::RateLimited);
        assert_eq!(code(second.terminal().await), ErrorCode::RateLimited);
        turn.assert_executions(executions).await;
    }
}

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_learns_of_a_panic_and_the_next_call_tries_again() {
    let turn = Turn::take().await;
    let bench = Bench::with_manifest("debug_panic", &policy("request", "user"));
    let panic = || Bench::call("debug_panic", json!({"when": "start"}));
    let (first, second) = (start(&bench, panic()).await, start(&bench, panic()).await);
    assert_eq!(code(first.terminal().await), ErrorCode::Unknown);
    assert_eq!(code(second.terminal().await), ErrorCode::Unknown);
    turn.assert_executions(1).await;
    assert_eq!(code(bench.run(panic()).await), ErrorCode::Unknown);
    turn.assert_executions(1).await;
}

#[tokio::test(start_paused = true)]
async fn progress_reaches_everybody_who_waits_from_when_they_came() {
    let _turn = Turn::take().await;
    let bench = bench("request", "user");
    let call = || Bench::call("debug_sleep", json!({"duration": "4s", "progress_interval": "1s"}));
    let first = start(&bench, call()).await;
    sleep(Duration::from_millis(1_500)).await;
    let second = start(&bench, call()).await;
    let (first, second) = tokio::join!(heard(first), heard(second));
    assert_eq!(first, ["Slept for 1.0 s", "Slept for 2.0 s", "Slept for 3.0 s", "Slept for 4.0 s"]);
    assert_eq!(second, first[1..]);
}

/// Every progress event of a call.
async fn heard(mut stream: CallStream) -> Vec<String> {
    let mut said = Vec::new();
    while let Some(step) = stream.next().await {
        if let Step::Event(Event::Progress { message, .. }) = step.expect("not refused") {
            said.push(message);
        }
    }
    said
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Fails,
    PanicsWhenItKeeps,
    NeverKeeps,
}

/// A store that does not work.
#[derive(Debug)]
struct Faulty(Fault, MemoryResults);

impl Results for Faulty {
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>> {
        match self.0 {
            Fault::Fails => Box::pin(ready(Err(StoreError::Nowhere("no disk".to_owned())))),
            _ => self.1.get(key, now),
        }
    }

    fn put<'a>(
        &'a self,
        _: &'a ResultKey,
        _: &'a StoredResult<Payload>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        match self.0 {
            Fault::Fails => Box::pin(ready(Err(StoreError::Nowhere("no disk".to_owned())))),
            Fault::PanicsWhenItKeeps => panic!("as asked"),
            Fault::NeverKeeps => Box::pin(futures_util::future::pending()),
        }
    }
}

fn faulty(fault: Fault) -> Bench {
    let request = Arc::new(Faulty(fault, MemoryResults::default()));
    Bench::caching("debug_sleep", &policy("request", "user"), Tiers { request, ..Tiers::in_memory() })
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_work_is_a_cache_that_knows_nothing() {
    let turn = Turn::take().await;
    let bench = faulty(Fault::Fails);
    assert!(!is_hit(&bench, nap("0s")).await && !is_hit(&bench, nap("0s")).await);
    turn.assert_executions(2).await;
    // Equal calls at one time are one all the same.
    let (one, other) = tokio::join!(bench.run(nap("1s")), bench.run(nap("1s")));
    assert!(result(one).outcome.is_ok() && result(other).outcome.is_ok());
    turn.assert_executions(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_holds_nobody_up_for_long() {
    let _turn = Turn::take().await;
    let (bench, started) = (faulty(Fault::NeverKeeps), clock::now());
    assert!(result(bench.run(nap("0s")).await).outcome.is_ok());
    assert_eq!(clock::now() - started, Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn an_execution_whose_task_is_gone_is_an_error_for_everybody_and_nobody_hangs() {
    let _turn = Turn::take().await;
    let bench = faulty(Fault::PanicsWhenItKeeps);
    let (one, other) = tokio::join!(bench.run(nap("1s")), bench.run(nap("1s")));
    for end in [one, other] {
        assert!(matches!(end, Err(Refusal::Internal { .. })), "{end:?}");
    }
}

/// A store that takes its time over the second look, and then tells what was there when it began.
#[derive(Debug, Default)]
struct Slow(AtomicUsize, MemoryResults);

impl Results for Slow {
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>> {
        Box::pin(async move {
            let found = self.1.get(key, now).await;
            if self.0.fetch_add(1, Ordering::Relaxed) == 1 {
                sleep(Duration::from_secs(1)).await;
            }
            found
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a ResultKey,
        result: &'a StoredResult<Payload>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.1.put(key, result)
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_looked_before_another_landed_does_not_execute_again() {
    let turn = Turn::take().await;
    let tiers = Tiers { request: Arc::new(Slow::default()), ..Tiers::in_memory() };
    let bench = Bench::caching("debug_sleep", &policy("request", "user"), tiers);
    let (first, second) = tokio::join!(is_hit(&bench, nap("0s")), is_hit(&bench, nap("0s")));
    assert!(!first && second);
    turn.assert_executions(1).await;
}

/// The attributes of every `cache` span, in order.
#[derive(Clone, Default)]
struct Spans(Arc<StdMutex<Vec<String>>>);

struct Attributes<'a>(&'a mut String);

impl Visit for Attributes<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name().starts_with("toolwire.cache.") {
            let _ = write!(self.0, "{} = {value:?}; ", field.name());
        }
    }
}

impl<S: Subscriber> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, _: &span::Id, _: Context<'_, S>) {
        if attributes.metadata().name() == "cache" {
            let mut spans = self.0.lock().expect("not poisoned");
            spans.push(String::new());
            attributes.record(&mut Attributes(spans.last_mut().expect("one")));
        }
    }

    fn on_record(&self, _: &span::Id, record: &span::Record<'_>, _: Context<'_, S>) {
        if let Some(last) = self.0.lock().expect("not poisoned").last_mut() {
            record.record(&mut Attributes(last));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_look_into_a_tier_is_a_span_that_says_what_it_found() {
    let _turn = Turn::take().await;
    let spans = Spans::default();
    let subscriber = tracing_subscriber::registry().with(spans.clone());
    let _subscriber = tracing::subscriber::set_default(subscriber);
    let bench = bench("session", "user");
    assert!(!is_hit(&bench, nap("0s")).await && is_hit(&bench, nap("0s")).await);
    let expected = |hit| format!("toolwire.cache.tier = \"session\"; toolwire.cache.hit = {hit}; ");
    assert_eq!(*spans.0.lock().expect("not poisoned"), [expected(false), expected(true)]);
}
