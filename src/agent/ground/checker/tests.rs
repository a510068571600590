//! A checker over small results: what passes, what does not, and how it is given out.

mod names;
mod properties;

use serde_json::{Value, json};

use super::*;

/// A checker over results, each with its source.
fn over(results: &[(&str, Value)], message: &str) -> Checker {
    let mut known = AllowedFacts::default();
    known.facts.is_strict = true;
    known.facts.add_free(message);
    for (source, data) in results {
        known.facts.add_origin([data], [], []);
        known.allowed.add(data);
        known.origins.push(vec![(*source).to_owned()]);
        known.source_ids.push((*source).to_owned());
    }
    Checker::over(known)
}

fn quotes() -> Value {
    json!({
        "as_of": "2026-01-15", "currency": "USD", "quotes": [
            {"symbol": "AAPL", "price": 193.12, "change_pct": 1.1, "share": 0.0625, "drawdown_pct": 31.7},
            {"symbol": "MSFT", "price": 420.555, "change_pct": -0.6, "volume": 1_234_567, "cap_cr": 12_345.6}
        ],
        "note": "RSI 72 > 40, ₹5 crore, https://a.b/c?d=1", "at": "2026-01-14T15:42:00Z"
    })
}

/// What becomes of a text that arrives in pieces of this many bytes.
fn checked(checker: &mut Checker, text: &str, size: usize) -> (String, Option<Issue>) {
    let mut answer = String::new();
    let mut all = |released: Released| {
        released.sentences.iter().for_each(|sentence| answer.push_str(&sentence.text));
        released.issue
    };
    let (mut at, mut issue) = (0, None);
    while at < text.len() && issue.is_none() {
        let mut end = (at + size).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        issue = all(checker.release(&text[at..end]));
        at = end;
    }
    let issue = issue.or_else(|| all(checker.finish()));
    (answer, issue)
}

#[track_caller]
fn passes(text: &str) {
    for size in [1, 5, 10_000] {
        let mut checker = over(&[("tool:q:v1", quotes())], "Do I have 42 shares?");
        assert_eq!(checked(&mut checker, text, size), (text.to_owned(), None));
        assert!(!checker.is_attributed(), "{text}");
    }
}

#[track_caller]
fn fails(text: &str, kind: IssueKind, part: &str) {
    let mut checker = over(&[("tool:q:v1", quotes())], "Do I have 42 shares?");
    let (_, issue) = checked(&mut checker, text, 7);
    assert_eq!(issue, Some(Issue { kind, text: part.to_owned() }), "{text}");
}

#[test]
fn numbers_of_the_results_pass_as_people_write_them() {
    for said in [
        "$193.12",
        "193.1",
        "about 193",
        "-193.12",
        "+1.1%",
        "0.6 percent",
        "420.56",
        "420.55",
        "12,34,567",
        "1,234,567",
        "1.2m",
        "1.23 million",
        "1,235k",
        "12.3 lakh",
        "12,346 crore",
        "₹12,345.6 Cr",
        "6.25%",
        "6%",
        "0.06",
        "2 quotes",
        "RSI 72",
        "5,00,00,000",
        "50m",
        "15 January 2026",
        "Jan 15, 2026",
        "January 2026",
        "in 2026",
        "on 15 Jan",
        "15:42",
        "3:42 pm",
        "42 shares",
        "Q3 FY26",
        "SMA200",
        "`999`",
        "(193.12)",
        "**193.12**",
        "_1.1_%",
    ] {
        passes(&format!("It is {said} [tool:q:v1]."));
    }
}

#[test]
fn numbers_from_nowhere_do_not() {
    for (said, part) in [
        ("$193.13", "193.13"),
        ("194", "194"),
        ("193.120001", "193.120001"),
        ("1.2%", "1.2%"),
        ("7%", "7%"),
        ("193.12m", "193.12m"),
        ("1.3m", "1.3m"),
        ("16 January 2026", "16 January 2026"),
        ("15 January 2025", "15 January 2025"),
        ("2025", "2025"),
        ("15:43", "15:43"),
        ("½", "½"),
        ("１９３", "１９３"),
        ("1931.2", "1931.2"),
        ("25x", "25x"),
        ("99999999999999999999999999999999999999999999", "99999999999999999999999999999999999999999999"),
    ] {
        fails(&format!("It is {said} [tool:q:v1]."), IssueKind::Number, part);
    }
    fails("It is 193.12 [tool:q:v1].\n194. That is all.", IssueKind::Number, "194");
}

