//! A call from its start to its one end.

use strum::VariantArray as _;

use toolwire::engine::registry::{RegisteredTool, Status, ToolType};

use super::*;

/// Carries a call out and holds its result to the constraints on results. Returns how it failed, if it did.
async fn constrained(bench: &Bench, mut call: Call) -> Option<ToolError> {
    let tool = call.target.as_str().to_owned();
    let arrived = call.arrived.wall;
    call.request_id = Some(RequestId::generate());
    // 3: it never throws.
    let result = result(bench.run(call).await);
    assert_eq!(result.tool.as_str(), tool);
    let failure = result.outcome.as_ref().err().cloned();
    // 4: the time is that of the attempt, on errors too.
    assert_eq!(result.fetched_at, arrived, "{tool}");
    let wire = crate::support::wire_json(result);
    let keys: Vec<_> = wire.as_object().expect("an object").keys().map(String::as_str).collect();
    // 1 and 2: no flag of success, and the time has its one name.
    assert!(!keys.contains(&"success") && !keys.contains(&"timestamp"), "{tool}: {keys:?}");
    assert!(keys.contains(&"fetchedAt"), "{tool}: {keys:?}");
    // 5: data or an error.
    assert_ne!(keys.contains(&"data"), keys.contains(&"error"), "{tool}: {wire}");
    assert_eq!(keys.contains(&"error"), failure.is_some(), "{tool}: {wire}");
    failure
}

/// Whether a call of it has a result without a task.
fn is_callable(tool: &RegisteredTool) -> bool {
    let kind = tool.definition.kind;
    tool.definition.status == Status::Ready && matches!(kind, ToolType::Function | ToolType::NonFunction)
}

#[tokio::test]
async fn every_tool_and_every_kind_of_failure_keeps_the_five_constraints_of_a_result() {
    let bench = Bench::new();
    for tool in bench.registry.snapshot().tools().filter(|tool| is_callable(tool)) {
        let name = &tool.definition.name;
        assert!(!tool.definition.examples.is_empty(), "{name} has no example");
        let of = |name: &str| {
            bench.registry.snapshot().get(name).expect("a tool").definition.requires_confirmation
        };
        let asks = of(name) || tool.definition.depends_on.iter().any(|name| of(name));
        // What a person must approve has no result yet.
        for example in tool.definition.examples.iter().filter(|_| !asks) {
            constrained(&bench, Bench::call_with(name, example.arguments.clone())).await;
        }
        let invalid = constrained(&bench, Bench::call(name, json!({"nonsense": 1}))).await.expect("an error");
        assert_eq!(invalid.code, ErrorCode::InvalidArgument, "{name}");
        let cancelled = Bench::call_with(name, tool.definition.examples[0].arguments.clone());
        cancelled.context.cancellation.cancel(StopCause::Cancelled);
        let cancelled = constrained(&bench, cancelled).await.expect("an error");
        assert_eq!(cancelled.code, ErrorCode::Cancelled, "{name}");
    }
    for &code in ErrorCode::VARIANTS {
        let call = Bench::call("debug_fail", json!({"code": code.into_str(), "retry_after": "2s"}));
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
    for tool in bench.registry.snapshot().tools().filter(|tool| is_callable(tool)) {
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
    call.context.deadline = call.context.deadline.no_later_than(call.arrived.at + Duration::from_millis(200));
    assert_eq!(bench.run(call).await.unwrap_err(), Refusal::DeadlineExceeded);

    let mut call = sleep();
    call.context.deadline = call.context.deadline.no_later_than(call.arrived.at + Duration::from_millis(199));
    assert_eq!(bench.run(call).await.unwrap_err(), Refusal::DeadlineExceeded);
}

#[tokio::test]
async fn a_write_whose_result_is_too_large_says_that_it_was_done() {
    let parameters =
        json!({"value": {"required": true, "max_length": 4_000_000}, "duration": {"default": "0s"}});
    let bench = Bench::with_manifest("debug_write", &json!({"parameters": parameters}));
    let (code, message) = error(bench.run(write(RequestId::generate(), &"x".repeat(3_500_000), "0s")).await);
    assert_eq!(
        (code, message.starts_with("The write was done.")),
        (ErrorCode::ResultTooLarge, true),
        "{message}"
    );
}

#[tokio::test]
async fn every_level_of_nested_calls_has_less_time_than_the_one_above() {
    let bench = Bench::new();
    let mut call = Bench::call("debug_nested", json!({"depth": 5, "duration": "0s"}));
    call.context.deadline = call.context.deadline.no_later_than(call.arrived.at + Duration::from_secs(10));
    let outcome = result(bench.run(call).await).outcome.expect("data");
    let levels = outcome.json()["levels"].as_array().expect("a list").clone();
    assert_eq!(levels.len(), 5);
    for pair in levels.windows(2) {
        assert_eq!(pair[1]["parent_call_id"], pair[0]["call_id"]);
        assert!(
            crate::support::seconds(&pair[1]["remaining"]) < crate::support::seconds(&pair[0]["remaining"])
        );
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
            Step::Event(Event::AwaitingConfirmation(_)) => "awaiting",
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
async fn an_intent_drops_what_its_tool_does_not_declare_of_the_table_of_000_and_nothing_else() {
    let bench = Bench::new();
    let call = Bench::intent("quotes", json!({"symbol": "AAPL", "account": "Brokerage", "timeframe": null}));
    assert_eq!(result(bench.run(call).await).tool.as_str(), "get_quotes");
    let passed = json!({
        "symbol": "AAPL", "account": "Brokerage", "asset_class": "etf", "assetClass": 1, "timeframe": "YTD",
        "topic": "etf",
    });
    assert!(result(bench.run(Bench::intent("quotes", passed)).await).outcome.is_ok());
    let call = Bench::call("get_quotes", json!({"symbol": "AAPL", "account": "Brokerage"}));
    assert_eq!(error(bench.run(call).await).0, ErrorCode::InvalidArgument);
    for mistake in ["symbl", "direction", "limit"] {
        let mut arguments = json!({"symbol": "AAPL"});
        arguments[mistake] = json!("best");
        let failed = result(bench.run(Bench::intent("quotes", arguments)).await).outcome.expect_err(mistake);
        let violation = &failed.violations[0];
        let expected = (format!("/{mistake}"), "additionalProperties");
        assert_eq!((violation.pointer.clone(), violation.rule.as_str()), expected);
    }
}

/// The tools filter by equality and fall back on a text, whatever they are asked for.
#[tokio::test]
async fn what_is_answered_emptily_or_by_a_fallback_is_not_a_violation() {
    let bench = Bench::new();
    for (tool, input, field, expected) in [
        ("get_positions_list", json!({"asset_class": "crypto"}), "positions", json!([])),
        ("get_positions_list", json!({"asset_class": "crypto"}), "asset_class_filter", json!("crypto")),
        ("get_facts", json!({"topic": ""}), "source", json!("facts/rebalancing.md")),
    ] {
        let data = result(bench.run(Bench::call(tool, input)).await).outcome.expect(tool);
        assert_eq!(data.json()[field], expected, "{tool}");
    }
    let all = result(bench.run(Bench::call("get_positions_list", json!({"asset_class": ""}))).await);
    let all = all.outcome.expect("no filter").json().clone();
    assert!(
        all["positions"].as_array().is_some_and(|it| it.len() == 12)
            && all.get("asset_class_filter").is_none()
    );
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
