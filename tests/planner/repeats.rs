//! Messages that change one value of the last call: a number, a time, a name in place of another.

use toolwire::planner::Step;

use super::offered::Bench;

#[track_caller]
fn check(earlier: &str, said: &str, expected: &str) {
    let Step::Call(calls) = Bench::new().decide(&[earlier], said).step else { panic!("{said}: no call") };
    let shown = |call: &toolwire::planner::PlannedCall| {
        let values = call.arguments.iter().map(|(name, value)| format!(" {name}={value}"));
        std::iter::once(call.tool.clone()).chain(values).collect::<String>()
    };
    assert_eq!(calls.iter().map(shown).collect::<Vec<_>>(), [expected], "{said}");
}

#[test]
fn a_number_alone_is_that_of_the_last_call() {
    check("Show my last 5 trades", "make it 10", "get_activity limit=10");
    check("News about Reliance", "just 3 of them", "get_news symbol=\"RELIANCE\" limit=3");
}

#[test]
fn a_time_alone_is_that_of_the_last_call() {
    check("How did my account do this year?", "and since inception?", "get_performance timeframe=\"ALL\"");
    check("Earnings of Infosys", "last 2 years", "get_earnings symbol=\"INFY\" quarters=8");
}

#[test]
fn a_name_may_replace_another_one() {
    let expected = "compare_stocks symbols=[\"TCS\",\"INFY\"]";
    check("Compare TCS and Wipro", "what about Infosys instead of Wipro", expected);
}

#[test]
fn any_at_the_end_is_of_what_was_named() {
    check("What is Apple trading at?", "do I own any?", "get_positions symbol=\"AAPL\"");
}

#[test]
fn words_that_a_parameter_takes_are_a_value_of_the_last_call() {
    check(
        "Is Suzlon in the wait zone?",
        "use the core profile",
        "check_wait_zone symbol=\"SUZLON\" profile=\"core\"",
    );
}

#[test]
fn what_was_named_before_is_what_a_question_without_a_name_is_about() {
    check("Is Dixon overbought?", "add that to my watchlist", "add_to_watchlist symbol=\"DIXON\"");
}