#[test]
fn currencies_directions_and_numbers_in_words_are_those_of_results() {
    for said in [
        "up 1.1%, Microsoft down 0.6%",
        "a gain of 1.1%",
        "0.6% lower",
        "(-0.6%)",
        "$193.12 down 0.6%",
        "₹12,346 crore",
        "193.12 dollars",
        "31.7% below its high, a fall of 31.7%",
        "an increase of about 1.1 percent",
        "forty-two shares",
        "five crore rupees",
        "two quotes, one of them",
        "one point, a share",
        "worth crores",
        "a few crore",
        "something to look at in the second half of the year",
    ] {
        passes(&format!("It is {said} [tool:q:v1]."));
    }
    passes("Apple rose and Microsoft fell [tool:q:v1].");
    for (said, part) in [
        ("193.12 crore", "193.12 crore"),
        ("193.12 lakh", "193.12 lakh"),
        ("€193.12", "193.12"),
        ("193.12 euros", "193.12"),
        ("down 1.1%", "1.1%"),
        ("up by 0.6%", "0.6%"),
        ("(-1.1%)", "1.1%"),
        ("a 1.1% drop", "1.1%"),
        ("thirty-nine shares", "thirty-nine"),
        ("three hundred crore", "three hundred crore"),
        ("two lakh", "two lakh"),
        ("twelve percent", "twelve percent"),
        ("ek lakh rupaye", "ek lakh"),
        ("about half of it", "half"),
        ("worth more: it has doubled", "doubled"),
        ("worth less: it halved", "halved"),
    ] {
        fails(&format!("It is {said} [tool:q:v1]."), IssueKind::Number, part);
    }
    let rows = json!({"rows": [{"unit": "crore", "values": [12.5]}, {"unit": "price", "values": [8.5]}]});
    for (said, is_in_crore) in [("12.5 crore", true), ("8.5 crore", false)] {
        let mut checker = over(&[("tool:r:v1", rows.clone())], "");
        assert_eq!(checked(&mut checker, &format!("It is {said} [tool:r:v1]."), 9).1.is_none(), is_in_crore);
    }
    let calm = [("tool:c:v1", json!({"price": 5, "change_pct": 0.5}))];
    let mut checker = over(&calm, "");
    let (_, issue) = checked(&mut checker, "It rose. It fell [tool:c:v1].", 9);
    assert_eq!(issue.map(|it| it.text).as_deref(), Some("fell"));
    for (said, part) in [
        ("It tanked", "tanked"),
        ("It crashed", "crashed"),
        ("It is in the red", "in the red"),
        ("It is losing ground", "losing ground"),
        ("It is worth crores", "crores"),
        ("It is worth thousands of rupees", "thousands"),
        ("It has a few lakh", "few lakh"),
        ("You sit at a loss", "at a loss"),
    ] {
        let (_, issue) = checked(&mut over(&calm, ""), &format!("{said} [tool:c:v1]."), 9);
        assert_eq!(issue.map(|it| it.text).as_deref(), Some(part));
    }
    let (_, issue) = checked(&mut over(&calm, ""), "It is in the green, at a profit [tool:c:v1].", 9);
    assert_eq!(issue, None);
    let doubled = [("tool:d:v1", json!({"growth_pct": 98.7, "share_pct": 48.2}))];
    let (_, issue) = checked(&mut over(&doubled, ""), "It doubled, and is half of it [tool:d:v1].", 9);
    assert_eq!(issue, None);
    let mut checker = over(&calm, "Has it fallen?");
    assert_eq!(checked(&mut checker, "It has not dropped [tool:c:v1].", 9).1, None);
}

