//! Requests as JSON Schemas: closed, with required members, members that exclude each other, and the bounds that the
//! comments of the contract state.

use std::collections::BTreeSet;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor, OneofDescriptor};
use serde_json::{Value, json};

use super::schema::{Schemas, comment, field_name, with_description};
use crate::faces::rest::message;

/// As `toolwire_base::duration` reads it, of bounded length.
pub(super) const LENGTH: &str = "^([0-9]{1,9} *ms|[0-9]{1,6}([.][0-9]{1,3})? *[smhd])$";
/// The names of tasks, of users, and of the roles of agents.
pub(super) const TASK: &str = "^task_[0-9a-f]{32}$";
const USER: &str = "^[!-~]{1,128}$";
const ROLE: &str = "^[a-z][a-z0-9_]{0,63}$";
/// The largest integer that every reader of JSON keeps.
const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;
/// The word in the comment of a field or a `oneof` that must be given.
const REQUIRED: &str = "Required.";
/// The same for a field that another one can replace.
const REQUIRED_WITHOUT: &str = "Required without `";

/// The schema of a request's body, without the fields that its path and headers give.
pub(super) fn body(schemas: &mut Schemas, message: &MessageDescriptor, elsewhere: &[String]) -> Value {
    let fields: Vec<_> = message.fields().filter(|field| is_open(field, elsewhere)).collect();
    let (mut properties, mut required, mut rules) = (json!({}), BTreeSet::new(), Vec::new());
    for field in &fields {
        let (name, is_text) = field_name(field);
        let text = comment(&field.parent_file(), field.path());
        let schema = if is_text { json!({"type": "object"}) } else { value(schemas, field) };
        properties[name] = with_description(schema, &text);
        if oneof_of(field).is_none() && text.contains(REQUIRED) {
            required.insert(name.to_owned());
        }
        // Another field may replace it, unless that one is given elsewhere.
        let other =
            text.split_once(REQUIRED_WITHOUT).and_then(|(_, it)| it.split_once('`')).map(|(it, _)| it);
        if let Some(other) = other.filter(|other| !elsewhere.iter().any(|name| name == other)) {
            let given = json!({"required": [name], "properties": {name: {"minLength": 1}}});
            rules.push(json!({"anyOf": [given, {"required": [other]}]}));
        }
    }
    let open = message.oneofs().filter(|it| !it.is_synthetic() && !is_decided(it, elsewhere));
    rules.extend(open.filter_map(|oneof| oneof_rule(&oneof)));
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if !rules.is_empty() {
        schema["allOf"] = rules.into();
    }
    with_description(schema, &comment(&message.parent_file(), message.path()))
}

/// The rule that the members of a `oneof` exclude each other; `None` for a single one that may be absent.
fn oneof_rule(oneof: &OneofDescriptor) -> Option<Value> {
    let names: BTreeSet<_> = oneof.fields().map(|field| field_name(&field).0.to_owned()).collect();
    let mut choices: Vec<_> = names.iter().map(|name| json!({"required": [name]})).collect();
    if !comment(&oneof.parent_file(), oneof.path()).contains(REQUIRED) {
        if choices.len() < 2 {
            return None;
        }
        choices.push(json!({"not": {"anyOf": choices}}));
    }
    Some(json!({"oneOf": choices}))
}

/// A reference to the schema of a message within another.
fn reference(schemas: &mut Schemas, message: &MessageDescriptor) -> Value {
    let name = format!("{}.Asked", message.full_name());
    if !schemas.has(&name) {
        // Reserved first: a message may contain itself.
        schemas.put(&name, Value::Null);
        let schema = body(schemas, message, &[]);
        schemas.put(&name, schema);
    }
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Whether the body or the query may give a field: the path and the headers give neither it nor one that excludes it.
pub(super) fn is_open(field: &FieldDescriptor, elsewhere: &[String]) -> bool {
    let is_elsewhere = elsewhere.iter().any(|name| name == field.name());
    !is_elsewhere && oneof_of(field).is_none_or(|one| !is_decided(&one, elsewhere))
}

fn is_decided(one: &OneofDescriptor, elsewhere: &[String]) -> bool {
    one.fields().any(|field| elsewhere.iter().any(|name| name == field.name()))
}

/// The `oneof` that a field belongs to.
fn oneof_of(field: &FieldDescriptor) -> Option<OneofDescriptor> {
    field.containing_oneof().filter(|it| !it.is_synthetic())
}

/// Whether a field must be given.
pub(super) fn is_required(field: &FieldDescriptor) -> bool {
    comment(&field.parent_file(), field.path()).contains(REQUIRED)
}

pub(super) fn value(schemas: &mut Schemas, field: &FieldDescriptor) -> Value {
    let text = comment(&field.parent_file(), field.path());
    let bounds = Bounds::of(&text);
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else { return json!({"type": "object"}) };
        let each = kind(schemas, &entry.map_entry_value_field().kind());
        return json!({"type": "object", "additionalProperties": each});
    }
    let mut one = kind(schemas, &field.kind());
    match field.kind() {
        Kind::String if text.contains("A UUID") || field.name().ends_with("call_id") => {
            one["format"] = "uuid".into();
        }
        Kind::String if is_task(field) => one["pattern"] = TASK.into(),
        Kind::String if matches!(field.name(), "role" | "roles") => one["pattern"] = ROLE.into(),
        Kind::String if field.name() == "user_id" => one["pattern"] = USER.into(),
        Kind::String => bounds.put(&mut one, "minLength", "maxLength"),
        Kind::Int32 | Kind::Int64 | Kind::Uint32 | Kind::Uint64 => bounds.put(&mut one, "minimum", "maximum"),
        // A member of a `oneof` is chosen by `true`.
        Kind::Bool if oneof_of(field).is_some() => one["const"] = true.into(),
        _ => {}
    }
    if field.kind() == Kind::String
        && text.contains(REQUIRED)
        && one.get("minLength").is_none()
        && one.get("pattern").is_none()
    {
        one["minLength"] = 1.into();
    }
    if field.is_list() { json!({"type": "array", "items": one}) } else { one }
}

