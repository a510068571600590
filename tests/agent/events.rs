//! Promise 1: exactly one terminal event, sequences without a gap, deltas that are the answer, citations of this turn;
//! whatever is planned, called and answered.

use std::collections::BTreeSet;

use proptest::{
    prelude::*,
    test_runner::{Config as Cases, TestRunner},
};
use tokio::runtime::Builder;
use toolwire::contract::proto::{
    agent::v1::{CallAction, TurnOutcome, ValidationAction, tool_call_finished::Outcome},
    v1::{ToolErrorCode, tool_result},
};

use super::*;

/// What must hold of the events of any turn that ends.
#[track_caller]
fn check(events: &[TurnEvent]) {
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.sequence, at as u64, "{events:?}");
    }
    let is_terminal = |event: &TurnEvent| matches!(event.event, Some(Event::Final(_) | Event::Paused(_)));
    assert_eq!(events.iter().filter(|event| is_terminal(event)).count(), 1, "{events:?}");
    assert!(is_terminal(events.last().unwrap()));
    assert!(matches!(events[0].event, Some(Event::Started(_))));
    let (mut begun, mut ended, mut said) = (Vec::new(), Vec::new(), String::new());
    for event in events {
        match event.event.as_ref().unwrap() {
            Event::ToolCallStarted(call) => begun.push(call.call_id.clone()),
            Event::ToolCallFinished(call) => ended.push(call.call_id.clone()),
            Event::AnswerDelta(delta) => said.push_str(&delta.text),
            _ => {}
        }
    }
    begun.sort();
    ended.sort();
    assert_eq!(begun, ended, "every call that begins ends once");
    if let Some(Event::Final(reply)) = &events.last().unwrap().event {
        assert_eq!(said, answer(reply));
        let sources: BTreeSet<_> = reply.sources.iter().map(|source| &source.source_id).collect();
        let response = reply.response.as_ref().unwrap();
        assert!(response.citations.iter().all(|citation| sources.contains(citation)), "{reply:?}");
        assert!((0.0..=1.0).contains(&response.confidence));
        assert_eq!(response.needs_clarification, response.clarifying_question.is_some());
        assert_eq!(reply.current_step, "validate");
    }
}

fn calls() -> impl Strategy<Value = Value> {
    let code =
        prop::sample::select(vec!["RATE_LIMITED", "NOT_FOUND", "TIMEOUT", "BLOCKED", "INVALID_ARGUMENT"]);
    prop_oneof![
        prop::sample::select(vec!["AAPL", "MSFT", "NOPE"])
            .prop_map(|symbol| call("get_quotes", &json!({"symbol": symbol}))),
        code.prop_map(|code| call("debug_fail", &json!({"code": code}))),
        "[a-z]{1,3}".prop_map(|value| call("debug_write", &json!({"value": value}))),
        "[a-z]{1,3}".prop_map(|value| call("debug_confirm", &json!({"value": value}))),
        Just(call("debug_panic", &json!({}))),
        Just(call("debug_stream", &json!({"count": 2}))),
        Just(call("../x", &json!({}))),
        Just(call("get_quotes", &json!({"symbol": 7, "extra": [1]}))),
        Just(call("get_positions_list", &json!({}))),
    ]
}

fn scripts() -> impl Strategy<Value = Value> {
    let step = prop_oneof![
        6 => prop::collection::vec(calls(), 1..5).prop_map(|calls| json!({"calls": calls})),
        1 => Just(json!({"clarify": "Which one?"})),
        1 => Just(json!({"refuse": "No tool does that."})),
        1 => Just(json!({"fail": "no plan"})),
    ];
    let text = prop::sample::select(vec![
        "It is 193.12. ",
        "It is 4711.5. ",
        "Nothing to say. ",
        "See [tool:quotes:v1]. ",
        "See [tool:secrets:v1]. ",
        "Go to https://evil.example/x. ",
        "![](https://evil.example/p.png) ",
        "\n\n- 42 shares\n- 12 shares\n",
        "",
    ]);
    let texts = prop::collection::vec(text, 0..4);
    (prop::collection::vec(step, 0..5), texts.clone(), texts)
        .prop_map(|(plans, answer, repair)| json!({"plans": plans, "answer": answer, "repair": repair}))
}

