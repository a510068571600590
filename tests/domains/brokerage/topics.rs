//! The text that a topic of `get_facts` finds.

use serde_json::json;

use super::support::Bench;

#[test]
fn a_topic_is_matched_by_words_and_not_by_letters() {
    let bench = Bench::embedded();
    for topic in ["betfair", "the brothers", "jetfuel"] {
        let (data, provenance) = bench.call("get_facts", json!({"topic": topic})).expect("always a text");
        assert_eq!(data["source"], "facts/rebalancing.md", "{topic}");
        let [warning] = &provenance.warnings[..] else { panic!("{topic}: {:?}", provenance.warnings) };
        assert!(
            warning.starts_with("There is no text on this topic, so this is the general one"),
            "{warning}"
        );
        assert!(warning.ends_with("There are texts on: bond basics, capital gains, cost basis, diversification, dividends, dollar cost averaging, emergency fund, etf basics, expense ratios, rebalancing, roth ira."), "{warning}");
    }
    for topic in ["rebalancing", "Roth", "ETFs", "what are bonds?", "capital gain tax", "etf expense ratio"] {
        assert_eq!(bench.warnings("get_facts", json!({"topic": topic})), Vec::<String>::new(), "{topic}");
    }
}

#[test]
fn a_text_that_fits_a_part_of_a_topic_says_which() {
    let bench = Bench::embedded();
    for (topic, file, words) in [
        ("traditional IRA", "roth_ira", "the one on roth ira, which has 'ira' and nothing on 'traditional';"),
        ("venture capital", "capital_gains", "which has 'capital' and nothing on 'venture';"),
        ("Is a ROTH better than an ETF?", "roth_ira", "which has 'roth' and nothing on 'etf';"),
        // The text mentions it, or is on something narrower.
        ("FIFO", "capital_gains", "the one on capital gains, which has 'fifo';"),
        ("ira", "roth_ira", "the one on roth ira, which has 'ira';"),
        // A word of several that stands somewhere in a text is no match.
        ("short selling", "rebalancing", "no text on this topic"),
        ("government shutdown", "rebalancing", "no text on this topic"),
    ] {
        let (data, provenance) = bench.call("get_facts", json!({"topic": topic})).expect("always a text");
        assert_eq!(data["source"], format!("facts/{file}.md"), "{topic}");
        let [warning] = &provenance.warnings[..] else { panic!("{topic}: {:?}", provenance.warnings) };
        assert!(
            warning.contains(words) && warning.contains("There are texts on: bond basics"),
            "{topic}: {warning}"
        );
    }
}

#[test]
fn a_topic_finds_its_file() {
    let bench = Bench::embedded();
    for (topic, file) in [
        // The key words in their order, wherever they stand.
        ("roth ira", "roth_ira"),
        ("Is a ROTH better than an ETF?", "roth_ira"),
        ("ETFs", "etf_basics"),
        ("etf expense ratio", "etf_basics"),
        ("rebalancing", "rebalancing"),
        // By words of the title.
        ("What are dividends?", "dividends"),
        ("dividend", "dividends"),
        ("how do bonds work", "bond_basics"),
        ("cost basis", "cost_basis"),
        ("expense ratio", "expense_ratios"),
        ("capital gain tax", "capital_gains"),
        ("emergency funds", "emergency_fund"),
        ("dollar cost averaging", "dollar_cost_averaging"),
        // With slips.
        ("diversificaton", "diversification"),
        ("divdends", "dividends"),
        // By a word of the text.
        ("FIFO", "capital_gains"),
        // The fallback.
        ("quantum physics", "rebalancing"),
        ("", "rebalancing"),
        ("???", "rebalancing"),
    ] {
        let data = bench.data("get_facts", json!({"topic": topic}));
        assert_eq!(data["source"], format!("facts/{file}.md"), "{topic}");
        assert_eq!((&data["topic"], &data["as_of"]), (&json!(topic), &json!("2026-01-15")));
        let snippet = data["snippet"].as_str().expect("text");
        assert!(!snippet.is_empty() && !snippet.starts_with('#'), "{topic}: {snippet}");
    }
}
