//! The data of a result: a tool's output message and its JSON form.
//!
//! Payload JSON differs from ProtoJSON where models and people read it: proto field names as they are, 64-bit numbers
//! as numbers, every declared field present (an absent optional one is `null`, unless the manifest omits it).

mod message_json;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage};
use prost_types::Struct;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::message_json::{Omitted, to_arguments};
use super::json;

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
                    .map_or(Value::Null, |message| message_json::of_data(&message, omitted))
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

/// A payload as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// What the bytes are.
    pub form: EncodedForm,
    /// The encoded output message, or JSON text.
    pub bytes: Bytes,
}

/// What the bytes of an encoded payload are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncodedForm {
    /// An output message.
    Message {
        /// Its full name.
        name: String,
        /// The fields that are left out when they are absent.
        omitted: Omitted,
    },
    /// JSON text.
    Json,
}

/// A payload as a store gives it back.
#[derive(Clone, Debug)]
pub enum StoredPayload {
    /// As it was given to a store that keeps values.
    Live(Payload),
    /// Out of a store that keeps bytes.
    Encoded(Encoded),
}

/// A payload is not of the message that was expected.
#[derive(Debug, thiserror::Error)]
#[error("payload is not a {expected}")]
pub struct WrongPayload {
    expected: String,
}

impl Payload {
    /// The payload of a tool's output message.
    pub fn from_message(message: &impl ReflectMessage) -> Self {
        let form = Form::Message {
            bytes: message.encode_to_vec().into(),
            descriptor: message.descriptor(),
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

    /// The payload as bytes, for a store.
    pub fn encode(&self) -> Encoded {
        match &self.0.form {
            Form::Message { bytes, descriptor, omitted } => {
                let name = descriptor.full_name().to_owned();
                let form = EncodedForm::Message { name, omitted: omitted.as_ref().clone() };
                Encoded { form, bytes: bytes.clone() }
            }
            Form::Json => Encoded { form: EncodedForm::Json, bytes: self.json().to_string().into() },
        }
    }

    /// The payload that was encoded, unless the bytes are damaged or of another message than the tool's present output.
    fn from_encoded(encoded: Encoded, output: Option<&MessageDescriptor>) -> Result<Self, WrongPayload> {
        let Encoded { form, bytes } = encoded;
        let (name, omitted) = match form {
            EncodedForm::Message { name, omitted } => (name, Arc::new(omitted)),
            EncodedForm::Json => {
                let value = serde_json::from_slice(&bytes);
                return value.map(Self::from_json).map_err(|_| WrongPayload { expected: "JSON".to_owned() });
            }
        };
        let descriptor = output
            .filter(|output| output.full_name() == name)
            .filter(|output| DynamicMessage::decode((*output).clone(), bytes.clone()).is_ok())
            .cloned()
            .ok_or(WrongPayload { expected: name })?;
        let form = Form::Message { bytes, descriptor, omitted };
        Ok(Self(Arc::new(Inner::of(form))))
    }

    /// The output message itself.
    pub fn decode<M: ReflectMessage + Default>(&self) -> Result<M, WrongPayload> {
        let wanted = M::default().descriptor();
        let wrong = || WrongPayload { expected: wanted.full_name().to_owned() };
        match &self.0.form {
            Form::Message { bytes, descriptor, .. } if descriptor.full_name() == wanted.full_name() => {
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

impl StoredPayload {
    /// The payload, as data of a tool with the given output message; without one, the tool declares its schema itself.
    pub fn read(self, output: Option<&MessageDescriptor>) -> Result<Payload, WrongPayload> {
        match self {
            Self::Live(payload) => Ok(payload),
            Self::Encoded(encoded) => Payload::from_encoded(encoded, output),
        }
    }
}