#[test]
fn every_turn_ends_once_says_what_it_answers_and_cites_what_it_read() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (house, riley) = runtime.block_on(async {
        let house = House::new();
        let riley = house.person("demo").await;
        (house, riley)
    });
    let mut runner = TestRunner::new(Cases { cases: 150, failure_persistence: None, ..Cases::default() });
    let done = runner.run(&scripts(), |script| {
        let (events, status) = runtime.block_on(riley.events(says(&script)));
        assert!(status.is_none(), "{status:?}");
        check(&events);
        Ok(())
    });
    done.unwrap();
    // Nothing is left running.
    assert!(house.server.app.part::<Turns>().running().is_empty());
    runtime.block_on(house.server.app.tools.in_flight().wait_until_empty());
}

#[tokio::test]
async fn a_question_is_planned_called_answered_and_cited() {
    let house = House::new();
    let riley = house.person("demo").await;
    let (events, _) = riley.events(within("s-1", says(&quotes()))).await;
    check(&events);
    let Some(Event::Started(started)) = &events[0].event else { panic!() };
    assert_eq!((started.session_id.as_str(), started.mode.as_str()), ("s-1", "native"));
    assert!(started.tools_offered > 20 && started.deadline.is_some());
    let reply = last(&events);
    assert_eq!(answer(reply), "It is 193.12. [tool:quotes:v1]");
    let response = reply.response.as_ref().unwrap();
    assert_eq!(
        (response.citations.as_slice(), response.confidence),
        (&["tool:quotes:v1".to_owned()][..], 1.0)
    );
    assert_eq!(reply.outcome(), TurnOutcome::Answered);
    assert_eq!(reply.validation.as_ref().unwrap().action(), ValidationAction::Attributed);
    assert_eq!(reply.tool_results[0].arguments_json, r#"{"symbol":"AAPL"}"#);
    let trace = reply.trace.as_ref().unwrap();
    assert_eq!((trace.intent.as_str(), trace.tools[0].source_id.as_str()), ("quotes", "tool:quotes:v1"));
    let Some(Event::Citations(cited)) = &events[events.len() - 2].event else { panic!("{events:?}") };
    assert_eq!(
        (cited.sources[0].tool.as_str(), cited.sources[0].as_of.as_str()),
        ("get_quotes", "2026-01-15")
    );
    let context = reply.context.as_ref().unwrap();
    assert_eq!((context.as_of.as_str(), context.items.len()), ("2026-01-15", 1));
}

#[tokio::test]
async fn structures_are_the_default_form_and_say_the_same() {
    let house = House::new();
    let riley = house.person("demo").await;
    let input = TurnInput { result_format: 0, ..says(&quotes()) };
    let reply = riley.reply(input).await;
    let made = &reply.tool_results[0];
    assert!(made.arguments.is_some() && made.arguments_json.is_empty());
    let Some(tool_result::Outcome::Data(data)) = &made.result.as_ref().unwrap().outcome else { panic!() };
    assert!(data.fields.contains_key("quotes") || data.fields.contains_key("price"), "{data:?}");
}

#[tokio::test]
async fn when_no_call_succeeds_the_reply_says_why_and_asks_for_another_symbol_only_if_that_may_help() {
    let house = House::new();
    let riley = house.person("demo").await;
    let question = "Can you double-check the request or try a different symbol?";
    for (code, next, asks) in [
        ("NOT_FOUND", "", Some(question)),
        ("BLOCKED", "The source refuses this server's requests: tell the operator.", None),
        ("UNAVAILABLE", "Nothing is wrong with the question: ask again later.", None),
    ] {
        let fail = call("debug_fail", &json!({"code": code}));
        let (events, _) =
            riley.events(says(&json!({"plans": [{"calls": [fail]}], "answer": ["Never said."]}))).await;
        check(&events);
        let reply = last(&events);
        let response = reply.response.clone().unwrap();
        let why =
            format!("I could not retrieve the data needed to answer. Failed with {code} as asked. {next}");
        assert_eq!(response.answer_markdown.replace('\\', ""), why.trim());
        assert_eq!((response.citations.len(), response.confidence), (0, 0.0));
        assert_eq!(response.clarifying_question.as_deref(), asks, "{code}");
        assert_eq!(reply.outcome(), TurnOutcome::Degraded);
    }
}

/// A refusal ends the other calls of its step, which the answer says too.
#[tokio::test]
async fn a_call_that_another_one_s_refusal_ended_is_said() {
    let house = House::new();
    let riley = house.person("demo").await;
    let waits = call("debug_sleep", &json!({"duration": "60s"}));
    let blocked = call("debug_fail", &json!({"code": "BLOCKED"}));
    let (events, _) = riley.events(says(&json!({"plans": [{"calls": [waits, blocked]}]}))).await;
    check(&events);
    let said = answer(last(&events));
    assert!(said.contains("Failed with BLOCKED as asked."), "{said}");
    assert!(said.contains("Not waited for, because another source refuses requests."), "{said}");
    assert_eq!(last(&events).tool_results.len(), 2);
}

/// How each code is acted upon, and how many calls that makes.
#[tokio::test]
async fn the_loop_does_what_the_table_says_of_each_code() {
    let house = House::new();
    let riley = house.person("demo").await;
    for (code, expected, outcome) in [
        ("BLOCKED", vec![CallAction::Stopped], TurnOutcome::Stopped),
        ("AUTH_FAILED", vec![CallAction::Stopped], TurnOutcome::Stopped),
        ("TIMEOUT", vec![CallAction::Retried, CallAction::Skipped], TurnOutcome::Answered),
        ("RATE_LIMITED", vec![CallAction::Skipped], TurnOutcome::Answered),
        ("CONFIRMATION_DENIED", vec![CallAction::Skipped], TurnOutcome::Answered),
    ] {
        let first = call("get_quotes", &json!({"symbol": "AAPL"}));
        let plans = json!([{"calls": [first]}, {"calls": [call("debug_fail", &json!({"code": code}))]}]);
        let (events, _) = riley.events(says(&json!({"plans": plans, "answer": ["It is 193.12."]}))).await;
        check(&events);
        let actions: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.event {
                Some(Event::ToolCallFinished(call)) => Some(call.action()),
                _ => None,
            })
            .skip(1)
            .collect();
        assert_eq!(actions, expected, "{code}");
        assert_eq!(last(&events).outcome(), outcome, "{code}");
        let alerts = events.iter().filter(|event| matches!(event.event, Some(Event::Alert(_)))).count();
        assert_eq!(alerts, usize::from(outcome == TurnOutcome::Stopped), "{code}");
        assert!(
            answer(last(&events)).starts_with("It is 193.12."),
            "{code}: what there was is answered from"
        );
    }
}

