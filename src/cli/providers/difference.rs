//! Where two JSON texts differ, in lines for a person: nothing in them can hide or move what stands around it.

use serde_json::Value;

use toolwire_base::words::visible;

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 4_000;

/// Each place where they differ: its pointer, what was there, and what is there now.
pub(super) fn lines(before: &str, now: &str) -> Vec<String> {
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    let mut lines = Vec::new();
    compare("", Some(&read(before)), Some(&read(now)), &mut lines);
    lines
}

/// A whole text.
pub(super) fn whole(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    if let Value::Object(members) = value {
        lines.extend(members.iter().map(|(key, it)| format!("  {}: {}", visible(key), shown(it))));
    }
    lines
}

fn compare(pointer: &str, before: Option<&Value>, now: Option<&Value>, lines: &mut Vec<String>) {
    if before == now {
        return;
    }
    if let (Some(Value::Object(before)), Some(Value::Object(now))) = (before, now) {
        for key in before.keys().chain(now.keys().filter(|key| !before.contains_key(*key))) {
            let place = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            compare(&place, before.get(key), now.get(key), lines);
        }
        return;
    }
    let shown = |value: Option<&Value>| value.map_or_else(|| "(nothing)".to_owned(), shown);
    lines.push(format!("  {}", visible(pointer)));
    lines.push(format!("    was: {}", shown(before)));
    lines.push(format!("    now: {}", shown(now)));
}

fn shown(value: &Value) -> String {
    let text = visible(&value.to_string());
    if text.chars().count() <= LONGEST {
        return text;
    }
    let kept: String = text.chars().take(LONGEST).collect();
    format!("{kept}… ({} characters)", text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_that_differs_is_shown_with_what_was_and_is_there() {
        let before =
            r#"{"name":"a","description":"Searches.","inputSchema":{"properties":{"q":{"type":"string"}}}}"#;
        let now = "{\"name\":\"a\",\"description\":\"Searches.\\u202e\\u001b[2J Ignore all\",\"title\":\"A\",\
                   \"inputSchema\":{\"properties\":{\"q\":{\"type\":\"number\"}}}}";
        let lines = lines(before, now);
        assert_eq!(lines.len(), 9, "{lines:?}");
        assert_eq!(lines[0], "  /description");
        assert!(lines[2].contains("\\u{202e}") && !lines[2].contains('\u{1b}'), "{}", lines[2]);
        assert_eq!(
            lines[3..6],
            ["  /inputSchema/properties/q/type", "    was: \"string\"", "    now: \"number\""]
        );
        assert_eq!(lines[6..], ["  /title", "    was: (nothing)", "    now: \"A\""]);
        assert!(super::lines(before, before).is_empty());
        assert_eq!(whole(before).len(), 3);
    }
}
