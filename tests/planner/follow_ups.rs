//! What is never called, what is asked instead, and what is taken over from what was said before.

use serde_json::json;
use toolwire::agent::plan::{Plan, Step};

use super::offered::Bench;

#[track_caller]
fn calls(plan: &Plan) -> Vec<(String, serde_json::Value)> {
    let Step::Call(calls) = &plan.step else { panic!("{plan:?}") };
    calls.iter().map(|call| (call.tool.clone(), call.arguments.clone().into())).collect()
}

#[test]
fn a_name_that_may_be_several_is_asked_for_with_what_it_may_be() {
    let plan = Bench::new().decide(&[], "What news is there on Tata?");
    let Step::Clarify(question) = &plan.step else { panic!("{plan:?}") };
    assert!(
        question.starts_with("Which stock do you mean") && question.contains("Tata Motors"),
        "{question}"
    );
}

#[test]
fn what_changes_something_needs_an_order_and_everything_it_takes() {
    let bench = Bench::new();
    let order = bench.decide(&[], "Put Reliance on my watchlist");
    assert_eq!(calls(&order), [("add_to_watchlist".to_owned(), json!({"symbol": "RELIANCE"}))]);
    let question = bench.decide(&[], "Is Reliance on my watchlist?");
    assert_eq!(calls(&question)[0].0, "browse_watchlist");
    let nothing = bench.decide(&[], "Add it to my watchlist");
    assert!(matches!(nothing.step, Step::Clarify(_)), "{nothing:?}");
}

#[test]
fn an_order_that_no_tool_carries_out_is_refused_in_words() {
    let bench = Bench::new();
    for order in [
        "Buy 10 AAPL",
        "send 500 to my bank",
        "Please sell all my Tesla shares",
        "Check TCS and buy 10 of it",
    ] {
        let plan = bench.decide(&[], order);
        assert!(matches!(plan.step, Step::Refuse(_)), "{order}: {plan:?}");
    }
}

#[test]
fn a_number_out_of_bounds_is_asked_for_and_never_moved() {
    let plan = Bench::new().decide(&[], "News on Reliance from the last 90 days");
    let Step::Clarify(question) = &plan.step else { panic!("{plan:?}") };
    assert!(question.contains("1 to 30"), "{question}");
}

#[test]
fn an_answer_to_a_question_completes_what_was_asked() {
    let bench = Bench::new();
    let plan = bench.decide(&["What's the RSI?"], "TCS");
    assert_eq!(calls(&plan), [("get_technicals".to_owned(), json!({"symbol": "TCS"}))]);
}

#[test]
fn several_names_are_a_call_each_where_a_tool_takes_one() {
    let plan = Bench::new().decide(&[], "What is the RSI of TCS and Infosys?");
    let both = [
        ("get_technicals".to_owned(), json!({"symbol": "TCS"})),
        ("get_technicals".to_owned(), json!({"symbol": "INFY"})),
    ];
    assert_eq!(calls(&plan), both);
}

#[test]
fn the_same_message_is_always_planned_the_same() {
    let (one, other) = (Bench::new(), Bench::new());
    for message in [
        "How is my Apple position doing?",
        "compare infy tcs",
        "???",
        "",
        "and",
        "\u{0}\u{202e}",
        "?;?;?;?;?",
    ] {
        assert_eq!(one.decide(&[], message), other.decide(&[], message), "{message}");
    }
}
