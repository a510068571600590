//! Repairs text that is nearly JSON: one pass over the text that distinguishes strings from what stands between them.
//!
//! In a string: half a surrogate pair and an invalid escape become U+FFFD, a bare control character is escaped. Between
//! strings: a token that is not a JSON value (`NaN`, `Infinity`, `1e999`, `undefined`) becomes null. Not here:
//! brackets, commas and quotes that are missing, without which nothing tells one item from another.

use std::fmt::Write;

use serde_json::Value;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unrepairable {
    /// Texts in which a character is lost.
    pub(super) texts: u32,
    /// Values that were none.
    pub(super) values: u32,
}

/// A text as JSON, if it nearly is, and what was lost.
pub(super) fn repair(text: &str) -> (String, Unrepairable) {
    let (mut out, mut lost) = (String::with_capacity(text.len()), Unrepairable::default());
    let (mut rest, mut depth) = (text, 0_u32);
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' => {
                let (taken, is_whole) = string(rest, &mut out);
                lost.texts += u32::from(!is_whole);
                taken
            }
            '{' | '[' | '}' | ']' | ',' | ':' => {
                match first {
                    '{' | '[' => depth += 1,
                    '}' | ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                out.push(first);
                1
            }
            _ if first.is_ascii_whitespace() => {
                out.push(first);
                1
            }
            _ => {
                let token = &rest[..token_len(rest)];
                // A document that is one bare word is an answer of another kind.
                if depth == 0 || is_value(token) {
                    out.push_str(token);
                } else {
                    out.push_str("null");
                    lost.values += 1;
                }
                token.len()
            }
        };
        rest = &rest[taken..];
    }
    (out, lost)
}

fn token_len(text: &str) -> usize {
    let is_end = |c: char| c.is_ascii_whitespace() || "\"{}[],:".contains(c);
    text.find(is_end).unwrap_or(text.len())
}

/// A literal or a number that a float can hold.
fn is_value(token: &str) -> bool {
    serde_json::from_str::<Value>(token).is_ok()
}

/// Writes the string that a text begins with. Returns its length, and whether every character of it is known.
fn string(text: &str, out: &mut String) -> (usize, bool) {
    out.push('"');
    let (mut at, mut is_whole) = (1, true);
    while let Some(first) = text[at..].chars().next() {
        match first {
            '"' => {
                out.push('"');
                return (at + 1, is_whole);
            }
            '\\' => {
                let (taken, is_known) = escape(&text[at..], out);
                at += taken;
                is_whole &= is_known;
                continue;
            }
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(first));
            }
            // Stands where bytes were no UTF-8.
            char::REPLACEMENT_CHARACTER => {
                out.push(first);
                is_whole = false;
            }
            _ => out.push(first),
        }
        at += first.len_utf8();
    }
    // Without an end the document has none either, and the parser says where.
    (text.len(), is_whole)
}

/// Writes the escape that a text begins with. Returns its length, and whether it stands for a character.
fn escape(text: &str, out: &mut String) -> (usize, bool) {
    let Some(kind) = text[1..].chars().next() else { return (text.len(), false) };
    if "\"\\/bfnrt".contains(kind) {
        out.push('\\');
        out.push(kind);
        return (2, true);
    }
    let lost = |out: &mut String, taken| {
        out.push(char::REPLACEMENT_CHARACTER);
        (taken, false)
    };
    let Some(unit) = unit_of(text).filter(|_| kind == 'u') else {
        // An invalid escape loses its backslash, and what follows is read as it stands.
        return lost(out, 1);
    };
    let pair = unit_of(&text[UNIT..]).filter(|_| (0xd800..0xdc00).contains(&unit));
    let units = [Some(unit), pair].into_iter().flatten();
    match char::decode_utf16(units).next() {
        Some(Ok(decoded)) => {
            let taken = UNIT * decoded.len_utf16();
            out.push_str(&text[..taken]);
            (taken, true)
        }
        _ => lost(out, UNIT),
    }
}

/// The length of `\u` and its four digits.
const UNIT: usize = 6;

/// The unit of UTF-16 that a text begins with, if it begins with one.
fn unit_of(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Value, Unrepairable) {
        let (repaired, lost) = repair(text);
        (serde_json::from_str(&repaired).unwrap_or_else(|error| panic!("{error}: {repaired}")), lost)
    }

    #[test]
    fn a_text_loses_the_characters_that_are_none_and_nothing_else() {
        for (text, is_read_as, is_lost) in [
            (r#"["cut \ud83d"]"#, "cut \u{fffd}", true),
            (r#"["\ude00 cut"]"#, "\u{fffd} cut", true),
            (r#"["\ud83d\ud83d\ude00"]"#, "\u{fffd}😀", true),
            (r#"["\ud83dA"]"#, "\u{fffd}A", true),
            (r#"["\ud83d\n"]"#, "\u{fffd}\n", true),
            (r#"["\u12"]"#, "\u{fffd}u12", true),
            (r#"["it\'s"]"#, "it\u{fffd}'s", true),
            ("[\"caf\u{fffd}\"]", "caf\u{fffd}", true),
            ("[\"tab\there\u{1}\"]", "tab\there\u{1}", false),
            (r#"["\ud83d\ude00 \\ud83d \"NaN\" é"]"#, "😀 \\ud83d \"NaN\" é", false),
        ] {
            let (value, lost) = read(text);
            assert_eq!(value[0], is_read_as, "{text}");
            assert_eq!(lost, Unrepairable { texts: u32::from(is_lost), values: 0 }, "{text}");
        }
    }

    #[test]
    fn what_is_no_value_is_null_and_every_value_stays() {
        for none in ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "undefined", "None", "01", "+5", ".5"]
        {
            let (value, lost) = read(&format!(r#"{{"a": [1, {none}], "b":{none},"c":"{none}"}}"#));
            let expected = serde_json::json!({"a": [1, null], "b": null, "c": none});
            assert_eq!((value, lost.values), (expected, 2), "{none}");
        }
        let valid = r#"{"a": [1, -2.5e3, true, false, null, "x"], "b": {}}"#;
        assert_eq!(repair(valid), (valid.to_owned(), Unrepairable::default()));
    }

    #[test]
    fn what_is_another_document_stays_one() {
        for other in
            ["NaN", "Forbidden", "", "{\"a\": [1", "\"open", "{a: 1}", "[1 2]", "[\"\\", "[\"\\u00", "<html>"]
        {
            assert!(serde_json::from_str::<Value>(&repair(other).0).is_err(), "{other}");
        }
    }
}
