//! Envelopes as JSON for programs that read our output: field names as in the proto, and the exact JSON of schemas and
//! data in place of its text.

use prost_reflect::{ReflectMessage, SerializeOptions};
use serde_json::{Map, Value};

use toolwire_contract::proto::{agent::v1::Job, v1};

/// A definition. Schemas keep their order and their integers.
pub(super) fn definition(definition: &v1::ToolDefinition) -> Value {
    let mut object = envelope(definition);
    inline_json(&mut object, "input_schema_json", "input_schema");
    inline_json(&mut object, "output_schema_json", "output_schema");
    Value::Object(object)
}

/// An event of a call. Data keeps its order and its integers.
pub(super) fn event(event: &v1::CallEvent) -> Value {
    let mut object = envelope(event);
    for carrier in ["chunk", "result"] {
        if let Some(Value::Object(carrier)) = object.get_mut(carrier) {
            inline_json(carrier, "data_json", "data");
        }
    }
    for carrier in ["awaiting_confirmation", "confirmation_required"] {
        if let Some(Value::Object(carrier)) = object.get_mut(carrier) {
            inline_json(carrier, "arguments_json", "arguments");
        }
    }
    Value::Object(object)
}

/// A call that is looked at. Data and arguments keep their order and their integers.
pub(super) fn call(call: &v1::GetCallResponse) -> Value {
    let mut object = envelope(call);
    for (carrier, text, place) in
        [("result", "data_json", "data"), ("confirmation_required", "arguments_json", "arguments")]
    {
        if let Some(Value::Object(carrier)) = object.get_mut(carrier) {
            inline_json(carrier, text, place);
        }
    }
    Value::Object(object)
}

/// An explanation of a call. Arguments keep their order and their integers.
pub(super) fn explanation(explained: &v1::ExplainCallResponse) -> Value {
    let mut object = envelope(explained);
    inline_json(&mut object, "arguments_json", "arguments");
    Value::Object(object)
}

/// A job. Its result keeps its order and its integers.
pub(super) fn job(job: &Job) -> Value {
    let mut object = envelope(job);
    inline_json(&mut object, "result_json", "result");
    Value::Object(object)
}

/// A call that a person must approve. Arguments keep their order and their integers.
pub(super) fn confirmation_required(required: &v1::ConfirmationRequired) -> Value {
    let mut object = envelope(required);
    inline_json(&mut object, "arguments_json", "arguments");
    Value::Object(object)
}

/// A confirmation. Arguments, and what changed in the definition, keep their order and their integers.
pub(super) fn confirmation(confirmation: &v1::Confirmation) -> Value {
    let mut object = envelope(confirmation);
    inline_json(&mut object, "arguments_json", "arguments");
    let changes = object.get_mut("definition_changes").and_then(Value::as_array_mut);
    for change in changes.into_iter().flatten().filter_map(Value::as_object_mut) {
        inline_json(change, "before_json", "before");
        inline_json(change, "after_json", "after");
    }
    Value::Object(object)
}

/// A message that carries no JSON text.
pub(super) fn plain(message: &impl ReflectMessage) -> Value {
    Value::Object(envelope(message))
}

pub(super) fn confirmation_change(change: &v1::WatchConfirmationsResponse) -> Value {
    let mut object = envelope(change);
    if let Some(Value::Object(carrier)) = object.get_mut("confirmation") {
        inline_json(carrier, "arguments_json", "arguments");
    }
    Value::Object(object)
}

/// A document, a version of one, or a found one.
pub(super) fn document(message: &impl ReflectMessage) -> Value {
    Value::Object(envelope(message))
}

/// An event of a watch. Schemas keep their order and their integers.
pub(super) fn watch_event(event: &v1::WatchToolsResponse) -> Value {
    let mut object = envelope(event);
    if let Some(Value::Object(tool)) = object.get_mut("tool") {
        inline_json(tool, "input_schema_json", "input_schema");
        inline_json(tool, "output_schema_json", "output_schema");
    }
    Value::Object(object)
}

/// Any other message.
pub(super) fn message(message: &impl ReflectMessage) -> Value {
    Value::Object(envelope(message))
}

fn envelope(message: &impl ReflectMessage) -> Map<String, Value> {
    let options = SerializeOptions::new()
        .use_proto_field_name(true)
        .stringify_64_bit_integers(false)
        .skip_default_fields(false);
    match message.transcode_to_dynamic().serialize_with_options(serde_json::value::Serializer, &options) {
        Ok(Value::Object(object)) => object,
        // Only a number that JSON cannot express, which no envelope has.
        _ => Map::new(),
    }
}

/// Replaces JSON text by its value, under another name.
fn inline_json(object: &mut Map<String, Value>, field: &str, name: &str) {
    let Some(Value::String(text)) = object.shift_remove(field) else { return };
    if let Ok(value) = serde_json::from_str(&text) {
        object.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::json;

    #[test]
    fn data_is_json_and_not_its_text() {
        let outcome = v1::tool_result::Outcome::DataJson("{\"b\":9007199254740993,\"a\":1}".to_owned());
        let result = v1::ToolResult { tool: "t".to_owned(), outcome: Some(outcome), ..Default::default() };
        let event = v1::CallEvent {
            call_id: "c".to_owned(),
            event: Some(v1::call_event::Event::Result(result)),
            ..Default::default()
        };
        let text = super::event(&event).to_string();
        assert!(text.contains(r#""data":{"b":9007199254740993,"a":1}"#), "{text}");
        assert!(text.contains(r#""sequence":0"#) && !text.contains("data_json"), "{text}");
    }

    #[test]
    fn a_chunk_is_json_in_either_form() {
        let of = |chunk| {
            let event = Some(v1::call_event::Event::Chunk(chunk));
            super::event(&v1::CallEvent { event, ..Default::default() })["chunk"].clone()
        };
        let text = v1::Chunk { data_json: "{\"n\":9007199254740993}".to_owned(), ..Default::default() };
        assert_eq!(of(text).to_string(), r#"{"data":{"n":9007199254740993}}"#);
        let fields = [("ok".to_owned(), json::to_value(&true.into()))].into_iter().collect();
        let structure = v1::Chunk { data: Some(prost_types::Struct { fields }), ..Default::default() };
        assert_eq!(of(structure).to_string(), r#"{"data":{"ok":true}}"#);
    }

    #[test]
    fn a_change_of_a_definition_has_values_and_not_their_text() {
        let change = v1::DefinitionChange {
            pointer: "/input_schema/maximum".to_owned(),
            before_json: "9007199254740993".to_owned(),
            ..Default::default()
        };
        let confirmation = v1::Confirmation { definition_changes: vec![change], ..Default::default() };
        let text = super::confirmation(&confirmation)["definition_changes"].to_string();
        let expected = r#"[{"pointer":"/input_schema/maximum","excerpt":false,"before":9007199254740993}]"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn schemas_keep_their_order() {
        let definition = v1::ToolDefinition {
            name: "t".to_owned(),
            input_schema_json: r#"{"type":"object","properties":{"z":{},"a":{}}}"#.to_owned(),
            ..Default::default()
        };
        let text = super::definition(&definition).to_string();
        assert!(text.contains(r#""input_schema":{"type":"object","properties":{"z":{},"a":{}}}"#), "{text}");
    }
}
