//! What changed in the definition of a tool since a confirmation of its call was requested.

use std::{
    borrow::Cow,
    iter::{successors, zip},
};

use prost::Message;
use prost_reflect::{ReflectMessage, SerializeOptions};
use serde_json::Value;

use toolwire_contract::proto::v1;

/// Maximum number of changes listed.
const MAX_CHANGES: usize = 64;

/// Maximum bytes of the pointers and texts of the changes listed.
const MAX_BYTES: usize = 16 * 1024;

/// Maximum bytes of a value shown whole, as JSON; of a longer one an excerpt has as many. One change always fits,
/// unless its pointer is long.
const MAX_VALUE: usize = 4 * 1024;

/// Bytes before the first difference in an excerpt.
const CONTEXT: usize = 200;

/// Members of a definition that its digest does not cover, and those that are inlined.
const LEFT_OUT: [&str; 6] =
    ["digest", "status", "domain", "sample", "input_schema_json", "output_schema_json"];

/// The changes of a definition, of which long ones and late ones may be left out. Outer parts come first, so that those
/// of a schema leave room for the description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionChanges {
    pub listed: Vec<DefinitionChange>,
    /// The number of changes that are not listed.
    pub left_out: usize,
}

/// A part of a definition that is another one now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionChange {
    /// JSON pointer (RFC 6901) in the ProtoJSON of the definition, in which schemas are exact. Empty for the whole.
    pub pointer: String,
    /// JSON; empty if the part was absent.
    pub before: String,
    /// JSON; empty if the part is absent now.
    pub after: String,
    /// Whether both are JSON strings with an excerpt that begins shortly before the first difference.
    pub is_excerpt: bool,
}

/// A part of both definitions, and where it stands: which part it is of, and by which name. Its pointer is made only
/// where it is listed, since names may be long and parts many.
struct Part<'a> {
    of: Option<usize>,
    name: Cow<'a, str>,
    before: Option<&'a Value>,
    after: Option<&'a Value>,
}

/// The changes between two encoded `toolwire.v1.ToolDefinition` with the view `FULL_JSON`. Without the second one, the
/// whole definition is one change. None if the first one cannot be decoded.
pub(super) fn between(before: &[u8], after: Option<&[u8]>) -> DefinitionChanges {
    let Some(before) = to_json(before) else { return DefinitionChanges::default() };
    let after = after.and_then(to_json);
    let (parts, different) = compare(&before, after.as_ref());
    let (mut changes, mut bytes) = (DefinitionChanges::default(), 0);
    for part in different.iter().take(MAX_CHANGES) {
        let change = describe(&parts, *part);
        let size = change.pointer.len() + change.before.len() + change.after.len();
        if bytes + size <= MAX_BYTES {
            bytes += size;
            changes.listed.push(change);
        }
    }
    changes.left_out = different.len() - changes.listed.len();
    changes
}

/// A definition as JSON, with the names of the proto.
fn to_json(encoded: &[u8]) -> Option<Value> {
    let definition = v1::ToolDefinition::decode(encoded).ok()?;
    let options = SerializeOptions::new()
        .use_proto_field_name(true)
        .stringify_64_bit_integers(false)
        .skip_default_fields(false);
    let message = definition.transcode_to_dynamic();
    let mut json = message.serialize_with_options(serde_json::value::Serializer, &options).ok()?;
    let object = json.as_object_mut()?;
    object.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
    let schemas = [&definition.input_schema_json, &definition.output_schema_json];
    for (name, text) in zip(["input_schema", "output_schema"], schemas) {
        object.insert(name.to_owned(), serde_json::from_str(text).unwrap_or_default());
    }
    Some(json)
}

