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
        ("Compare Apple and Microsoft this year", &["Apple"][..]),
        ("how much did I pay in fees?", &[]),
        ("Kindly show me my recent trades, dude", &[]),
        ("TCS price and the weather in Mumbai", &["the weather in Mumbai"]),
        ("TCS price and book me a flight to Delhi", &["book me a flight to Delhi"]),
        ("TCS price today and the weather this week", &["the weather this week"]),
        ("show my holdings and order a pizza", &["order a pizza"]),
        ("When did I last buy Nvidia?", &[]),
        ("When did I last buy Reliance?", &["Reliance"]),
        ("How did my portfolio do last month?", &[]),
        ("news of TCS and how many employees it has", &["how many employees it has"]),
        ("How is my Apple position doing?", &[]),
        ("Small cap screen, stocks with a PE under 15", &["under 15"]),
        ("Which screens of small caps are there?", &[]),
        ("What are my three worst positions?", &["three"]),
        ("What are my 2 best positions over the last 3 months?", &["2"]),
        ("Show my last 5 trades", &[]),
        ("my last deposit", &[]),
        ("show my 3 biggest deposits", &["biggest"]),
        ("my largest position", &[]),
        ("my oldest trade", &["oldest"]),
        ("deposits above $2000", &["above $2000"]),
        ("not only TCS, Infosys news too", &[]),
        ("Q2 results of Infosys; also those of Wipro", &[]),
        ("first trade I ever made", &["first"]),
        ("which of my positions fell the hardest today?", &[]),
        ("show positions and open orders", &["open orders"]),
        ("AAPL quote and MSFT news", &["MSFT"]),
        ("how is my apple position, in rupees", &["in rupees"]),
        ("apple price and when does the next iphone come out", &["when does the next iphone come out"]),
        ("set an alert for tcs at 3000 and show its rsi", &["set an alert for tcs at 3000"]),
        ("not apple, microsoft price", &[]),
    ] {
        assert_eq!(left_out(&bench, said).expect(said).words, expected, "{said}");
    }
}

/// An order that no tool carries out is refused alone: what was asked beside it is named.
#[test]
fn what_is_asked_beside_a_refused_order_is_named() {
    let bench = Bench::new();
    for (said, rest) in [
        ("place a stop loss on Tesla and show my cash", "I have not looked into “show my cash”"),
        ("sell Tesla, then show my trades", "I have not looked into “show my trades”"),
        ("show my cash, then sell MSFT", "I have not looked into “show my cash”"),
        ("TCS price and buy 5 of it", "I have not looked into “TCS price”"),
        ("price of TCS, buy 5", "I have not looked into “price of TCS”"),
        ("what is my cash, invest 1000 of it in VOO", "I have not looked into “what is my cash”"),
        ("compare tcs with infy and buy the cheaper one", "I have not looked into “compare tcs with infy”"),
        ("buy 10 tcs and add it to my watchlist", "I have not looked into “add it to my watchlist”"),
        ("move 1000 from brokerage to retirement, then show both balances", "“show both balances”"),
        ("compare HDFC Bank and ICICI then invest 10k in the better one", "“compare HDFC Bank and ICICI”"),
        ("my cash, invest 10k in VOO", "“my cash”"),
        ("my cash please and put 5000 into VOO", "“my cash please”"),
        ("square off my Microsoft position, and my cash", "“my cash”"),
        ("deposit 100 dollars and check if the last one arrived", "“check if the last one arrived”"),
    ] {
        let Step::Refuse(answer) = bench.decide(&[], said).step else { panic!("{said}") };
        assert!(answer.contains(rest), "{said}: {answer}");
    }
    for said in ["sell Tesla", "double my position in MSFT", "tcs ke 5 share kharid do"] {
        let Step::Refuse(answer) = bench.decide(&[], said).step else { panic!("{said}") };
        assert!(!answer.contains("looked into"), "{said}: {answer}");
    }
    for said in
        ["trades in 2025, sell only", "what did I buy in 2024, sell side too", "news of TCS, buy zone?"]
    {
        assert!(!matches!(bench.decide(&[], said).step, Step::Refuse(_)), "{said}");
    }
}

/// Whatever words such a clause has: what counts is that no called tool is about most of them.
#[test]
fn a_clause_that_no_call_took_is_told() {
    let bench = Bench::new();
    for (said, expected) in [
        ("show my holdings and write a poem about them", "write a poem about them"),
        ("my bonds and the gold price", "the gold price"),
        ("tell me the price of TCS and the time in Tokyo", "the time in Tokyo"),
        ("show TCS news and call my mom", "call my mom"),
        ("how is Apple doing and should I buy more", "should I buy more"),
        ("how much cash do I have and how much will I have next year", "how much will I have next year"),
        ("show my holdings, then sort them by price", "by price"),
        ("my portfolio value and the bitcoin price", "the bitcoin price"),
        ("RSI of TCS and a haiku", "a haiku"),
        ("my deposits and the GDP of India", "the GDP of India"),
        ("show my deposits and plot them", "plot them"),
        ("show my watchlist and the lottery numbers", "the lottery numbers"),
        ("show my positions grouped by sector", "by sector"),
        ("show my trades and group them by month", "group them by month"),
        ("price of Infosys and book a cab", "book a cab"),
        ("show my trades and export them to excel", "export them to excel"),
        ("my positions and draw a chart", "draw a chart"),
        ("price of TCS and convert it to dollars", "convert it to dollars"),
        ("show my holdings and tell my wife", "tell my wife"),
        ("TCS news and fix my printer", "fix my printer"),
    ] {
        let words = left_out(&bench, said).unwrap_or_else(|| panic!("{said}")).words;
        assert!(words.iter().any(|word| word == expected), "{said}: {words:?}");
    }
}

#[test]
fn a_clause_that_a_call_took_is_not_told() {
    let bench = Bench::new();
    for said in [
        "how much cash do I have and what did I deposit",
        "my deposits and withdrawals",
        "what's my cash balance and how much of it is uninvested",
        "show my trades and deposits in 2025",
        "what are my gains and losses",
        "best and worst stock",
        "what did I buy and when",
        "what did I buy and at which price",
        "what is my portfolio worth and how much is cash",
        "is TCS up or down today and by how much",
        "RSI and MACD of TCS",
        "news of TCS and Infosys",
        "revenue and profit of TCS",
        "compare TCS and Infosys",
        "show my positions and their values",
        "is TCS overbought and is it above its moving average",
        "Order my positions by market value",
        "show my recent trades, thanks and bye",
        "six-month performance, and make it snappy",
        "What's Johnson & Johnson's share price?",
        "lay out Sun Pharma's profit quarter by quarter",
        "Has my $1,500 deposit landed yet?",
        "which screens are there and what do they hold",
        "maine ab tak kaun se share kharide aur beche hain",
        "did i trade anything in the past few days? can't remember",
        "my brother in law keeps bragging about qqq, what's it trading for",
        "When did the mutual funds buy Infosys, and how much do they hold?",
    ] {
        assert_eq!(left_out(&bench, said).expect(said).words, [""; 0], "{said}");
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
        ("What are my best and worst stocks this year?", Some(LeftOutTime::Whole)),
        ("Which of my stocks did best today?", None),
        ("How much cash do I have next month?", Some(LeftOutTime::Whole)),
        ("When does TCS report next quarter?", None),
        ("my positions and remind me tomorrow", None),
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
