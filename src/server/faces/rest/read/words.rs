//! Converts values as people write them to ProtoJSON: enumerations, durations, and JSON in place of its text.

use prost_reflect::{Cardinality, EnumDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value};

use crate::{faces::rest::message, service::request::refuse};
use toolwire_base::duration;
use toolwire_contract::Refusal;

/// `2s`, `1500ms` or `1.5s` as ProtoJSON writes it.
pub(super) fn parse_duration(name: &str, text: &str) -> Result<Value, Refusal> {
    let duration = duration::parse(text).map_err(|error| refuse(name, "format", &error.to_string()))?;
    Ok(format!("{}.{:09}s", duration.as_secs(), duration.subsec_nanos()).into())
}

/// The full name of a value that is written with its prefix, without, or in small letters.
pub(super) fn value_of(of: &EnumDescriptor, text: &str) -> Option<String> {
    let (upper, prefix) = (text.to_ascii_uppercase(), message::prefix(of));
    let mut values = of.values();
    values
        .find(|it| it.name() == upper || it.name().strip_prefix(&prefix) == Some(&upper))
        .map(|it| it.name().to_owned())
}

/// Converts the members of a body in place.
pub(super) fn read_words(object: &mut Map<String, Value>, message: &MessageDescriptor) {
    for field in message.fields() {
        let name = field.name();
        if field.kind() == Kind::String
            && let Some(place) = name.strip_suffix("_json")
            && let Some(value @ Value::Object(_)) = object.get(place)
            && !object.contains_key(name)
        {
            // The text is exact where a structure is not.
            let text = value.to_string();
            object.shift_remove(place);
            object.insert(name.to_owned(), text.into());
        }
        let Some(value) = object.get_mut(name) else { continue };
        match (field.kind(), value) {
            (kind, Value::Array(items)) if field.cardinality() == Cardinality::Repeated => {
                for item in items {
                    read_word(item, &kind);
                }
            }
            (kind, value) if !field.is_map() => read_word(value, &kind),
            _ => {}
        }
    }
}

fn read_word(value: &mut Value, kind: &Kind) {
    match (kind, value) {
        (Kind::Enum(of), Value::String(text)) => {
            if let Some(name) = value_of(of, text) {
                *text = name;
            }
        }
        (Kind::Message(inner), Value::String(text)) if inner.full_name() == "google.protobuf.Duration" => {
            if let Ok(Value::String(duration)) = parse_duration("", text) {
                *text = duration;
            }
        }
        (Kind::Message(inner), Value::Object(object))
            if inner.parent_file().package_name() != "google.protobuf" =>
        {
            read_words(object, inner);
        }
        _ => {}
    }
}
