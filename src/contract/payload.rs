//! The data of a result: a tool's output message and its JSON form.
//!
//! Payload JSON differs from ProtoJSON where models and people read it: proto field names as they are, 64-bit numbers as
//! numbers, every declared field present (an absent optional one is `null`, unless the manifest omits it).

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use prost::{Message, Name};
use prost_reflect::{
    DynamicMessage, FieldDescriptor, MapKey, MessageDescriptor, ReflectMessage, Value as Field,
};
use prost_types::Struct;
use serde_json::{Map, Value};

use super::{json, proto};

/// The data of a result. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Payload(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    form: Form,
    json: OnceLock<Value>,
    /// Kept once it is asked for: a cached result is rendered once, not once a hit.
    text: OnceLock<String>,
}

impl Inner {
    fn of(form: Form) -> Self {
        Self { form, json: OnceLock::new(), text: OnceLock::new() }
    }

    fn render(&self) -> Value {
        match &self.form {
            Form::Json => Value::Null,
            Form::Message { bytes, descriptor, omitted } => {
                DynamicMessage::decode(descriptor.clone(), bytes.clone())
                    .map_or(Value::Null, |message| object(&message, &Absent::Null(omitted), ""))
            }
        }
    }

    /// Does not keep the value: whoever wants the text seldom wants the value too.
    fn render_text(&self) -> String {
        self.json.get().map_or_else(|| self.render().to_string(), Value::to_string)
    }
}

#[derive(Debug)]
enum Form {
    /// An encoded output message.
    Message { bytes: Bytes, descriptor: MessageDescriptor, omitted: Arc<Omitted> },
    /// The data of a tool that declares its schema itself.
    Json,
}

/// Dotted paths of the fields that are left out, rather than `null`, when they are absent.
pub type Omitted = BTreeSet<String>;

/// A payload is not of the message that was expected.
#[derive(Debug, thiserror::Error)]
#[error("payload is not a {expected}")]
pub struct WrongPayload {
    expected: String,
}

impl Payload {
    /// The payload of a tool's output message.
    pub fn from_message<M: Message + Name>(message: &M) -> Self {
        let form = Form::Message {
            bytes: message.encode_to_vec().into(),
            descriptor: proto::descriptor_of::<M>(),
            omitted: Arc::default(),
        };
        Self(Arc::new(Inner::of(form)))
    }

    /// The payload of a tool that declares its schema itself.
    pub fn from_json(value: Value) -> Self {
        Self(Arc::new(Inner { json: OnceLock::from(value), ..Inner::of(Form::Json) }))
    }

    /// The same payload, leaving out the given fields when they are absent.
    pub fn omitting(self, omitted: &Arc<Omitted>) -> Self {
        match &self.0.form {
            Form::Message { bytes, descriptor, omitted: before } if before != omitted => {
                let form = Form::Message {
                    bytes: bytes.clone(),
                    descriptor: descriptor.clone(),
                    omitted: Arc::clone(omitted),
                };
                Self(Arc::new(Inner::of(form)))
            }
            _ => self,
        }
    }

    /// The output message itself.
    pub fn decode<M: Message + Name + Default>(&self) -> Result<M, WrongPayload> {
        let wrong = || WrongPayload { expected: M::full_name() };
        match &self.0.form {
            Form::Message { bytes, descriptor, .. } if descriptor.full_name() == M::full_name() => {
                M::decode(bytes.clone()).map_err(|_| wrong())
            }
            _ => Err(wrong()),
        }
    }

    /// The payload as JSON.
    pub fn json(&self) -> &Value {
        self.0.json.get_or_init(|| self.0.render())
    }

    /// The payload as JSON text.
    pub fn json_text(&self) -> &str {
        self.0.text.get_or_init(|| self.0.render_text())
    }

    /// The same, to keep: copied only if somebody else holds the payload.
    pub fn into_json_text(self) -> String {
        match Arc::try_unwrap(self.0) {
            Ok(mut inner) => inner.text.take().unwrap_or_else(|| inner.render_text()),
            Err(shared) => Self(shared).json_text().to_owned(),
        }
    }

    /// The payload as a structure. What is not an object stands under `value`.
    pub fn to_struct(&self) -> Struct {
        match self.json() {
            Value::Object(map) => json::to_struct(map),
            other => Struct { fields: [("value".to_owned(), json::to_value(other))].into_iter().collect() },
        }
    }

    /// Size of the encoded output message; a lower bound on every other form.
    pub fn encoded_len(&self) -> usize {
        match &self.0.form {
            Form::Message { bytes, .. } => bytes.len(),
            Form::Json => self.json_text().len(),
        }
    }
}

/// What becomes of a field that is not set.
enum Absent<'a> {
    /// It is `null`, unless its path is in the set.
    Null(&'a Omitted),
    /// It is left out.
    Omit,
}

/// A message as the JSON object of the arguments that it stands for: what is not set is left out.
pub fn to_arguments(message: &DynamicMessage) -> Map<String, Value> {
    match object(message, &Absent::Omit, "") {
        Value::Object(map) => map,
        _ => Map::new(),
    }
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
        Field::F32(n) => json::number(f64::from(*n)),
        Field::F64(n) => json::number(*n),
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

/// The messages of `google.protobuf` that JSON has words for.
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
