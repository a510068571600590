//! What of a question had no part in what was called for it: it is told beside the answer.

use toolwire::planner::{
    Step, {LeftOut, LeftOutTime},
};

use super::{
    offered::Bench,
    questions::{self, Expect},
};

fn left_out(bench: &Bench, message: &str) -> Option<LeftOut> {
    let Step::Call(calls) = bench.decide(&[], message).step else { return None };
    Some(bench.left_out(message, &calls))
}

#[test]
fn names_numbers_and_clauses_without_a_part_in_the_answer_are_told() {
    let bench = Bench::new();
    for (said, expected) in [
        ("Compare Apple and Microsoft this year", &["Apple", "Microsoft"][..]),
        ("how much did I pay in fees?", &[]),
        ("Kindly show me my recent trades, dude", &[]),
        ("TCS price and the weather in Mumbai", &["the weather in Mumbai"]),
        ("TCS price and book me a flight to Delhi", &["book me a flight to Delhi"]),
        ("TCS price today and the weather this week", &["the weather this week"]),
        ("show my holdings and order a pizza", &["order a pizza"]),
        ("When did I last buy Nvidia?", &["Nvidia"]),
        ("How did my portfolio do last month?", &[]),
        ("How is my Apple position doing?", &[]),
        ("Small cap screen, stocks with a PE under 15", &["under 15"]),
        ("Which screens of small caps are there?", &[]),
        ("What are my three worst positions?", &["three"]),
        ("What are my 2 best positions over the last 3 months?", &["2"]),
        ("Show my last 5 trades", &[]),
    ] {
        assert_eq!(left_out(&bench, said).expect(said).words, expected, "{said}");
    }
}

#[test]
fn times_that_no_tool_knows_are_told() {
    let bench = Bench::new();
    for (said, expected) in [
        ("What did I deposit in 2025?", None),
        ("What was my cash balance in 2025?", Some(LeftOutTime::Whole)),
        ("How did my portfolio do last month?", Some(LeftOutTime::Calendar)),
        ("How did my portfolio do over the last month?", None),
        ("How did my portfolio do this year?", None),
        ("Any news about Infosys in the last week?", None),
    ] {
        assert_eq!(left_out(&bench, said).expect(said).time, expected, "{said}");
    }
}

/// Who is told each time what says nothing reads it no more.
#[test]
fn hardly_any_question_has_words_without_a_part_in_its_answer() {
    let bench = Bench::new();
    let mut all = 0;
    let mut noted = Vec::new();
    for question in questions::read("tests/fixtures/agent/questions.jsonl") {
        if question.expect != Expect::Call || question.dialogue.is_some() {
            continue;
        }
        let Some(left_out) = left_out(&bench, &question.said) else { continue };
        all += 1;
        if !left_out.words.is_empty() {
            noted.push((question.said, left_out.words));
        }
    }
    println!("{} of {all}: {noted:#?}", noted.len());
    assert!(noted.len() * 10 <= all, "{noted:#?}");
}
