//! Messages as JSON Schemas, in the form in which this face writes them (`message`). As it reads them: `requests`.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

use crate::faces::rest::message;
use toolwire_contract::proto::POOL;

/// The schemas of messages by their names, with those that they refer to.
#[derive(Debug, Default)]
pub(super) struct Schemas(Map<String, Value>);

impl Schemas {
    /// A schema that does not belong to a message.
    pub(super) fn put(&mut self, name: &str, schema: Value) {
        self.0.insert(name.to_owned(), schema);
    }

    /// A reference to the schema of a message of the platform.
    pub(super) fn of(&mut self, name: &str) -> Value {
        let message = POOL.get_message_by_name(name).expect("a message of the platform");
        self.reference(&message)
    }

    /// A reference to the schema of a message.
    pub(super) fn reference(&mut self, message: &MessageDescriptor) -> Value {
        let name = message.full_name();
        if !self.0.contains_key(name) {
            // Reserved first: a message may contain itself.
            self.0.insert(name.to_owned(), Value::Null);
            let schema = self.object(message);
            self.0.insert(name.to_owned(), schema);
        }
        json!({"$ref": format!("#/components/schemas/{name}")})
    }

    /// Whether there is a schema of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    fn object(&mut self, message: &MessageDescriptor) -> Value {
        let mut properties = json!({});
        for field in message.fields() {
            let (name, is_text) = field_name(&field);
            let schema = if is_text { json!({}) } else { self.field(&field) };
            properties[name] = with_description(schema, &comment(&field.parent_file(), field.path()));
        }
        let schema = json!({"type": "object", "properties": properties});
        with_description(schema, &comment(&message.parent_file(), message.path()))
    }

    /// The schema of a field's value.
    fn field(&mut self, field: &FieldDescriptor) -> Value {
        if field.is_map() {
            let Kind::Message(entry) = field.kind() else { return json!({"type": "object"}) };
            return json!({"type": "object", "additionalProperties": self.kind(&entry.map_entry_value_field().kind())});
        }
        let one = self.kind(&field.kind());
        if field.is_list() { json!({"type": "array", "items": one}) } else { one }
    }

    fn kind(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Bool => json!({"type": "boolean"}),
            Kind::String => json!({"type": "string"}),
            Kind::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
            Kind::Double | Kind::Float => json!({"type": "number"}),
            Kind::Uint32 | Kind::Uint64 | Kind::Fixed32 | Kind::Fixed64 => {
                json!({"type": "integer", "minimum": 0})
            }
            Kind::Enum(of) => {
                let words: Vec<_> = of.values().map(|it| message::word(of, it.name()).to_owned()).collect();
                json!({"type": "string", "enum": words})
            }
            Kind::Message(message) => match message.full_name() {
                "google.protobuf.Duration" => json!({"type": "string", "examples": ["1.5s"]}),
                "google.protobuf.Timestamp" => json!({"type": "string", "format": "date-time"}),
                "google.protobuf.Struct" => json!({"type": "object"}),
                name if name.starts_with("google.protobuf.") => json!({}),
                _ => self.reference(message),
            },
            _ => json!({"type": "integer"}),
        }
    }
}

/// The name of a field as this face has it, and whether it holds JSON.
pub(super) fn field_name(field: &FieldDescriptor) -> (&str, bool) {
    let name = field.name();
    match name.strip_suffix("_json").filter(|_| field.kind() == Kind::String) {
        Some(place) => (place, true),
        None => (name, false),
    }
}

/// Adds a description, unless it is empty.
pub(super) fn with_description(mut schema: Value, text: &str) -> Value {
    if !text.is_empty() {
        schema["description"] = text.into();
    }
    schema
}

/// The comment on an element of a file, on one line.
pub(super) fn comment(file: &prost_reflect::FileDescriptor, path: &[i32]) -> String {
    let info = file.file_descriptor_proto().source_code_info.as_ref();
    let place = info.and_then(|info| info.location.iter().find(|it| it.path == path));
    let text = place.map(|it| it.leading_comments().split_whitespace().collect::<Vec<_>>().join(" "));
    text.unwrap_or_default()
}
