//! Names beside figures: which are those of the results, and which are not.

use serde_json::json;

use super::*;
use crate::ground::names::TurnNames;
use toolwire_planner::{KnownNames, Name};

/// The names that a domain knows: of each thing all, then the ordinary words among them.
const THINGS: &[(&str, &[&str], &[&str])] = &[
    ("AAPL", &["AAPL", "Apple", "Apple Inc"], &[]),
    ("TSLA", &["TSLA", "Tesla"], &[]),
    ("MSFT", &["MSFT", "Microsoft"], &[]),
    ("INFY", &["Infosys", "INFY"], &[]),
    ("TGT", &["TGT"], &["Target"]),
    ("JNJ", &["J&J", "Johnson & Johnson"], &[]),
    ("LT", &["L&T"], &["LT"]),
];

fn known() -> KnownNames {
    let names = THINGS.iter().flat_map(|(value, names, words)| {
        let all = names.iter().map(|text| (text, false)).chain(words.iter().map(|text| (text, true)));
        all.map(move |(text, is_a_word)| Name {
            text: (*text).to_owned(),
            value: (*value).to_owned(),
            of: "stock".to_owned(),
            is_a_word,
        })
    });
    KnownNames::new(names.collect())
}

/// What is wrong with an answer to `message` from Apple's figures.
fn issue(text: &str, message: &str) -> Option<Issue> {
    let data = json!({"symbol": "AAPL", "price": 193.12, "change_pct": 1.1, "currency": "USD", "note": "Beats the Zacks view"});
    let mut checker = over(&[("tool:q:v1", data.clone())], message);
    let mut names = TurnNames::new(known(), message);
    names.add(&data);
    checker.known.names = Some(names);
    checked(&mut checker, text, 7).1
}

#[test]
fn names_of_the_results_and_words_pass() {
    for text in [
        "Apple trades at $193.12 [tool:q:v1].",
        "AAPL is at 193.12 [tool:q:v1].",
        "Apple's price is 193.12 [tool:q:v1].",
        "The price of Apple Inc is 193.12 [tool:q:v1].",
        "**Apple**: 193.12, up 1.1% [tool:q:v1].",
        "It rose 1.1%, and Apple is at 193.12 [tool:q:v1].",
        "Today it trades at 193.12 [tool:q:v1].",
        "On Monday it was at 193.12 [tool:q:v1].",
        "It is up 1.1%, which the Zacks view did not expect [tool:q:v1].",
        "Target price aside, it is at 193.12 [tool:q:v1].",
        "## Tesco And Others\n\nIt is at 193.12 [tool:q:v1].",
        "| Ticker | Last Price |\n|---|---|\n| AAPL | 193.12 |\n\n[tool:q:v1]",
        "- Last Price: 193.12\n- Day Change: 1.1% [tool:q:v1]",
        "An RSI or the YTD return aside, it is at 193.12 [tool:q:v1].",
        "You asked for Kwality; the price here is 193.12 [tool:q:v1].",
        "There is nothing on Tesla. Apple is at 193.12 [tool:q:v1].",
        "There is nothing on Quixotic Widgets. Apple is at 193.12 [tool:q:v1].",
        "`Tesla` is no field; the price is 193.12 [tool:q:v1].",
    ] {
        assert_eq!(issue(text, "How is Kwality?"), None, "{text}");
    }
}

#[test]
fn a_name_that_nothing_has_does_not_pass_beside_figures() {
    for (text, name) in [
        ("Tesla trades at $193.12 [tool:q:v1].", "Tesla"),
        ("TSLA trades at $193.12 [tool:q:v1].", "TSLA"),
        ("Tesla's price is 193.12 [tool:q:v1].", "Tesla"),
        ("It is up 1.1%, as is Microsoft [tool:q:v1].", "Microsoft"),
        ("**Tesla** is at 193.12 [tool:q:v1].", "Tesla"),
        ("- Infosys: 193.12 [tool:q:v1]", "Infosys"),
        ("| Tesla | 193.12 |\n\n[tool:q:v1]", "Tesla"),
        ("## Microsoft is at 193.12\n\nThat is all [tool:q:v1].", "Microsoft"),
        ("Apple and Tesla are at 193.12 [tool:q:v1].", "Tesla"),
        ("Shares of J&J are at 193.12 [tool:q:v1].", "J&J"),
        ("Shares of L&T are at 193.12 [tool:q:v1].", "L&T"),
        ("The price of Target is 193.12 [tool:q:v1].", "Target"),
        ("The price of Kwertex is 193.12 [tool:q:v1].", "Kwertex"),
        ("It is at 193.12, says Quixotic Widgetry [tool:q:v1].", "Quixotic Widgetry"),
    ] {
        let expected = Issue { kind: IssueKind::Name, text: name.to_owned() };
        assert_eq!(issue(text, "How are Tesla and Infosys?"), Some(expected), "{text}");
    }
}
