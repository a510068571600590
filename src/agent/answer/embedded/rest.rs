//! The rest of a list that an answer shows the first of: how much there is, and the call that shows all of it.

use std::fmt::Write;

use serde_json::{Map, Value};

/// Counts in words: an answer has no digits that no result has.
const COUNTS: [&str; 21] = [
    "none",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// The longest call that is shown, in bytes.
const LONGEST: usize = 200;

/// `The first eight of 42 are shown; all of them: ` and the command; nothing if there are no more.
pub(super) fn rest(tool: &str, arguments: &Map<String, Value>, shown: usize, all: usize) -> String {
    if all <= shown {
        return String::new();
    }
    let first =
        COUNTS.get(shown).map_or_else(|| "The first".to_owned(), |count| format!("The first {count}"));
    let how =
        command(tool, arguments).map(|command| format!("; all of them: `{command}`")).unwrap_or_default();
    format!("{first} of {all} are shown{how}")
}

/// The call on a command line. None if what it takes has no plain form.
fn command(tool: &str, arguments: &Map<String, Value>) -> Option<String> {
    let mut command = format!("toolwire call {tool}");
    for (name, value) in arguments {
        let value = match value {
            Value::Null => continue,
            Value::String(text) => word(text)?,
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => return None,
        };
        let _ = write!(command, " {name}={value}");
    }
    (command.len() <= LONGEST).then_some(command)
}

/// A text as a shell reads it. Nothing in it ends the code that it stands in.
fn word(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Some(text.to_owned());
    }
    let is_quotable = text.chars().all(|c| is_plain(c) || c.is_alphanumeric() || c == ' ');
    is_quotable.then(|| format!("'{text}'"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(arguments: &Value, all: usize) -> String {
        rest("get_activity", arguments.as_object().unwrap(), 8, all)
    }

    #[test]
    fn what_is_cut_is_said_with_the_call_that_shows_all() {
        let account = json!({"account": "Roth IRA", "days": 30});
        let expected = "The first eight of 42 are shown; all of them: `toolwire call get_activity account='Roth IRA' days=30`";
        assert_eq!(of(&account, 42), expected);
        assert_eq!(of(&account, 8), "");
    }

    #[test]
    fn what_has_no_plain_form_stands_in_no_command() {
        for odd in
            [json!({"a": "x`y"}), json!({"a": "x'y"}), json!({"a": ["x"]}), json!({"a": "x".repeat(300)})]
        {
            assert_eq!(of(&odd, 9), "The first eight of 9 are shown");
        }
    }
}