/// The parts of both definitions that differ, outer ones first, with the parts that they are of; and the indices of
/// those that are changes. Members of objects are compared one by one, and so are objects in lists of the same length.
/// Everything else is compared as a whole.
fn compare<'a>(before: &'a Value, after: Option<&'a Value>) -> (Vec<Part<'a>>, Vec<usize>) {
    let whole = Part { of: None, name: "".into(), before: Some(before), after };
    let (mut parts, mut different, mut index) = (vec![whole], Vec::new(), 0);
    while let Some(&Part { before, after, .. }) = parts.get(index) {
        let (of, count) = (Some(index), parts.len());
        match (before, after) {
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                let added = after.iter().filter(|(name, _)| !before.contains_key(*name));
                let of_both = before.iter().map(|(name, value)| (name, Some(value), after.get(name)));
                let all = of_both.chain(added.map(|(name, value)| (name, None, Some(value))));
                let unequal = all.filter(|(_, before, after)| {
                    before != after
                        || index == 0 && before.map(Value::to_string) != after.map(Value::to_string)
                });
                parts.extend(unequal.map(|(name, before, after)| Part {
                    of,
                    name: name.into(),
                    before,
                    after,
                }));
                // The digest covers the order of members of a schema.
                let is_reordered = index > 0 && parts.len() == count;
                different.extend(is_reordered.then_some(index));
            }
            (Some(Value::Array(before)), Some(Value::Array(after)))
                if before.len() == after.len() && before.iter().chain(after).all(Value::is_object) =>
            {
                let unequal = zip(before, after).enumerate().filter(|(_, (before, after))| before != after);
                parts.extend(unequal.map(|(at, (before, after))| {
                    let name = at.to_string().into();
                    Part { of, name, before: Some(before), after: Some(after) }
                }));
            }
            _ => different.push(index),
        }
        index += 1;
    }
    (parts, different)
}

