//! What is shown at once, and what is only offered since a part of the message is not understood.

use toolwire::planner::Step;

use super::offered::Bench;

/// What is not understood of a message, if a call is offered.
fn unclear(bench: &Bench, said: &str) -> Option<Vec<String>> {
    match bench.decide(&[], said).step {
        Step::Offer { unclear, calls } if !calls.is_empty() => Some(unclear),
        _ => None,
    }
}

#[test]
fn what_a_call_does_not_cover_is_named() {
    let bench = Bench::new();
    for (said, expected) in [
        ("my 401k return this year", &["401k"][..]),
        ("my holdings without the bond funds", &["without"]),
        ("Show all my positions except Apple", &["except"]),
    ] {
        let unclear = unclear(&bench, said).unwrap_or_else(|| panic!("{said}"));
        assert!(expected.iter().all(|part| unclear.iter().any(|it| it == part)), "{said}: {unclear:?}");
    }
}

#[test]
fn nothing_that_is_denied_is_shown() {
    let bench = Bench::new();
    for said in [
        "Don't show me the price of Apple",
        "which of my positions isn't in the red",
        "everything I own but not the ETFs",
        "market news, nothing about the economy",
        "stocks I do not own",
    ] {
        let step = bench.decide(&[], said).step;
        assert!(!matches!(step, Step::Call(_)), "{said}: {step:?}");
    }
}

#[test]
fn a_second_time_is_not_left_out_in_silence() {
    let bench = Bench::new();
    for said in [
        "sales in 2023 and in 2025",
        "my sales in March 2025 or June 2025",
        "my trades on 2 May 2025, 9 May 2025",
        "my sales in March and June 2025",
        "my trades since March 2025, in June 2025",
        "my trades from 2024 to 2022",
        "my trades yesterday and today",
        "my trades this year and last year",
    ] {
        let step = bench.decide(&[], said).step;
        assert!(!matches!(step, Step::Call(_)), "{said}: {step:?}");
    }
    for said in ["my trades from March to June 2025", "my trades between March and June 2025"] {
        let step = bench.decide(&[], said).step;
        assert!(matches!(step, Step::Call(_)), "{said}: {step:?}");
    }
}

#[test]
fn what_goes_on_from_a_call_does_not_lose_its_time_in_silence() {
    let bench = Bench::new();
    for (earlier, said) in [
        ("what did I buy in 2024", "and sold?"),
        ("my deposits in 2024", "and withdrawals?"),
        ("my deposits in 2024", "and trades?"),
        ("show my last 5 trades", "and deposits?"),
    ] {
        let step = bench.decide(&[earlier], said).step;
        assert!(!matches!(step, Step::Call(_)), "{earlier} {said}: {step:?}");
    }
}

#[test]
fn a_corrected_spelling_is_not_shown_at_once() {
    let bench = Bench::new();
    for said in ["price of tesle", "infosis news", "how much is in my retirment account", "shwo my postions"]
    {
        let step = bench.decide(&[], said).step;
        assert!(!matches!(step, Step::Call(_)), "{said}: {step:?}");
    }
}

#[test]
fn a_second_question_is_not_left_out_in_silence() {
    let bench = Bench::new();
    for said in [
        "What do I own and what is it worth?",
        "Show my holdings. What is the weather?",
        "news of Titan; and how tall is Everest?",
        "the best and the worst of my positions",
    ] {
        let step = bench.decide(&[], said).step;
        assert!(!matches!(step, Step::Call(_)), "{said}: {step:?}");
    }
}

#[test]
fn a_whole_question_is_shown_at_once() {
    let bench = Bench::new();
    for (said, tool) in [
        ("What is Apple trading at?", "get_quotes"),
        ("my retirement return this year", "get_performance"),
        ("Show my deposits and withdrawals.", "get_transfers"),
        ("What is the RSI of TCS and Infosys?", "get_technicals"),
        ("Please show me the shareholding pattern of Titan", "get_institutional_holdings"),
    ] {
        let Step::Call(calls) = bench.decide(&[], said).step else { panic!("{said}") };
        assert!(calls.iter().all(|call| call.tool == tool), "{said}: {calls:?}");
    }
}

/// So the work for the longest message that a chat takes is that for 128 words.
#[test]
fn a_message_that_is_too_long_for_one_question_is_not_read() {
    let bench = Bench::new();
    let is_too_long = |said: &str| {
        let step = bench.decide(&[], said).step;
        matches!(step, Step::Clarify(question) if question.contains("at most 128 words"))
    };
    for part in
        ["Tata ", "and ", "price of TCS, ", "not ", "since June ", "tatq ", "a,b;c?d.", "note: ", "AB1 "]
    {
        assert!(is_too_long(&part.repeat(16_384 / part.len())), "{part:?}");
    }
    assert!(!is_too_long(&"Tata ".repeat(128)) && is_too_long(&"Tata ".repeat(129)));
    assert!(!is_too_long(&"x".repeat(16_384)), "a word may be long");
}

#[test]
fn a_long_message_is_not_taken_up_by_the_next_one() {
    let bench = Bench::new();
    let long = "What is the price of Apple? ".repeat(30);
    let Step::Call(calls) = bench.decide(&[&long], "What is Apple trading at?").step else {
        panic!("no call")
    };
    assert_eq!(calls[0].tool, "get_quotes");
}

#[test]
fn what_two_tools_are_nearly_as_much_about_is_asked() {
    let bench = Bench::new();
    for said in ["cmp of infosys", "Price of Infosys and TCS"] {
        let step = bench.decide(&[], said).step;
        assert!(
            matches!(&step, Step::Clarify(question) if question.starts_with("Do you mean “")),
            "{step:?}"
        );
    }
}
