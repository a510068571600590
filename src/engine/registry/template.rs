//! Templates of a manifest, with placeholders for values, such as `RSI: {rsi_14:.0}`.
//!
//! `{a}` and `{a.b}` are values: a list is rendered as its length, an absent value as `n/a`. `{a:.1}` is a number with
//! one decimal and `{a:+.0}` one with a sign and none; a `%` after an absent number is dropped. `{a|post|posts}` is a
//! number, or the length of a list, with its noun. `{a?yes:no}` chooses a text by a bool. `{{` and `}}` are braces. Not
//! here: the available values (`narration`).

mod check;
mod parse;

use serde_json::{Number, Value};

use toolwire_base::words::one_line;

/// Maximum length of a rendered value in characters.
const MAX_VALUE: usize = 80;

/// Replaces an absent value.
const ABSENT: &str = "n/a";

/// A parsed template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Placeholder { path: Path, form: Form },
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Path(Vec<String>);

/// The form in which a value is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Number { signed: bool, decimals: usize },
    Counted { one: String, many: String },
    Choice { yes: String, no: String },
}

/// A text is not a valid template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TemplateError {
    /// An unmatched brace.
    #[error("a lone `{0}`; write `{0}{0}` for the character itself")]
    LoneBrace(char),
    /// Not a name or several joined by dots.
    #[error("`{0}` is not a valid path; write a name such as `rsi_14`, or several joined by dots")]
    BadPath(String),
    /// Not a form of numbers.
    #[error("`{0}` is not a valid number format; write `.0` to `.9`, with `+` before it for a sign")]
    BadFormat(String),
    /// A choice without its second half.
    #[error("`{0}` is not a valid choice; write `yes text:no text`")]
    BadChoice(String),
    /// A noun without its plural.
    #[error("`{0}` is not a valid noun; write `stock|stocks`")]
    BadNoun(String),
}

impl Template {
    /// Renders the template with the values of an object.
    pub(super) fn render(&self, values: &Value) -> String {
        let (mut text, mut is_absent) = (String::new(), false);
        for piece in &self.0 {
            match piece {
                Piece::Text(words) if is_absent => text.push_str(words.strip_prefix('%').unwrap_or(words)),
                Piece::Text(words) => text.push_str(words),
                Piece::Placeholder { path, form } => {
                    let rendered = form.render(path.find(values));
                    is_absent = rendered == ABSENT;
                    text.push_str(&rendered);
                    continue;
                }
            }
            is_absent = false;
        }
        text
    }
}

impl Path {
    fn find<'a>(&self, values: &'a Value) -> &'a Value {
        self.0.iter().fold(values, |value, name| value.get(name).unwrap_or(&Value::Null))
    }

    fn text(&self) -> String {
        self.0.join(".")
    }
}

impl Form {
    fn render(&self, value: &Value) -> String {
        match (self, value) {
            (Self::Choice { yes, no }, Value::Bool(flag)) => if *flag { yes } else { no }.clone(),
            (Self::Number { signed, decimals }, Value::Number(number)) => match number.as_f64() {
                Some(float) if number.is_f64() => round(float, *signed, *decimals),
                _ => whole(number, *signed, *decimals),
            },
            (Self::Plain, value) => plain(value),
            (Self::Counted { one, many }, value @ (Value::Number(_) | Value::Array(_))) => {
                let count = plain(value);
                let noun = if count == "1" { one } else { many };
                format!("{count} {noun}")
            }
            _ => ABSENT.to_owned(),
        }
    }
}

fn round(number: f64, signed: bool, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    // A small negative number rounds to zero, which has no sign.
    let text = if text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.')) {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    };
    if signed && !text.starts_with('-') { format!("+{text}") } else { text }
}

/// An integer, of which a float would lose digits.
fn whole(number: &Number, signed: bool, decimals: usize) -> String {
    let sign = if signed && number.as_i64().is_none_or(|it| it >= 0) { "+" } else { "" };
    let point = if decimals == 0 { "" } else { "." };
    format!("{sign}{number}{point}{:0<decimals$}", "")
}

fn plain(value: &Value) -> String {
    match value {
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => brief(text),
        Value::Array(items) => items.len().to_string(),
        Value::Null | Value::Object(_) => ABSENT.to_owned(),
    }
}

/// A text on one line, cut: it may come from outside.
pub(super) fn brief(text: &str) -> String {
    let mut line = one_line(text);
    if let Some((end, _)) = line.char_indices().nth(MAX_VALUE) {
        let last = line[..end].char_indices().next_back().map_or(0, |(last, _)| last);
        line.truncate(last);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn render(template: &str, values: &Value) -> String {
        template.parse::<Template>().expect("a template").render(values)
    }

    #[test]
    fn values_are_shown_in_their_form() {
        let values = json!({
            "rsi": 38.4, "sma": 4.62, "down": -7.5, "tiny": -0.2, "none": null, "posts": [1, 2, 3],
            "found": true, "one": 1, "thesis": {"title": "Oil\nand gas"}, "count": 12,
            "wei": 9_007_199_254_740_993_i64, "debt": -9_007_199_254_740_993_i64
        });
        for (template, expected) in [
            ("RSI: {rsi:.0}, SMA200: {sma:+.0}%", "RSI: 38, SMA200: +5%"),
            ("{down:+.1} {tiny:+.0} {tiny:.0} {count:.2}", "-7.5 +0 0 12.00"),
            (
                "{wei:.2} {wei:+.0} {debt:.1} {debt}",
                "9007199254740993.00 +9007199254740993 -9007199254740993.0 -9007199254740993",
            ),
            ("{none} {none:.1} {none?a:b} {missing.deeper}", "n/a n/a n/a n/a"),
            ("{posts} posts, {count}", "3 posts, 12"),
            ("{posts|post|posts}, {one|stock|stocks}, {none|stock|stocks}", "3 posts, 1 stock, n/a"),
            ("ROE: {none:.0}%, {none}% {rsi:.0}%", "ROE: n/a, n/a 38%"),
            ("{found?Found thesis:No thesis} {found}", "Found thesis true"),
            ("{thesis.title} {thesis}", "Oil and gas n/a"),
            ("{{{count}}}", "{12}"),
        ] {
            assert_eq!(render(template, &values), expected, "{template}");
        }
    }

    #[test]
    fn a_value_takes_no_more_room_than_a_line_has() {
        let rendered = render("{text}", &json!({"text": "é".repeat(200)}));
        assert_eq!(rendered.chars().count(), MAX_VALUE);
        assert!(rendered.ends_with('…'));
    }
}
