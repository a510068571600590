//! The one object of an answer, and reasons that lead nowhere. What becomes of plans is in tests/agent.

use proptest::prelude::*;

use super::*;

#[test]
fn the_object_is_the_whole_text_or_stands_in_its_one_fence() {
    for good in [
        r#"{"tool": "none"}"#,
        "\n {\"tool\": \"none\"} \n",
        "```json\n{\"tool\": \"none\"}\n```",
        "I answer:\n```\n{\"tool\": \"none\"}\n```\nThat is all.",
    ] {
        assert_eq!(object(good).unwrap()["tool"], "none", "{good}");
    }
    for bad in [
        "",
        "none",
        "[]",
        r#"{"tool": "none""#,
        r#"I think {"tool": "none"} is best."#,
        r#"{"tool": "none"} {"tool": "none"}"#,
        "```json\n{\"tool\": \"a\"}\n```\n```json\n{\"tool\": \"b\"}\n```",
        "<html>",
        "```",
    ] {
        assert_eq!(object(bad), Err(Wrong::NotJson), "{bad}");
    }
    assert_eq!(object(&"{\"a\":".repeat(100_000)), Err(Wrong::NotJson), "no depth overflows the stack");
}

#[test]
fn a_reason_is_one_line_and_leads_nowhere() {
    assert_eq!(reason(" to see\nthe price "), "to see the price");
    assert_eq!(reason(&"x".repeat(1_000)).len(), LONGEST_REASON);
    for text in ["see https://evil.example", "[a](b)", "WWW.evil.example", "<img src=x>"] {
        assert_eq!(reason(text), "", "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in ".{0,300}") {
        let _ = object(&text);
        prop_assert!(reason(&text).chars().count() <= LONGEST_REASON);
    }
}
