//! Whether a key stands twice in one object of a JSON text, at any depth, without making values of it.

use std::borrow::Cow;

use super::{exact::string_len, strict::duplicate_key};

/// The first key that stands twice in one object, in words. What follows a syntax error may be taken for anything.
pub fn first_duplicate(text: &str) -> Option<String> {
    // The keys of the objects that are open, and for each level where those of its object begin; a list has none.
    let (mut keys, mut levels) = (Vec::<Cow<'_, str>>::new(), Vec::<Option<usize>>::new());
    let (mut at, mut is_key) = (0, false);
    while let Some(byte) = text.as_bytes().get(at) {
        let mut length = 1;
        match byte {
            b'"' => {
                length = string_len(&text[at..]);
                if is_key {
                    keys.push(unescaped(&text[at..at + length]));
                }
                is_key = false;
            }
            b'{' => {
                levels.push(Some(keys.len()));
                is_key = true;
            }
            b'[' => {
                levels.push(None);
                is_key = false;
            }
            b',' => is_key = matches!(levels.last(), Some(Some(_))),
            b'}' | b']' => {
                is_key = false;
                if let Some(Some(first)) = levels.pop() {
                    keys[first..].sort_unstable();
                    let twice = keys[first..].array_windows().find(|[one, other]| one == other);
                    if let Some([twice, _]) = twice {
                        return Some(duplicate_key(twice));
                    }
                    keys.truncate(first);
                }
            }
            _ => {}
        }
        at += length;
    }
    None
}

/// The text of a string in its quotation marks.
fn unescaped(string: &str) -> Cow<'_, str> {
    let plain = string.get(1..string.len() - 1).unwrap_or_default();
    let read = plain.contains('\\').then(|| serde_json::from_str(string).ok()).flatten();
    read.map_or(Cow::Borrowed(plain), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::{super::parse, *};

    #[test]
    fn a_key_that_stands_twice_is_found_as_by_the_strict_parser() {
        for text in [
            r#"{"a": 1, "b": {"a": 2}, "c": ["a", "a", {"a": 3}, {"a": 4}], "": "a\",\"a"}"#,
            r#"[{"x": {"y": [], "z": {}, "y": 1}}]"#,
            r#"{"a": {"b": 1}, "\u0061": 2}"#,
            r#"{"a\\": 1, "a": 2, "a\"": 3}"#,
            r#"{"a": 1, "a": 1}"#,
            "[\"a\", \"a\"]",
            "{}",
            "7",
        ] {
            let strict = parse(text).err().map(|error| error.to_string());
            let found = first_duplicate(text);
            assert_eq!(found.is_some(), strict.is_some(), "{text}");
            assert!(strict.unwrap_or_default().starts_with(&found.unwrap_or_default()), "{text}");
        }
    }

    #[test]
    fn no_depth_and_no_text_is_too_much() {
        let deep = format!("{}{{\"a\":1,\"a\":1}}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(first_duplicate(&deep).is_some());
        for text in ["", "\"", "{\"", "{\"é", "}]}", "{\"a\":1,\"a\":", "[INFO] started {\"a\"", "{,,\"\\"] {
            assert_eq!(first_duplicate(text), None, "{text}");
        }
    }
}
