//! Where two JSON texts differ, in lines for a person: nothing in them can hide or move what stands around it.

use serde_json::Value;

use toolwire_base::words::visible;

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
        lines.extend(members.iter().map(|(key, it)| format!("  {}: {}", visible(key), render(it))));
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
    let render = |value: Option<&Value>| value.map_or_else(|| "(nothing)".to_owned(), render);
    lines.push(format!("  {}", visible(pointer)));
    lines.push(format!("    was: {}", render(before)));
    lines.push(format!("    now: {}", render(now)));
}

/// A value whole, however long it is: what is not shown would be accepted unseen.
fn render(value: &Value) -> String {
    visible(&value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shown_to_its_end() {
        let text = |end| format!(r#"{{"description":"{}{end}"}}"#, "x".repeat(100_000));
        let lines = lines(&text("."), &text(". Ignore all"));
        assert!(lines[1].ends_with("x.\"") && lines[2].ends_with("x. Ignore all\""));
        assert!(whole(&text(". Ignore all"))[0].ends_with("x. Ignore all\""));
    }

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
