//! Messages of the contract as JSON: names of fields as they stand in the proto, values of enumerations in the
//! specifications' words (`READ`), and the exact JSON of schemas, data and arguments in place of its text.

use prost_reflect::{
    DynamicMessage, EnumDescriptor, Kind, MessageDescriptor, ReflectMessage, SerializeOptions,
};
use serde_json::{Map, Value};

/// How the name of a field ends that holds JSON as text.
const TEXT: &str = "_json";
/// What may hold text from outside.
const RESULT: &str = "toolwire.v1.ToolResult";

pub(super) fn of(message: &impl ReflectMessage) -> Value {
    of_dynamic(&message.transcode_to_dynamic())
}

/// The same for a message whose type is known at run time only.
pub(super) fn of_dynamic(message: &DynamicMessage) -> Value {
    let options = SerializeOptions::new()
        .use_proto_field_name(true)
        .stringify_64_bit_integers(false)
        .skip_default_fields(false);
    let Ok(mut value) = message.serialize_with_options(serde_json::value::Serializer, &options) else {
        // Only a number that JSON cannot express, which no envelope has.
        return Value::Null;
    };
    spell(&mut value, &message.descriptor());
    value
}

fn spell(value: &mut Value, message: &MessageDescriptor) {
    // Protobuf's own types have a form of their own.
    if message.parent_file().package_name() == "google.protobuf" {
        return;
    }
    let Value::Object(object) = value else { return };
    if message.full_name() == RESULT {
        wrap(object);
    }
    for field in message.fields() {
        match field.kind() {
            Kind::String if field.name().ends_with(TEXT) => exact(object, field.name()),
            Kind::String => {}
            kind => {
                let Some(value) = object.get_mut(field.name()) else { continue };
                if field.is_map() {
                    let Kind::Message(entry) = kind else { continue };
                    let kind = entry.map_entry_value_field().kind();
                    value
                        .as_object_mut()
                        .into_iter()
                        .flat_map(Map::values_mut)
                        .for_each(|it| each(it, &kind));
                } else if let Value::Array(items) = value {
                    for item in items {
                        each(item, &kind);
                    }
                } else {
                    each(value, &kind);
                }
            }
        }
    }
}

fn each(value: &mut Value, kind: &Kind) {
    match kind {
        Kind::Message(message) => spell(value, message),
        Kind::Enum(of) => {
            if let Value::String(name) = value {
                *name = word(of, name).to_owned();
            }
        }
        _ => {}
    }
}

/// `READ` of `TOOL_CATEGORY_READ`.
pub(super) fn word<'a>(of: &EnumDescriptor, name: &'a str) -> &'a str {
    name.strip_prefix(&prefix(of)).unwrap_or(name)
}

/// What the names of an enumeration's values begin with.
pub(super) fn prefix(of: &EnumDescriptor) -> String {
    let zero = of.default_value();
    zero.name().strip_suffix("UNSPECIFIED").unwrap_or_default().to_owned()
}

/// Says before the data that people outside wrote it (spec 004 §7.2).
fn wrap(result: &mut Map<String, Value>) {
    let Some(Value::Object(framing)) = result.get("provenance").and_then(|it| it.get("untrusted_framing"))
    else {
        return;
    };
    let words = [("_meta", framing.get("meta")), ("nonce", framing.get("nonce"))];
    let words = words.map(|(name, word)| (name.to_owned(), word.cloned().unwrap_or_default()));
    let rest = std::mem::take(result);
    result.extend(words.into_iter().chain(rest));
}

/// Puts the JSON that a text spells in the place of its less exact form.
fn exact(object: &mut Map<String, Value>, text: &str) {
    let Some(Value::String(spelled)) = object.shift_remove(text) else { return };
    if let (Ok(value), Some(place)) = (serde_json::from_str(&spelled), text.strip_suffix(TEXT)) {
        object.insert(place.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::proto::v1::{self, call_event, tool_result};

    #[test]
    fn an_event_has_its_data_as_json_and_its_words_without_prefixes() {
        let outcome = tool_result::Outcome::DataJson("{\"b\":9007199254740993,\"a_json\":\"1\"}".to_owned());
        let result = v1::ToolResult { tool: "t".to_owned(), outcome: Some(outcome), ..Default::default() };
        let event = Some(call_event::Event::Result(result));
        let event = v1::CallEvent { call_id: "c".to_owned(), event, ..Default::default() };
        let text = of(&event).to_string();
        assert!(text.contains(r#""data":{"b":9007199254740993,"a_json":"1"}"#), "{text}");
        assert!(!text.contains("data_json"), "{text}");
        let error = v1::ToolError { code: v1::ToolErrorCode::RateLimited.into(), ..Default::default() };
        assert_eq!(of(&error)["code"], "RATE_LIMITED");
    }
}
