//! What answers a call without an execution, for how long and for whom.

use strum::VariantArray as _;

use super::*;

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
    let fail = |code: ErrorCode| Bench::call("debug_fail", json!({"code": code.into_str()}));
    for &kind in ErrorCode::VARIANTS {
        assert!(!is_hit(&bench, fail(kind)).await);
        assert_eq!(is_hit(&bench, fail(kind)).await, kind == ErrorCode::NotFound, "{}", kind.into_str());
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
    let data = crate::support::data_directory();
    crate::support::patch_json(&data.path().join("tools/get_quotes.json"), &policy("request", "user"));
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
    crate::support::save(&master, &text.replace(&before.to_string(), "12345.5"));
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
    let data = crate::support::data_directory();
    crate::support::patch_json(&data.path().join("tools/get_facts.json"), &policy("request", "user"));
    crate::support::save(&data.path().join("brokerage/facts/volumes.md"), &"many words ".repeat(400_000));
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