/// Whether a field names a task. Calls may be made on behalf of any label, so the fields of `toolwire.v1` are none.
fn is_task(field: &FieldDescriptor) -> bool {
    matches!(field.name(), "task_id" | "root_id") && field.parent_file().package_name() != "toolwire.v1"
}

fn kind(schemas: &mut Schemas, kind: &Kind) -> Value {
    match kind {
        Kind::Bool => json!({"type": "boolean"}),
        Kind::String => json!({"type": "string"}),
        Kind::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
        Kind::Double | Kind::Float => json!({"type": "number"}),
        Kind::Uint32 | Kind::Fixed32 => json!({"type": "integer", "minimum": 0, "maximum": u32::MAX}),
        Kind::Uint64 | Kind::Fixed64 => json!({"type": "integer", "minimum": 0, "maximum": MAX_SAFE_INTEGER}),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
            json!({"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX})
        }
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
            json!({"type": "integer", "minimum": -MAX_SAFE_INTEGER, "maximum": MAX_SAFE_INTEGER})
        }
        Kind::Enum(of) => {
            // Without the first value, which means that none was given.
            let words: Vec<_> =
                of.values().skip(1).map(|it| message::word(of, it.name()).to_owned()).collect();
            json!({"type": "string", "enum": words})
        }
        Kind::Message(message) => match message.full_name() {
            "google.protobuf.Duration" => json!({"type": "string", "pattern": LENGTH, "examples": ["1.5s"]}),
            "google.protobuf.Timestamp" => json!({"type": "string", "format": "date-time"}),
            "google.protobuf.Struct" => json!({"type": "object"}),
            name if name.starts_with("google.protobuf.") => json!({}),
            _ => reference(schemas, message),
        },
    }
}

/// Bounds that a comment states: `1 to 1,000`, or `at most 128 characters`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bounds {
    least: Option<i64>,
    most: Option<i64>,
}

impl Bounds {
    fn of(text: &str) -> Self {
        let words: Vec<_> =
            text.split([' ', '\u{a0}']).map(|it| it.trim_end_matches([',', '.', ';'])).collect();
        for at in 0..words.len() {
            let number = |at: usize| words.get(at).and_then(|it| it.replace(',', "").parse().ok());
            let is = |at: usize, expected: &[&str]| {
                words.get(at).is_some_and(|it| expected.iter().any(|word| word.eq_ignore_ascii_case(it)))
            };
            if is(at + 1, &["to"])
                && let (Some(least), Some(most)) = (number(at), number(at + 2))
            {
                return Self { least: Some(least), most: Some(most) };
            }
            if is(at, &["at"])
                && is(at + 1, &["most"])
                && is(at + 3, &["characters", "bytes"])
                && let Some(most) = number(at + 2)
            {
                return Self { least: None, most: Some(most) };
            }
        }
        Self::default()
    }

    /// Adds the bounds under the keywords `least` and `most`.
    fn put(self, schema: &mut Value, least: &str, most: &str) {
        for (name, bound) in [(least, self.least), (most, self.most)] {
            if let Some(bound) = bound {
                schema[name] = bound.into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_from_comments() {
        let bounds = |text| {
            let Bounds { least, most } = Bounds::of(text);
            (least, most)
        };
        assert_eq!(bounds("At most so many, 1 to 1,000. Default 100."), (Some(1), Some(1_000)));
        assert_eq!(bounds("Names the worker. At most 128 characters. Required."), (None, Some(128)));
        assert_eq!(bounds("The answer: 1 to 65,536 bytes."), (Some(1), Some(65_536)));
        assert_eq!(bounds("How long to wait, at most 60 s."), (None, None));
        assert_eq!(bounds(""), (None, None));
    }
}