#[tokio::test]
async fn an_equal_call_is_answered_from_the_cycle_and_a_hundred_are_cut_at_the_budget() {
    let house = House::new();
    let riley = house.person("demo").await;
    let same = call("get_quotes", &json!({"symbol": "AAPL"}));
    let plans = json!([{"calls": [same, same]}, {"calls": [same]}]);
    let reply = riley.reply(says(&json!({"plans": plans, "answer": ["It is 193.12."]}))).await;
    assert_eq!((reply.usage.as_ref().unwrap().calls, reply.tool_results.len()), (1, 3));
    assert_eq!(reply.trace.as_ref().unwrap().tools.len(), 1, "what is answered from the cycle is no call");

    let many: Vec<_> = (0..100).map(|n| call("debug_write", &json!({"value": n.to_string()}))).collect();
    let (events, _) = riley.events(says(&json!({"plans": [{"calls": many}], "answer": ["Done."]}))).await;
    check(&events);
    let reply = last(&events);
    assert_eq!((reply.outcome(), reply.usage.as_ref().unwrap().calls), (TurnOutcome::BudgetSpent, 16));
    let begun = events.iter().filter(|event| matches!(event.event, Some(Event::ToolCallStarted(_)))).count();
    assert_eq!(begun, 16);
    assert!(reply.warnings.iter().any(|warning| warning.contains("16 calls")), "{:?}", reply.warnings);
}

#[tokio::test]
async fn a_planner_that_never_stops_is_stopped_by_the_budget() {
    let house = House::new();
    let riley = house.person("demo").await;
    let plans: Vec<_> =
        (0..20).map(|n| json!({"calls": [call("debug_write", &json!({"value": n.to_string()}))]})).collect();
    let reply = riley.reply(says(&json!({"plans": plans, "answer": ["Done."]}))).await;
    assert_eq!((reply.outcome(), reply.usage.as_ref().unwrap().steps), (TurnOutcome::BudgetSpent, 8));
}

