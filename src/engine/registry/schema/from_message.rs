//! Derives a schema from a message: types, structure and descriptions from the proto, constraints from the manifest.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

use super::{
    closed_object, comments,
    constraints::constrain,
    describe, keywords,
    payloads::{element, is_in_oneof},
    with_dialect,
};
use crate::registry::{
    field_declaration::{Direction, FieldDeclaration},
    problem::{Report, join},
};
use toolwire_contract::{near::did_you_mean, transcode::Omitted};

/// A non-negative duration in ProtoJSON, such as `5s` or `1.5s`.
pub(in crate::registry) const DURATION_PATTERN: &str = r"^[0-9]{1,11}(\.[0-9]{1,9})?s$";

/// The pattern of a text that must not be blank.
const NOT_BLANK: &str = r"\S";

/// Describes a well-known pattern.
pub fn pattern_in_words(pattern: &str) -> Option<&'static str> {
    match pattern {
        DURATION_PATTERN => Some("a length of time such as `5s` or `1.5s`"),
        NOT_BLANK => Some("a text that is not blank"),
        _ => None,
    }
}

/// Derives the schema of a message without unsupported fields, and the paths of fields that are omitted when absent.
pub(in crate::registry) fn from_message(
    message: &MessageDescriptor,
    declared: &[FieldDeclaration],
    direction: Direction,
    report: &mut Report,
) -> (Value, Omitted) {
    let mut derivation =
        Derivation { declared, direction, report, paths: Vec::new(), omitted: Omitted::new() };
    let object = derivation.object(message, "");
    derivation.reject_unknown(message);
    (with_dialect(object), derivation.omitted)
}

struct Derivation<'a> {
    declared: &'a [FieldDeclaration],
    direction: Direction,
    report: &'a mut Report,
    /// The dotted paths of all visited fields.
    paths: Vec<String>,
    omitted: Omitted,
}

impl<'a> Derivation<'a> {
    fn object(&mut self, message: &MessageDescriptor, parent: &str) -> Map<String, Value> {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for field in message.fields() {
            let name = field.name();
            let path = if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") };
            properties.insert(name.to_owned(), self.property(&field, &path).into());
            if self.is_required(&field, &path) {
                required.push(name.to_owned());
            }
            self.paths.push(path);
        }
        closed_object(properties, required)
    }

    fn property(&mut self, field: &FieldDescriptor, path: &str) -> Map<String, Value> {
        let declared = self.find(path);
        let mut schema = self.shape(field, path);
        if let Some(declared) = declared {
            self.note_omission(field, declared);
            constrain(&mut schema, declared, self.report);
        }
        let description = declared.and_then(|it| it.description.clone());
        let is_nullable = self.is_nullable(field, path);
        let mut schema = if is_nullable { nullable(schema) } else { schema };
        describe(&mut schema, Some(&description.unwrap_or_else(|| comments::of_field(field))));
        schema
    }

    fn shape(&mut self, field: &FieldDescriptor, path: &str) -> Map<String, Value> {
        let element = self.kind(&element(field), path);
        if field.is_list() {
            keywords(json!({"type": "array", "items": element}))
        } else if field.is_map() {
            keywords(json!({"type": "object", "additionalProperties": element}))
        } else {
            element
        }
    }

    fn kind(&mut self, kind: &Kind, path: &str) -> Map<String, Value> {
        match kind {
            Kind::Message(message) => self.message(message, path),
            Kind::String => keywords(json!({"type": "string"})),
            Kind::Bool => keywords(json!({"type": "boolean"})),
            Kind::Double | Kind::Float => keywords(json!({"type": "number"})),
            Kind::Uint32 | Kind::Fixed32 | Kind::Uint64 | Kind::Fixed64 => {
                keywords(json!({"type": "integer", "minimum": 0}))
            }
            // The bounds of the type are left out, as they do not help a model; `InputSchema` enforces them.
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 | Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                keywords(json!({"type": "integer"}))
            }
            // Refused by `payloads::refuse_unsupported`.
            Kind::Bytes | Kind::Enum(_) => Map::new(),
        }
    }

    fn message(&mut self, message: &MessageDescriptor, path: &str) -> Map<String, Value> {
        match message.full_name() {
            "google.protobuf.Timestamp" => keywords(json!({"type": "string", "format": "date-time"})),
            "google.protobuf.Duration" => keywords(json!({"type": "string", "pattern": DURATION_PATTERN})),
            "google.protobuf.Struct" => keywords(json!({"type": "object"})),
            "google.protobuf.Value" => Map::new(),
            _ => self.object(message, path),
        }
    }

    fn is_required(&self, field: &FieldDescriptor, path: &str) -> bool {
        match self.direction {
            Direction::Input => self.find(path).is_some_and(|it| it.is_required),
            Direction::Output => !is_in_oneof(field) && !self.omitted.contains(path),
        }
    }

    fn is_nullable(&self, field: &FieldDescriptor, path: &str) -> bool {
        self.direction == Direction::Output
            && field.supports_presence()
            && !is_in_oneof(field)
            && !self.omitted.contains(path)
    }

    fn note_omission(&mut self, field: &FieldDescriptor, declared: &FieldDeclaration) {
        if declared.is_omitted_when_absent && !field.supports_presence() {
            let text = format!("`{}` is never absent; declare it `optional` in the message", declared.name);
            self.report.add(join(&declared.pointer, "omit_when_absent"), "never-absent", text);
        } else if declared.is_omitted_when_absent {
            self.omitted.insert(declared.name.clone());
        }
    }

    fn find(&self, path: &str) -> Option<&'a FieldDeclaration> {
        self.declared.iter().find(|it| it.name == path)
    }

    fn reject_unknown(&mut self, message: &MessageDescriptor) {
        for declared in self.declared.iter().filter(|it| !self.paths.contains(&it.name)) {
            let (noun, name) = (self.direction.noun(), &declared.name);
            let hint = did_you_mean(name, self.paths.iter().map(String::as_str));
            let text = format!("{} has no {noun} `{name}`{hint}", message.full_name());
            self.report.add(&declared.pointer, unknown(self.direction), text);
        }
    }
}

const fn unknown(direction: Direction) -> &'static str {
    match direction {
        Direction::Input => "unknown-parameter",
        Direction::Output => "unknown-field",
    }
}

/// Makes a schema accept null too.
fn nullable(mut schema: Map<String, Value>) -> Map<String, Value> {
    match schema.get("type") {
        None => schema,
        Some(Value::String(kind)) if kind == "object" => {
            keywords(json!({"anyOf": [schema, {"type": "null"}]}))
        }
        Some(kind) => {
            let kind = json!([kind, "null"]);
            schema.insert("type".to_owned(), kind);
            if let Some(Value::Array(words)) = schema.get_mut("enum") {
                words.push(Value::Null);
            }
            schema
        }
    }
}
