//! The data of a result: a tool's output message and its JSON form.
//!
//! Payload JSON differs from ProtoJSON, since models and people read it. Names of fields are those of the proto file,
//! and 64-bit numbers are numbers. Every declared field is present: an absent optional one is `null`, unless the
//! manifest omits it.

mod message_json;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage};
use prost_types::Struct;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::message_json::{doubtful, of_data, to_arguments};
use super::{
    json,
    transcode::{Omitted, Renderer},
};
use toolwire_base::offload;

/// The data of a result. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Payload(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    form: Repr,
    json: OnceLock<Value>,
    /// Kept once rendered: a cached result is rendered once, not once for each hit.
    text: OnceLock<String>,
    largest: OnceLock<usize>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Of a large value the text was rendered to measure it.
        let bytes = self.text.get().map_or(0, String::len);
        offload::discard(bytes, self.json.take());
    }
}

impl Inner {
    fn of(form: Repr) -> Self {
        Self { form, json: OnceLock::new(), text: OnceLock::new(), largest: OnceLock::new() }
    }

    fn render(&self) -> Value {
        match &self.form {
            // Only of a payload that waited as text has its value to be read again.
            Repr::Json => {
                self.text.get().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
            }
            Repr::Message { bytes, descriptor, renderer } => {
                let omitted = renderer.as_deref().map_or(const { &Omitted::new() }, Renderer::omitted);
                DynamicMessage::decode(descriptor.clone(), bytes.clone())
                    .map_or(Value::Null, |message| of_data(&message, omitted))
            }
        }
    }

    /// The text, rendered from the bytes without the value between them. `None` where only the slow path can.
    fn direct_text(&self) -> Option<String> {
        let Repr::Message { bytes, descriptor, renderer } = &self.form else { return None };
        renderer.as_ref()?.text(descriptor, bytes)
    }

    fn direct_structure(&self) -> Option<Struct> {
        let Repr::Message { bytes, descriptor, renderer } = &self.form else { return None };
        renderer.as_ref()?.structure(descriptor, bytes)
    }

    /// Renders the text. The value is not kept: a caller of the text seldom needs it too.
    fn render_text(&self) -> String {
        match self.json.get() {
            Some(value) => value.to_string(),
            None => self.direct_text().unwrap_or_else(|| self.render().to_string()),
        }
    }
}

#[derive(Clone, Debug)]
enum Repr {
    /// An encoded output message, and its renderer, once the tool is known.
    Message { bytes: Bytes, descriptor: MessageDescriptor, renderer: Option<Arc<Renderer>> },
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
    Message {
        name: String,
        /// The fields that are left out when they are absent.
        omitted: Omitted,
    },
    Json,
}