#[test]
fn lists_tables_and_code_are_read_as_such() {
    passes("## Quotes\n\n1. AAPL: 193.12\n2. MSFT: 420.56 [tool:q:v1]\n\n```\n7777\n```");
    passes("| Symbol | Price |\n|---|---:|\n| AAPL | 193.12 |\n\n[tool:q:v1]\n\nThat is all.");
    passes("| AAPL | 193.12 |\n\nSource: [tool:q:v1], as of 15 January 2026.");
    fails("1. AAPL\n2. MSFT\n8. Other", IssueKind::Number, "8");
}

#[test]
fn only_sources_and_addresses_of_the_turn_pass() {
    passes("See https://a.b/c?d=1. Or <https://a.b/c?d=1>, or [it](https://a.b/c?d=1).");
    passes("\\[tool:x:v1\\] is not a citation, and \\<b\\> is not HTML.");
    fails("It rose [tool:x:v1].", IssueKind::Citation, "tool:x:v1");
    for (text, part) in [
        ("Go to https://a.b/c?d=2", "https://a.b/c?d=2"),
        ("![x](https://a.b/c?d=1)", "!["),
        ("[x](javascript:alert(1))", "](javascript:alert(1)"),
        ("[tool:q:v1](https://e.f)", "](https://e.f"),
        ("[a. b](//e.f)", "](//e.f"),
        ("[x](\nhttps://a.b/c?d=1)", "]("),
        ("<img src=x>", "<img"),
        ("`https://e.f`", "https://e.f"),
        ("```\nhttps://e.f\n```", "https://e.f"),
        ("[x]: //e.f\n", "["),
        ("www.e.f", "www.e.f"),
        ("me@e.fr", "me@e.fr"),
    ] {
        fails(text, IssueKind::Link, part);
    }
}

#[test]
fn a_block_without_a_citation_gets_the_one_of_the_source_that_has_its_numbers() {
    let results = [("tool:a:v1", json!({"x": 11})), ("tool:b:v1", json!({"x": 12, "y": 13}))];
    for (text, expected) in [
        ("It is 12. And 13.\n\nNo more.", "It is 12. And 13. [tool:b:v1]\n\nNo more."),
        ("It is 11", "It is 11 [tool:a:v1]"),
        ("| a | 12 |\n\nNo more.", "| a | 12 |\n\n[tool:b:v1]\n\nNo more."),
        ("- 11\n- 11\n", "- 11\n- 11 [tool:a:v1]"),
        ("## 13 things\n\nThey are 12.", "## 13 things\n\nThey are 12. [tool:b:v1]"),
    ] {
        for size in [1, 4, 1000] {
            let mut checker = over(&results, "");
            assert_eq!(checked(&mut checker, text, size), (expected.to_owned(), None));
            assert!(checker.is_attributed() && checker.citations().len() == 1);
        }
    }
    let mut checker = over(&results, "");
    let (answer, issue) = checked(&mut checker, "It is 11 and 12. So it is.\n\nMore.", 3);
    assert_eq!(issue, Some(Issue { kind: IssueKind::Uncited, text: "11".to_owned() }));
    assert_eq!(answer, "It is 11 and 12. So it is.");
    let mut checker = over(&results, "Are 12 enough?");
    assert_eq!(checked(&mut checker, "12 are enough.", 3).0, "12 are enough. [tool:b:v1]");
    let mut checker = over(&results, "Are 19 enough?");
    assert_eq!(checked(&mut checker, "19 are enough.", 3).0, "19 are enough.");
}

#[test]
fn after_an_issue_another_text_goes_on_behind_what_was_given_out() {
    let mut checker = over(&[("tool:q:v1", quotes())], "");
    let (answer, issue) = checked(&mut checker, "AAPL is at 193.12. MSFT is at 999. It rose.", 1000);
    assert_eq!((answer.as_str(), issue.map(|it| it.text).as_deref()), ("AAPL is at 193.12.", Some("999")));
    assert_eq!(checker.release("More."), Released::default());
    checker.resume();
    let (answer, issue) = checked(&mut checker, "MSFT is at 420.56 [tool:q:v1].", 5);
    assert_eq!((answer.as_str(), issue), (" [tool:q:v1]\n\nMSFT is at 420.56 [tool:q:v1].", None));
    assert_eq!(checker.citations(), ["tool:q:v1"]);
}
