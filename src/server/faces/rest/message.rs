//! Messages of the contract as JSON: names of fields as they stand in the proto, values of enumerations in the
//! specifications' words (`READ`), and the exact JSON of schemas, data and arguments in place of its text.

use prost_reflect::{
    DynamicMessage, EnumDescriptor, Kind, MessageDescriptor, ReflectMessage, SerializeOptions,
};
use serde_json::{Map, Value};

/// The suffix of fields that hold JSON as text.
const TEXT: &str = "_json";
/// The message that may hold text from outside.
const RESULT: &str = "toolwire.v1.ToolResult";

pub(super) fn of(message: &impl ReflectMessage) -> Value {
    of_dynamic(&message.transcode_to_dynamic())
}

/// The same for a message whose type is known only at run time.
pub(super) fn of_dynamic(message: &DynamicMessage) -> Value {
    let options = SerializeOptions::new()
        .use_proto_field_name(true)
        .stringify_64_bit_integers(false)
        .skip_default_fields(false);
    let Ok(mut value) = message.serialize_with_options(serde_json::value::Serializer, &options) else {
        // Only a number that JSON cannot express, which no envelope has.
        return Value::Null;
    };
    rewrite(&mut value, &message.descriptor());
    value
}

/// Rewrites ProtoJSON into the form of this face.
fn rewrite(value: &mut Value, message: &MessageDescriptor) {
    // The well-known types have their own JSON mapping.
    if message.parent_file().package_name() == "google.protobuf" {
        return;
    }
    let Value::Object(object) = value else { return };
    if message.full_name() == RESULT {
        mark_untrusted(object);
    }
    for field in message.fields() {
        match field.kind() {
            Kind::String if field.name().ends_with(TEXT) => inline_json(object, field.name()),
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
                        .for_each(|it| rewrite_value(it, &kind));
                } else if let Value::Array(items) = value {
                    for item in items {
                        rewrite_value(item, &kind);
                    }
                } else {
                    rewrite_value(value, &kind);
                }
            }
        }
    }
}

fn rewrite_value(value: &mut Value, kind: &Kind) {
    match kind {
        Kind::Message(message) => rewrite(value, message),
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

/// The prefix of the names of an enumeration's values.
pub(super) fn prefix(of: &EnumDescriptor) -> String {
    let zero = of.default_value();
    zero.name().strip_suffix("UNSPECIFIED").unwrap_or_default().to_owned()
}

/// Marks data from outside. The marker is the first member, so that a model reads it before the data.
fn mark_untrusted(result: &mut Map<String, Value>) {
    let Some(Value::Object(framing)) = result.get("provenance").and_then(|it| it.get("untrusted_framing"))
    else {
        return;
    };
    let words = [("_meta", framing.get("meta")), ("nonce", framing.get("nonce"))];
    let words = words.map(|(name, word)| (name.to_owned(), word.cloned().unwrap_or_default()));
    let rest = std::mem::take(result);
    result.extend(words.into_iter().chain(rest));
}

/// Replaces JSON text by its value, under the field's name without the suffix.
fn inline_json(object: &mut Map<String, Value>, field: &str) {
    let Some(Value::String(text)) = object.shift_remove(field) else { return };
    if let (Ok(value), Some(name)) = (serde_json::from_str(&text), field.strip_suffix(TEXT)) {
        object.insert(name.to_owned(), value);
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
