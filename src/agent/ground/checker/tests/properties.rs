//! What holds for any value, and for any text.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::answer::embedded::quote::quote;

/// A number as an answer may write it, with this many decimals.
fn grouped(value: f64, decimals: usize, is_indian: bool) -> String {
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        let left = whole.len() - at;
        let is_gap = if is_indian { left == 3 || (left > 3 && left % 2 == 1) } else { left % 3 == 0 };
        if at > 0 && is_gap {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

proptest! {
    #[test]
    fn a_value_passes_at_any_rounding(
        value in prop_oneof![-1e9..1e9_f64, -100.0..100.0, 0.0..1.0_f64],
        others in prop::collection::vec(-1e6..1e6_f64, 0..20),
        decimals in 0..9_usize,
        is_indian: bool,
    ) {
        let mut checker = over(&[("tool:q:v1", json!({"others": others, "value": value}))], "");
        let text = format!("It is {} [tool:q:v1].", grouped(value, decimals, is_indian));
        let (answer, issue) = checked(&mut checker, &text, 9);
        prop_assert_eq!(issue, None, "{} as {}", value, text);
        prop_assert_eq!(answer, text);
    }

    #[test]
    fn a_perturbed_value_fails_unless_it_meets_another(
        values in prop::collection::vec(1.0..1e6_f64, 1..20),
        by in prop_oneof![-0.5..-1e-3_f64, 1e-3..0.5],
        decimals in 0..5_usize,
    ) {
        let wrong = values[0] * (1.0 + by);
        let shown: f64 = format!("{wrong:.decimals$}").parse().unwrap();
        let half = 0.5 * 10_f64.powi(-i32::try_from(decimals).unwrap());
        let count = f64::from(u32::try_from(values.len()).unwrap());
        let meets = values.iter().chain([&count]).any(|value| (value - shown).abs() <= half * (1.0 + 1e-6) + 1e-6);
        let clearly = values.iter().chain([&count]).all(|value| (value - shown).abs() > half * (1.0 + 1e-6) + 1e-3);
        let mut checker = over(&[("tool:q:v1", json!(values))], "");
        let (_, issue) = checked(&mut checker, &format!("It is {shown:.decimals$} [tool:q:v1]."), 9);
        if clearly {
            prop_assert!(matches!(issue, Some(Issue { kind: IssueKind::Number, .. })), "{} of {:?}", shown, values);
        } else if meets {
            prop_assert_eq!(issue, None);
        }
    }

    #[test]
    fn a_text_from_outside_that_is_quoted_passes_untouched(text in hostile(), before in 0..400_usize) {
        let text = format!("{}{text}", "a ".repeat(before / 2));
        let mut checker = over(&[("tool:q:v1", json!({"text": text}))], "");
        let quoted = quote(&text);
        prop_assert!(quoted.chars().count() <= 2 * 401, "{}", quoted);
        let answer = format!("It says “{quoted}” [tool:q:v1]\n\n- {quoted} [tool:q:v1]\n\n| {quoted} |\n\n[tool:q:v1]");
        let (passed, issue) = checked(&mut checker, &answer, 7);
        prop_assert_eq!(issue, None, "{}", answer);
        prop_assert!(!checker.is_attributed(), "{}", answer);
        prop_assert_eq!(passed, answer);
    }

    #[test]
    fn any_text_is_survived_and_arrives_as_it_is(text in hostile(), size in 1..20_usize) {
        let run = |size| {
            let mut checker = over(&[("tool:q:v1", quotes())], "");
            checked(&mut checker, &text, size)
        };
        let (answer, issue) = run(size);
        prop_assert_eq!(&run(10_000), &(answer.clone(), issue.clone()), "in pieces of {}", size);
        // What is given out is the text up to the issue, but for citations that were put in and white space.
        let given = answer.replace(" [tool:q:v1]", "").replace("[tool:q:v1]", "");
        let text = text.replace(" [tool:q:v1]", "").replace("[tool:q:v1]", "");
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert!(plain(&text).starts_with(&plain(&given)));
        prop_assert!(issue.is_some() || plain(&text) == plain(&given));
    }
}

/// Pieces that mean something, in any order, and characters of any kind.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "193.12",
        " ",
        "\n",
        "\n\n",
        ". ",
        "[",
        "]",
        "(",
        ")",
        "![",
        "](",
        "[tool:q:v1]",
        "[tool:x:v1]",
        "`",
        "```\n",
        "|",
        "| a |\n",
        "1. ",
        "- ",
        "## ",
        "https://a.b/c?d=1",
        "https://e.f",
        "<",
        ">",
        "\\",
        "&#",
        "www.",
        "@",
        "Jan ",
        "15",
        ",",
        "2026-01-15",
        "T15:42",
        "%",
        " crore",
        "e9",
        "½",
        "é",
        "\u{200b}",
        "\u{a0}",
        "_",
        "*",
        ":",
        "-",
        "~~~\n",
        "it",
    ]);
    let text = prop::collection::vec(prop_oneof![9 => piece.prop_map(str::to_owned), 1 => ".{0,3}"], 0..60);
    text.prop_map(|pieces| pieces.concat())
}

#[test]
fn a_long_text_of_one_kind_takes_no_longer_than_another() {
    // Each of these made some check look at the whole text again; a quadratic one does not end in a test's time.
    let over = || over(&[("tool:q:v1", quotes())], "");
    for piece in [
        "`",
        "``a ",
        "[",
        "]",
        "a. ",
        "``` a. ",
        "e.g. ",
        "((((",
        "a@",
        "www.",
        "[tool:q:v1]",
        "https",
        "1,",
        "1.",
        "0 ",
        "\\",
        "[a]",
        "`a` [b] ",
        " ",
        "\n",
        "Jan ",
        "<",
        "&amp",
        ") ",
        "_",
        "| ",
        "> ",
        "1e",
        "½",
        "://",
        "a@b.",
        "](",
        "- ",
    ] {
        let mut text = String::new();
        while text.len() < 1 << 15 {
            let _ = write!(text, "{piece}");
        }
        for size in [1, text.len()] {
            checked(&mut over(), &text, size);
        }
    }
}
