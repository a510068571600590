//! A message as payload JSON: of data, and of arguments. Not here: the encoded bytes, and their cache.

use prost::Message;
use prost_reflect::{DynamicMessage, FieldDescriptor, MapKey, ReflectMessage, Value as Field};
use serde_json::{Map, Value};

use crate::{json, transcode::Omitted};

/// How a field that is not set is rendered.
enum Absent<'a> {
    /// It is `null`, unless its path is in the set.
    Null(&'a Omitted),
    /// It is left out.
    Omit,
}

/// A message as the JSON object of data: every declared field, but the omitted ones where they are absent.
pub fn of_data(message: &DynamicMessage, omitted: &Omitted) -> Value {
    object(message, &Absent::Null(omitted), "")
}

/// A message as the JSON object of the arguments that it stands for: what is not set is left out.
pub fn to_arguments(message: &DynamicMessage) -> Map<String, Value> {
    match object(message, &Absent::Omit, "") {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The first number of a structure within a message that may not be what was written, with its pointer.
pub fn doubtful(message: &DynamicMessage) -> Option<(String, f64)> {
    match message.descriptor().full_name() {
        "google.protobuf.Struct" => json::doubtful(&message.transcode_to().ok()?),
        "google.protobuf.Value" => json::doubtful_in(&message.transcode_to().ok()?),
        _ => message.fields().find_map(|(field, value)| below(field.name(), doubtful_in(value))),
    }
}

fn doubtful_in(value: &Field) -> Option<(String, f64)> {
    match value {
        Field::Message(message) => doubtful(message),
        Field::List(items) => {
            items.iter().enumerate().find_map(|(at, item)| below(&at.to_string(), doubtful_in(item)))
        }
        Field::Map(entries) => {
            entries.iter().find_map(|(key, item)| below(&key_text(key), doubtful_in(item)))
        }
        _ => None,
    }
}

fn below(key: &str, found: Option<(String, f64)>) -> Option<(String, f64)> {
    found.map(|(pointer, number)| (format!("/{}{pointer}", json::segment(key)), number))
}

fn object(message: &DynamicMessage, absent: &Absent<'_>, path: &str) -> Value {
    if let Some(value) = well_known(message) {
        return value;
    }
    let mut map = Map::new();
    for field in message.descriptor().fields() {
        if let Some(value) = member(message, &field, absent, path) {
            map.insert(field.name().to_owned(), value);
        }
    }
    Value::Object(map)
}

fn member(
    message: &DynamicMessage,
    field: &FieldDescriptor,
    absent: &Absent<'_>,
    parent: &str,
) -> Option<Value> {
    let path = if parent.is_empty() { field.name().to_owned() } else { format!("{parent}.{}", field.name()) };
    if message.has_field(field) || (!field.supports_presence() && matches!(absent, Absent::Null(_))) {
        return Some(element(&message.get_field(field), absent, &path));
    }
    match absent {
        Absent::Null(omitted) if !omitted.contains(&path) && !is_in_oneof(field) => Some(Value::Null),
        _ => None,
    }
}

fn is_in_oneof(field: &FieldDescriptor) -> bool {
    field.containing_oneof().is_some_and(|oneof| !oneof.is_synthetic())
}

fn element(value: &Field, absent: &Absent<'_>, path: &str) -> Value {
    match value {
        Field::Bool(flag) => Value::Bool(*flag),
        Field::I64(n) => (*n).into(),
        Field::U32(n) => (*n).into(),
        Field::U64(n) => (*n).into(),
        Field::F32(n) => number(f64::from(*n), absent),
        Field::F64(n) => number(*n, absent),
        Field::String(text) => Value::String(text.clone()),
        // Start-up refuses payloads with bytes and enums: their words are strings with a manifest enum.
        Field::Bytes(_) => Value::Null,
        Field::I32(n) | Field::EnumNumber(n) => (*n).into(),
        Field::Message(message) => object(message, absent, path),
        Field::List(items) => items.iter().map(|item| element(item, absent, path)).collect(),
        Field::Map(entries) => entries
            .iter()
            .map(|(key, item)| (key_text(key), element(item, absent, path)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// In data, a number that JSON cannot express is `null`. Among arguments that would mean absent: there it becomes a
/// string, which every schema of a number refuses.
fn number(value: f64, absent: &Absent<'_>) -> Value {
    match absent {
        Absent::Omit if !value.is_finite() => Value::String(value.to_string()),
        _ => json::number(value),
    }
}

fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}

/// The JSON form of the messages of `google.protobuf` that have one of their own.
fn well_known(message: &DynamicMessage) -> Option<Value> {
    match message.descriptor().full_name() {
        "google.protobuf.Timestamp" => text_of::<prost_types::Timestamp>(message),
        "google.protobuf.Duration" => text_of::<prost_types::Duration>(message),
        "google.protobuf.Struct" => Some(Value::Object(json::from_struct(message.transcode_to().ok()?))),
        "google.protobuf.Value" => Some(json::from_value(message.transcode_to().ok()?)),
        _ => None,
    }
}

fn text_of<M: Message + Default + ToString>(message: &DynamicMessage) -> Option<Value> {
    message.transcode_to::<M>().ok().map(|value| Value::String(value.to_string()))
}
