//! How long the text of a value is, without writing it.

use serde_json::{Map, Value};

/// Whether the text of an object is longer than a number of bytes, about. It is looked through as far as that takes.
pub fn is_longer(map: &Map<String, Value>, bytes: usize) -> bool {
    spend_members(map, bytes).is_none()
}

fn spend_members(map: &Map<String, Value>, bytes: usize) -> Option<usize> {
    map.iter().try_fold(bytes, |left, (key, value)| spend(value, left.checked_sub(key.len() + 4)?))
}

/// What is left of a number of bytes after the text of a value.
fn spend(value: &Value, bytes: usize) -> Option<usize> {
    match value {
        Value::Object(map) => spend_members(map, bytes.checked_sub(2)?),
        Value::Array(items) => {
            items.iter().try_fold(bytes.checked_sub(2)?, |left, item| spend(item, left.checked_sub(1)?))
        }
        Value::String(text) => bytes.checked_sub(text.len() + 2),
        _ => bytes.checked_sub(1),
    }
}

/// A length in bytes that the shortest text of the value of a JSON text has at least: without white space, with one
/// byte for each number and each escape.
pub fn min_length(text: &str) -> usize {
    let mut length = 0;
    let (mut is_in_text, mut is_in_number) = (false, false);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let was_in_number = is_in_number;
        is_in_number = !is_in_text && matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        match byte {
            b'"' => is_in_text = !is_in_text,
            b'\\' if is_in_text => {
                // The digits go with it; half of a pair is one byte too.
                let digits = if bytes.next() == Some(b'u') { 4 } else { 0 };
                bytes.by_ref().take(digits).for_each(drop);
            }
            b' ' | b'\n' | b'\r' | b'\t' if !is_in_text => continue,
            _ if is_in_number && was_in_number => continue,
            _ => {}
        }
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_text_of_a_value_is_shorter() {
        for text in [
            r#"{"a": [1, true, false, null, "b"], "c": {"d": []}}"#,
            "[ 1.0000000, -0.5e+10, 100, 1E2 ]",
            r#""\u0041\u00e9\ud83d\ude00\"\\\/\n é😀""#,
            "\"e1 2 3\"",
            "  [\n\t]\r\n",
            "{}",
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert!(min_length(text) <= value.to_string().len(), "{text}");
            assert!(
                min_length(&serde_json::to_string_pretty(&value).unwrap()) <= value.to_string().len(),
                "{text}"
            );
        }
    }

    #[test]
    fn values_of_few_bytes_are_counted_whole() {
        for value in [json!([1, 2, 3]), json!([{"a": 1}, {}, [], "", null, true, false])] {
            assert_eq!(min_length(&value.to_string()), value.to_string().len(), "{value}");
        }
    }
}
