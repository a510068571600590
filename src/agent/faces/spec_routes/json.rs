//! Messages of the contract as the JSON of these routes. Fields have their own names, numbers are numbers, and enums
//! are their words without the name of the enum. A JSON text is parsed: `arguments_json` becomes `arguments`.
//!
//! Not here: the data of tools, whose JSON their payload makes itself.

use prost_reflect::{DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, ReflectMessage, Value as Field};
use serde_json::{Map, Value};

use toolwire_contract::json;

/// The ending of fields that hold JSON text.
const TEXT: &str = "_json";

pub fn message(message: &impl ReflectMessage) -> Value {
    object(&message.transcode_to_dynamic())
}

/// The word of an enum's value, such as `ANSWERED` of `TURN_OUTCOME_ANSWERED`.
pub fn word(value: &impl Worded) -> Value {
    let name = value.name();
    if name.ends_with("_UNSPECIFIED") {
        Value::Null
    } else {
        without(name, &prefix(value.enum_name())).into()
    }
}

/// The value of a JSON text of a tool or the agent; a text that is not JSON stays a string.
pub fn parse_embedded(text: &str) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// An enum of the contract.
pub trait Worded {
    fn name(&self) -> &'static str;
    fn enum_name(&self) -> &'static str;
}

macro_rules! worded {
    ($($path:path => $name:literal),* $(,)?) => {
        $(impl Worded for $path {
            fn name(&self) -> &'static str {
                self.as_str_name()
            }

            fn enum_name(&self) -> &'static str {
                $name
            }
        })*
    };
}

worded! {
    toolwire_contract::proto::agent::v1::JobState => "JobState",
    toolwire_contract::proto::agent::v1::TurnOutcome => "TurnOutcome",
    toolwire_contract::proto::agent::v1::TurnState => "TurnState",
    toolwire_contract::proto::v1::ConsequenceLevel => "ConsequenceLevel",
}

fn object(message: &DynamicMessage) -> Value {
    if let Some(value) = well_known(message) {
        return value;
    }
    let descriptor = message.descriptor();
    let mut map = Map::new();
    for field in descriptor.fields() {
        let name = field.name();
        if let Some(open) = name.strip_suffix(TEXT) {
            if let Some(text) = message.get_field(&field).as_str().filter(|text| !text.is_empty()) {
                map.insert(open.to_owned(), parse_embedded(text));
            }
        } else if message.has_field(&field) || !field.supports_presence() {
            map.insert(name.to_owned(), element(&field, &message.get_field(&field)));
        } else if !is_in_oneof(&field) && descriptor.get_field_by_name(&format!("{name}{TEXT}")).is_none() {
            map.insert(name.to_owned(), Value::Null);
        }
    }
    Value::Object(map)
}

fn is_in_oneof(field: &FieldDescriptor) -> bool {
    field.containing_oneof().is_some_and(|oneof| !oneof.is_synthetic())
}

fn element(field: &FieldDescriptor, value: &Field) -> Value {
    match value {
        Field::Bool(flag) => (*flag).into(),
        Field::I32(n) => (*n).into(),
        Field::I64(n) => (*n).into(),
        Field::U32(n) => (*n).into(),
        Field::U64(n) => (*n).into(),
        Field::F32(n) => json::number(f64::from(*n)),
        Field::F64(n) => json::number(*n),
        Field::String(text) => text.clone().into(),
        // None of our messages that are json here has bytes.
        Field::Bytes(_) => Value::Null,
        Field::EnumNumber(number) => match field.kind() {
            Kind::Enum(of) => word_of(&of, *number),
            _ => (*number).into(),
        },
        Field::Message(message) => object(message),
        Field::List(items) => items.iter().map(|item| element(field, item)).collect(),
        Field::Map(entries) => {
            let entries = entries.iter().filter_map(|(key, item)| Some((key.as_str()?, item)));
            entries.map(|(key, item)| (key.to_owned(), element(field, item))).collect::<Map<_, _>>().into()
        }
    }
}

fn word_of(of: &EnumDescriptor, number: i32) -> Value {
    match of.get_value(number) {
        Some(value) if number != 0 => without(value.name(), &prefix(of.name())).into(),
        _ => Value::Null,
    }
}

fn without<'a>(name: &'a str, prefix: &str) -> &'a str {
    name.strip_prefix(prefix).unwrap_or(name)
}

/// `TURN_OUTCOME_` of `TurnOutcome`.
fn prefix(of: &str) -> String {
    let mut prefix = String::new();
    for (at, letter) in of.char_indices() {
        if at > 0 && letter.is_ascii_uppercase() {
            prefix.push('_');
        }
        prefix.push(letter.to_ascii_uppercase());
    }
    prefix + "_"
}

/// The JSON of the well-known types that have a form of their own.
fn well_known(message: &DynamicMessage) -> Option<Value> {
    match message.descriptor().full_name() {
        "google.protobuf.Timestamp" => {
            message.transcode_to::<prost_types::Timestamp>().ok().map(|it| it.to_string().into())
        }
        "google.protobuf.Duration" => {
            message.transcode_to::<prost_types::Duration>().ok().map(|it| it.to_string().into())
        }
        "google.protobuf.Struct" => Some(Value::Object(json::from_struct(message.transcode_to().ok()?))),
        "google.protobuf.Value" => Some(json::from_value(message.transcode_to().ok()?)),
        _ => None,
    }
}