fn describe(parts: &[Part<'_>], index: usize) -> DefinitionChange {
    let mut names: Vec<_> = successors(parts.get(index), |part| parts.get(part.of?)).collect();
    // The whole has no name.
    names.pop();
    let escape = |part: &&Part<'_>| format!("/{}", part.name.replace('~', "~0").replace('/', "~1"));
    let pointer = names.iter().rev().map(escape).collect();
    let Part { before, after, .. } = &parts[index];
    let texts = [before, after].map(|value| value.map(Value::to_string).unwrap_or_default());
    let is_excerpt = texts.iter().any(|text| text.len() > MAX_VALUE);
    let [before, after] = if is_excerpt { excerpts(*before, *after) } else { texts };
    DefinitionChange { pointer, before, after, is_excerpt }
}

/// JSON strings with excerpts of two values: of texts themselves, of other values as JSON.
fn excerpts(before: Option<&Value>, after: Option<&Value>) -> [String; 2] {
    let texts = [before, after].map(|value| match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    });
    let equal = zip(texts[0].bytes(), texts[1].bytes()).take_while(|(one, other)| one == other).count();
    let excerpt = |text: &str| {
        let begin = text.floor_char_boundary(equal.saturating_sub(CONTEXT));
        let lengths = text[begin..].chars().scan(0, |length, next| {
            *length += escaped_length(next);
            Some((*length, next.len_utf8()))
        });
        let shown: usize =
            lengths.take_while(|(length, _)| *length <= MAX_VALUE).map(|(_, bytes)| bytes).sum();
        let end = begin + shown;
        let (cut, more) = (if begin > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
        Value::from(format!("{cut}{}{more}", &text[begin..end])).to_string()
    };
    let [before_text, after_text] = &texts;
    [(before, before_text), (after, after_text)]
        .map(|(value, text)| value.map(|_| excerpt(text)).unwrap_or_default())
}

/// The length of a character in a JSON string, in bytes.
fn escaped_length(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn definition(description: &str, schema: &Value) -> v1::ToolDefinition {
        v1::ToolDefinition {
            name: "pay".to_owned(),
            description: description.to_owned(),
            input_schema_json: schema.to_string(),
            output_schema_json: "{}".to_owned(),
            ..v1::ToolDefinition::default()
        }
    }

    fn changes(before: &v1::ToolDefinition, after: &v1::ToolDefinition) -> DefinitionChanges {
        between(&before.encode_to_vec(), Some(&after.encode_to_vec()))
    }

    /// Pointer, before and after of the changes.
    fn listed(changes: &DefinitionChanges) -> Vec<[&str; 3]> {
        changes.listed.iter().map(|it| [&*it.pointer, &*it.before, &*it.after]).collect()
    }

    #[test]
    fn changes_are_named_by_the_innermost_part_that_differs() {
        let before = json!({
            "properties": {"a/b": {"maximum": 1}, "c": {"type": "string"}, "e": {"enum": ["x"]}},
            "anyOf": [{"required": ["c"]}, {"required": ["e"]}],
        });
        let after = json!({
            "anyOf": [{"required": ["c"]}, {"required": ["d"]}],
            "properties": {"e": {"enum": ["x", "y"]}, "a/b": {"maximum": 9_007_199_254_740_993_u64}, "d": {}},
        });
        let changes = changes(&definition("Pays.", &before), &definition("Pays twice.", &after));
        let expected = [
            ["/description", r#""Pays.""#, r#""Pays twice.""#],
            ["/input_schema/properties/c", r#"{"type":"string"}"#, ""],
            ["/input_schema/properties/d", "", "{}"],
            ["/input_schema/properties/a~1b/maximum", "1", "9007199254740993"],
            ["/input_schema/properties/e/enum", r#"["x"]"#, r#"["x","y"]"#],
            ["/input_schema/anyOf/1/required", r#"["e"]"#, r#"["d"]"#],
        ];
        assert_eq!((listed(&changes), changes.left_out), (expected.to_vec(), 0));
    }

    #[test]
    fn what_the_digest_does_not_cover_is_no_change() {
        let before = definition("Pays.", &json!({}));
        let status = v1::ToolStatus { state: v1::ToolState::Degraded.into(), reason: "slow".to_owned() };
        let (domain, digest) = ("money".to_owned(), "42".to_owned());
        let after =
            v1::ToolDefinition { status: Some(status), domain, digest, sample: true, ..before.clone() };
        assert_eq!(changes(&before, &after), DefinitionChanges::default());
    }

    /// The digest covers the order of members of a schema.
    #[test]
    fn another_order_is_a_change_of_the_schema() {
        let [before, after] =
            [r#"{"a":{},"b":{}}"#, r#"{"b":{},"a":{}}"#].map(|it| serde_json::from_str(it).unwrap());
        let changes = changes(&definition("", &before), &definition("", &after));
        assert_eq!(listed(&changes), [["/input_schema", r#"{"a":{},"b":{}}"#, r#"{"b":{},"a":{}}"#]]);
    }

    #[test]
    fn a_long_text_is_an_excerpt_around_the_first_difference() {
        let text = |word: &str| format!("{}{word}{}", "ä".repeat(3_000), "z".repeat(5_000));
        let changes = changes(&definition(&text("one"), &json!({})), &definition(&text("other"), &json!({})));
        let [change] = &changes.listed[..] else { panic!("{changes:?}") };
        assert!(change.is_excerpt);
        for (text, word) in [(&change.before, "äonez"), (&change.after, "äotherz")] {
            assert!(text.starts_with("\"…ä") && text.ends_with("z…\"") && text.contains(word), "{text}");
            assert_eq!(text.len(), MAX_VALUE + 2 * "\"…".len());
        }
    }

    #[test]
    fn what_is_left_out_is_counted_and_outer_parts_come_first() {
        let schema = |word: &str| {
            let properties: Map<_, _> =
                (0..100).map(|at| (format!("p{at}"), json!({ "description": word }))).collect();
            json!({ "properties": properties })
        };
        let many = changes(&definition("one", &schema("a")), &definition("two", &schema("b")));
        assert_eq!((many.listed.len(), many.left_out), (MAX_CHANGES, 101 - MAX_CHANGES));
        assert_eq!(many.listed[0].pointer, "/description");
        let long = "x".repeat(1_000);
        let long = changes(&definition("one", &schema("a")), &definition("two", &schema(&long)));
        assert!((10..17).contains(&long.listed.len()), "{}", long.listed.len());
        assert_eq!(long.listed.len() + long.left_out, 101);
    }

    #[test]
    fn a_long_text_of_control_characters_is_shown_too() {
        let text = |word: &str| format!("{word}{}", "\u{1}\"".repeat(5_000));
        let changes = changes(&definition(&text("one"), &json!({})), &definition(&text("other"), &json!({})));
        assert_eq!((changes.listed.len(), changes.left_out), (1, 0));
        assert!(changes.listed[0].before.len() < MAX_VALUE + 20, "{changes:?}");
    }

    /// A pointer of each of 10,000 changes would take a gigabyte.
    #[test]
    fn long_names_above_many_changes_are_not_repeated_for_each() {
        let schema = |value: &Value| {
            let members: Map<_, _> = (0..10_000).map(|at| (at.to_string(), value.clone())).collect();
            json!({ "x".repeat(100_000): members })
        };
        let changes =
            changes(&definition("one", &schema(&json!({}))), &definition("one", &schema(&json!(true))));
        assert_eq!((changes.listed.len(), changes.left_out), (0, 10_000));
    }

    #[test]
    fn a_tool_that_is_gone_is_one_change() {
        let changes = between(&definition("Pays.", &json!({})).encode_to_vec(), None);
        let [change] = &changes.listed[..] else { panic!("{changes:?}") };
        assert_eq!((&*change.pointer, &*change.after), ("", ""));
        let before: Value = serde_json::from_str(&change.before).unwrap();
        assert_eq!((&before["name"], &before["description"]), (&json!("pay"), &json!("Pays.")));
    }
}
