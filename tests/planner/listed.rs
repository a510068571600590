//! A message that points to an entry of what was listed last: `the first one`.

use toolwire::planner::{Exchange, Plan, Step};

use super::offered::Bench;

const POSITIONS: &str = "\
Brokerage has 3 positions [tool:positions_list:v1]:

| Symbol | Name | Class | Shares |
|---|---|---|---:|
| AAPL |  | stocks | 42 |
| VOO | Vanguard S&P 500 ETF | etf | 60 |
| MSFT |  | stocks | 12 |

Source: [tool:positions_list:v1], as of 15 January 2026.";

const RANKING: &str = "\
| # | Symbol | Value |
|---:|---|---:|
| 1 | NVDA | $8,111.04 |
| 2 | COST | $5,928.60 |";

const NEWS: &str = "\
Old news about **TCS**:

- Reliance (Mint, 16 January 2026, 05:57 UTC) <https://news.example/1>
- Infosys (Mint, 16 January 2026, 05:57 UTC) <https://news.example/2>";

/// A turn that called a tool without arguments, and showed this.
fn shown(said: &str, tool: &str, answered: &str) -> Exchange {
    let bench = Bench::new();
    let Step::Call(calls) = bench.plan(&[], said).step else { panic!("{said}") };
    assert_eq!(calls[0].tool, tool, "{said}");
    Exchange { said: said.to_owned(), answered: answered.to_owned(), calls, is_open: false }
}

/// The calls of a plan, each as its tool and the values of its arguments, or what is asked.
fn told(plan: &Plan) -> String {
    match &plan.step {
        Step::Call(calls) => {
            let call = |(tool, values): (&str, Vec<String>)| format!("{tool} {}", values.join(" "));
            let values =
                |values: serde_json::Value| values.as_object().unwrap().values().cloned().collect::<Vec<_>>();
            let texts = |all: Vec<serde_json::Value>| {
                all.iter().map(|it| it.as_str().map_or(it.to_string(), str::to_owned)).collect()
            };
            let calls = calls.iter().map(|it| (it.tool.as_str(), texts(values(it.arguments.clone().into()))));
            calls.map(call).collect::<Vec<_>>().join("; ")
        }
        Step::Clarify(question) => question.clone(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_place_of_a_list_is_read_as_the_entry_that_stands_there() {
    let bench = Bench::new();
    let positions = shown("Show my positions", "get_positions_list", POSITIONS);
    let ranking = shown("Rank my portfolio", "rank_portfolio", RANKING);
    for (before, message, meant) in [
        (&positions, "how is the first one doing", "how is AAPL doing"),
        (&positions, "what is the second one trading at?", "what is VOO trading at?"),
        (&positions, "What is the price of the last one?", "What is the price of MSFT?"),
        (&positions, "price of #3", "price of MSFT"),
        (&positions, "price of number 2", "price of VOO"),
        (&positions, "the first one", "AAPL"),
        (&positions, "the second", "VOO"),
        (&positions, "last one please", "MSFT please"),
        (&positions, "How many shares of the first stock?", "How many shares of AAPL?"),
        (&ranking, "how many of the 2nd one do I own?", "how many of COST do I own?"),
        (&ranking, "what is the first one at?", "what is NVDA at?"),
    ] {
        let history = [before.clone()];
        assert_eq!(told(&bench.plan(&history, message)), told(&bench.plan(&history, meant)), "{message}");
    }
}

#[test]
fn a_list_stays_the_last_one_until_another_is_shown() {
    let bench = Bench::new();
    let positions = shown("Show my positions", "get_positions_list", POSITIONS);
    let mut price = shown("What is AAPL trading at?", "get_quotes", "**AAPL** is at $193.12.");
    price.said = "What is the first one trading at?".to_owned();
    let history = [positions.clone(), price];
    assert_eq!(told(&bench.plan(&history, "and the second one?")), "get_quotes VOO");
    let asked = bench.plan(std::slice::from_ref(&positions), "the first one");
    assert!(told(&asked).starts_with("What do you want to know of AAPL?"), "{asked:?}");
    let open = Exchange {
        said: "the first one".to_owned(),
        answered: told(&asked),
        is_open: true,
        ..Exchange::default()
    };
    assert_eq!(told(&bench.plan(&[positions, open], "the price")), "get_quotes AAPL");
}

#[test]
fn a_place_among_choices_is_the_choice() {
    let bench = Bench::new();
    for (said, message, expected) in [
        ("What news is there on Tata?", "the first one", "get_news TCS"),
        ("What news is there on Tata?", "the last one", "get_news TATASTEEL"),
        ("What news is there on Tata?", "third", "get_news TATAMOTORS"),
        ("What news is there on Tata?", "3", "get_news TATAMOTORS"),
        ("What news is there on Tata?", "#2", "get_news TATAELXSI"),
        ("What news is there on Tata?", "option 2", "get_news TATAELXSI"),
    ] {
        assert_eq!(told(&bench.decide(&[said], message)), expected, "{message}");
    }
    let plan = bench.decide(&["How is Tata doing?"], "the first one");
    assert!(told(&plan).starts_with("What do you want to know of Tata Consultancy Services?"), "{plan:?}");
    let plan = bench.decide(&["Compare Infosys and TCS"], "news about the second one");
    assert_eq!(told(&plan), "get_news TCS");
}

#[test]
fn a_place_of_nothing_is_asked_back() {
    let bench = Bench::new();
    let positions = shown("Show my positions", "get_positions_list", POSITIONS);
    let ranking = shown("Rank my portfolio", "rank_portfolio", &format!("{RANKING}\n\n{RANKING}"));
    let news = shown("News about TCS", "get_news", NEWS);
    for (history, message, why) in [
        (&[][..], "the first one", "No list with names was shown before."),
        (&[], "how is the second one doing?", "No list with names was shown before."),
        (&[news], "open the first one", "No list with names was shown before."),
        (std::slice::from_ref(&positions), "the fifth one", "The list has 3 entries."),
        (&[ranking], "the first one", "There are several lists."),
    ] {
        let plan = bench.plan(history, message);
        assert_eq!(told(&plan), format!("Which one do you mean? {why}"), "{message}");
    }
}

#[test]
fn other_places_point_to_no_list() {
    let bench = Bench::new();
    let positions = shown("Show my positions", "get_positions_list", POSITIONS);
    for message in [
        "What was the last thing I sold?",
        "Show my last trade",
        "what was the first stock I bought",
        "what did I buy first?",
        "How did my portfolio do in the last month?",
        "the last 2 weeks",
        "What have I sold over the last while?",
        "first 3 trades",
        "How is First Solar doing?",
        "results of the first quarter of TCS",
        "Which is the one that lost the most?",
        "5",
    ] {
        let plan = bench.plan(std::slice::from_ref(&positions), message);
        assert!(!told(&plan).starts_with("Which one do you mean?"), "{message}: {plan:?}");
        let alone = bench.plan(&[], message);
        assert!(!told(&alone).starts_with("Which one do you mean?"), "{message}: {alone:?}");
    }
}