#[tokio::test]
async fn no_call_leaves_the_offer() {
    let house = House::new();
    let riley = house.person("demo").await;
    let plans = json!([{"calls": [call("get_quote", &json!({})), call("../x", &json!({}))]}]);
    let (events, _) = riley.events(says(&json!({"plans": plans}))).await;
    check(&events);
    assert!(!events.iter().any(|event| matches!(event.event, Some(Event::ToolCallStarted(_)))));
    let Some(tool_result::Outcome::Error(error)) =
        &last(&events).tool_results[0].result.as_ref().unwrap().outcome
    else {
        panic!()
    };
    assert_eq!(error.code(), ToolErrorCode::NotFound);
    assert!(error.message.contains("get_quotes"), "{}", error.message);
}

#[tokio::test]
async fn a_lie_is_repaired_once_and_then_replaced_by_what_stands_in_the_results() {
    let house = House::new();
    let riley = house.person("demo").await;
    // In parts: a number of the message, which the script is, may be said.
    let lies = |repair: [&str; 2]| {
        let mut script = quotes();
        script["answer"] = json!(["It is 193.12. ", "It was 47", "11.5. "]);
        script["repair"] = json!(repair);
        script
    };
    let (events, _) = riley.events(says(&lies(["It rose ", "by 1.1 %."]))).await;
    check(&events);
    let reply = last(&events);
    assert!(answer(reply).starts_with("It is 193.12.") && answer(reply).contains("1.1"), "{}", answer(reply));
    assert_eq!(reply.validation.as_ref().unwrap().action(), ValidationAction::Repaired);

    let (events, _) = riley.events(says(&lies(["It will be 99", "99.9."]))).await;
    check(&events);
    let reply = last(&events);
    assert!(!answer(reply).contains("4711") && !answer(reply).contains("9999"), "{}", answer(reply));
    assert_eq!(reply.validation.as_ref().unwrap().action(), ValidationAction::Replaced);
    assert!(!reply.warnings.is_empty());
}

#[tokio::test]
async fn without_a_model_broken_arguments_become_a_question() {
    let house = House::with(Mode::Embedded, |_| ());
    let riley = house.person("demo").await;
    let plans = json!([{"calls": [call("get_performance", &json!({"timeframe": "soon"}))]}]);
    let (events, _) = riley.events(says(&json!({"plans": plans}))).await;
    check(&events);
    let reply = last(&events);
    assert_eq!(reply.outcome(), TurnOutcome::Clarify);
    assert!(answer(reply).contains("timeframe"), "{}", answer(reply));
}

#[tokio::test]
async fn a_composite_shows_its_nested_calls_in_the_trace_each_with_its_parent() {
    let house = House::new();
    let riley = house.person("demo").await;
    let plans = json!([{"calls": [call("get_symbol_performance", &json!({"symbol": "AAPL"}))]}]);
    let reply = riley.reply(says(&json!({"plans": plans, "answer": ["Done."]}))).await;
    let trace = reply.trace.unwrap();
    let outer = trace.tools.iter().find(|it| it.parent_call_id.is_empty()).unwrap();
    assert_eq!(
        (trace.intent.as_str(), outer.component.as_str()),
        ("symbol_performance", "symbol_performance")
    );
    let nested: BTreeSet<_> = trace
        .tools
        .iter()
        .filter(|it| it.parent_call_id == outer.call_id)
        .map(|it| it.component.as_str())
        .collect();
    assert_eq!(nested, ["activity", "positions", "quotes"].into());
}

#[tokio::test]
async fn the_outcome_of_a_finished_call_is_a_result_or_what_a_person_must_decide() {
    let house = House::new();
    let riley = house.person("demo").await;
    let plans = json!([{"calls": [call("debug_confirm", &json!({"value": "x"})), call("debug_write", &json!({"value": "y"}))]}]);
    let (events, _) = riley.events(says(&json!({"plans": plans}))).await;
    check(&events);
    let outcomes: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.event {
            Some(Event::ToolCallFinished(call)) => call.outcome.as_ref(),
            _ => None,
        })
        .collect();
    let asks = outcomes.iter().filter(|it| matches!(it, Outcome::ConfirmationRequired(_))).count();
    assert_eq!((outcomes.len(), asks), (2, 1));
}