/// A payload as a store returns it.
#[derive(Clone, Debug)]
pub enum StoredPayload {
    /// From a store that keeps values.
    Live(Payload),
    /// From a store that keeps bytes.
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
        Self::from_bytes(message.encode_to_vec(), message.descriptor())
    }

    /// The payload of an encoded output message.
    pub fn from_bytes(bytes: Vec<u8>, descriptor: MessageDescriptor) -> Self {
        Self(Arc::new(Inner::of(Repr::Message { bytes: bytes.into(), descriptor, renderer: None })))
    }

    /// The payload of a tool that declares its schema itself.
    pub fn from_json(value: Value) -> Self {
        let inner = Inner::of(Repr::Json);
        let _ = inner.json.set(value);
        Self(Arc::new(inner))
    }

    /// The same payload, rendered by the given renderer.
    pub fn with_renderer(self, wanted: &Arc<Renderer>) -> Self {
        // Another renderer makes another `Inner`: the texts that are kept are those of the former one. The same one
        // keeps them.
        match &self.0.form {
            Repr::Message { bytes, descriptor, renderer }
                if !renderer.as_ref().is_some_and(|present| Arc::ptr_eq(present, wanted)) =>
            {
                let form = Repr::Message {
                    bytes: bytes.clone(),
                    descriptor: descriptor.clone(),
                    renderer: Some(Arc::clone(wanted)),
                };
                Self(Arc::new(Inner::of(form)))
            }
            _ => self,
        }
    }

    /// The payload as bytes, for a store.
    pub fn encode(&self) -> Encoded {
        match &self.0.form {
            Repr::Message { bytes, descriptor, renderer } => {
                let name = descriptor.full_name().to_owned();
                let omitted = renderer.as_deref().map(|it| it.omitted().clone()).unwrap_or_default();
                let form = EncodedForm::Message { name, omitted };
                Encoded { form, bytes: bytes.clone() }
            }
            Repr::Json => Encoded { form: EncodedForm::Json, bytes: self.json_text().to_owned().into() },
        }
    }

    /// The payload that was encoded, unless the bytes are damaged or of another message than the tool's present output.
    fn from_encoded(encoded: Encoded, output: Option<&MessageDescriptor>) -> Result<Self, WrongPayload> {
        let Encoded { form, bytes } = encoded;
        let (name, omitted) = match form {
            EncodedForm::Message { name, omitted } => (name, omitted),
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
        let renderer = (!omitted.is_empty()).then(|| Arc::new(Renderer::new(&descriptor, omitted)));
        Ok(Self(Arc::new(Inner::of(Repr::Message { bytes, descriptor, renderer }))))
    }

    /// The output message itself.
    pub fn decode<M: ReflectMessage + Default>(&self) -> Result<M, WrongPayload> {
        let wanted = M::default().descriptor();
        let wrong = || WrongPayload { expected: wanted.full_name().to_owned() };
        match &self.0.form {
            Repr::Message { bytes, descriptor, .. } if descriptor.full_name() == wanted.full_name() => {
                M::decode(bytes.clone()).map_err(|_| wrong())
            }
            _ => Err(wrong()),
        }
    }

    pub fn json(&self) -> &Value {
        self.0.json.get_or_init(|| self.0.render())
    }

    pub fn json_text(&self) -> &str {
        self.0.text.get_or_init(|| self.0.render_text())
    }

    /// Like `json_text`, by value: copied only if the payload is shared.
    pub fn into_json_text(self) -> String {
        match Arc::try_unwrap(self.0) {
            Ok(mut inner) => inner.text.take().unwrap_or_else(|| inner.render_text()),
            Err(shared) => Self(shared).json_text().to_owned(),
        }
    }

    /// The same payload, as text or as an encoded message alone: the value of a text can take thirty times its length.
    /// For one that waits; a value is made again if it is asked for.
    #[must_use]
    pub fn without_value(self) -> Self {
        let inner = match &self.0.form {
            message @ Repr::Message { .. } => Inner::of(message.clone()),
            Repr::Json => {
                let text = match Arc::try_unwrap(self.0) {
                    Ok(mut own) => {
                        let text = own.text.take().unwrap_or_else(|| own.render_text());
                        offload::discard(text.len(), own.json.take());
                        text
                    }
                    Err(shared) => Self(shared).json_text().to_owned(),
                };
                let inner = Inner::of(Repr::Json);
                let _ = inner.text.set(text);
                inner
            }
        };
        Self(Arc::new(inner))
    }

    /// The payload as a structure, unless that would round an integer. A value that is not an object becomes its member
    /// `value`.
    pub fn to_struct(&self) -> Option<Struct> {
        self.0.direct_structure().or_else(|| json::to_exact_struct_of(self.json()))
    }

    /// Size of the encoded output message; a lower bound on every other form.
    pub fn encoded_len(&self) -> usize {
        match &self.0.form {
            Repr::Message { bytes, .. } => bytes.len(),
            Repr::Json => self.json_text().len(),
        }
    }

    /// Whether it is of a tool that declares its schema itself.
    pub fn is_json(&self) -> bool {
        matches!(self.0.form, Repr::Json)
    }

    /// Size of what was rendered or encoded so far.
    pub fn present_len(&self) -> usize {
        match &self.0.form {
            Repr::Message { bytes, .. } => bytes.len(),
            Repr::Json => self.0.text.get().map_or(0, String::len),
        }
    }

    /// Size of the larger of two forms, JSON text and an encoded structure. Measured once.
    pub fn largest_len(&self) -> usize {
        *self.0.largest.get_or_init(|| self.json_text().len().max(self.struct_len()))
    }

    fn struct_len(&self) -> usize {
        match (&self.0.form, self.0.json.get()) {
            (Repr::Json, Some(Value::Object(map))) => json::struct_len(map),
            // Data without a structure is sent as text.
            _ => self.to_struct().map_or(0, |structure| structure.encoded_len()),
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
