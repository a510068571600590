//! The input or output of a tool: its schema in every form, derived once for all tools of a load with the same
//! declaration.

mod kept_payloads;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use prost_reflect::{DescriptorPool, MessageDescriptor};
use serde_json::Value;

use super::{
    definition::SchemaForms,
    input::{HiddenArguments, InputSchema},
    manifest::Manifest,
    problem::Report,
    schema,
};
use crate::registry::field_declaration::{Direction, FieldDeclaration};
use toolwire_contract::{
    near::did_you_mean,
    transcode::{Omitted, Renderer},
};

/// The input or output of a tool.
#[derive(Debug)]
pub(super) struct Payload {
    /// `None` for a tool that declares its schema itself.
    pub(super) message: Option<MessageDescriptor>,
    pub(super) schema: SchemaForms,
    /// The parameters that are not part of the schema. Input only.
    hidden: HiddenArguments,
    /// Output of a tool with a message only.
    pub(super) renderer: Option<Arc<Renderer>>,
    /// The RPC of a typed service whose request is the message. Input only.
    pub(super) typed_method: Option<String>,
    compiled: OnceLock<InputSchema>,
}

/// Payloads without problems, by their declaration.
#[derive(Debug, Default)]
pub(super) struct Payloads(HashMap<Key, Arc<Payload>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    direction: Direction,
    message: Option<String>,
    /// The `Debug` form, which is complete and ordered.
    declared: String,
}

/// The declaration of one direction in a manifest.
struct Side<'a> {
    direction: Direction,
    message: Option<&'a str>,
    declared: &'a [FieldDeclaration],
}

enum Begun {
    Made(Arc<Payload>),
    Found { key: Key, message: Option<MessageDescriptor>, is_good: bool },
}

impl Payloads {
    /// The input and output of a tool. `None` if a message is unknown or cannot be a payload, which is reported.
    pub(super) fn of(
        &mut self,
        manifest: &Manifest,
        pool: &DescriptorPool,
        report: &mut Report,
    ) -> Option<[Arc<Payload>; 2]> {
        let Manifest { input_message, output_message, parameters, returns, .. } = manifest;
        let side = |direction, message, declared| Side { direction, message, declared };
        let input = side(Direction::Input, input_message.as_deref(), parameters.as_slice());
        let output = side(Direction::Output, output_message.as_deref(), returns.as_slice());
        let begun = [&input, &output].map(|side| self.begin(side, pool, report));
        let mut made = [input, output].into_iter().zip(begun).map(|(side, begun)| match begun {
            Begun::Made(payload) => Some(payload),
            Begun::Found { key, message, is_good } => self.make((key, &side), message, is_good, pool, report),
        });
        let (input, output) = (made.next()?, made.next()?);
        Some([input?, output?])
    }

    fn begin(&mut self, side: &Side<'_>, pool: &DescriptorPool, report: &mut Report) -> Begun {
        let key = side.key();
        if let Some(payload) = self.0.get(&key) {
            return Begun::Made(Arc::clone(payload));
        }
        let before = report.len();
        let message = message(side, pool, report);
        if let Some(payload) = message.as_ref().and_then(|message| kept_payloads::get(&key, message)) {
            self.0.insert(key, Arc::clone(&payload));
            return Begun::Made(payload);
        }
        Begun::Found { key, message, is_good: report.len() == before }
    }

    fn make(
        &mut self,
        (key, side): (Key, &Side<'_>),
        message: Option<MessageDescriptor>,
        is_good: bool,
        pool: &DescriptorPool,
        report: &mut Report,
    ) -> Option<Arc<Payload>> {
        let before = report.len();
        let (mut schema, omitted) = schema_of(side, message.as_ref(), report)?;
        let hidden = HiddenArguments::take_from(&mut schema, side.declared, report);
        let payload = Arc::new(Payload::new(side.direction, message, (schema, hidden), omitted, pool));
        if is_good && report.len() == before {
            kept_payloads::keep(&key, &payload);
            self.0.insert(key, Arc::clone(&payload));
        }
        Some(payload)
    }
}

impl Side<'_> {
    fn key(&self) -> Key {
        Key {
            direction: self.direction,
            message: self.message.map(str::to_owned),
            declared: format!("{:?}", self.declared),
        }
    }
}

impl Payload {
    fn new(
        direction: Direction,
        message: Option<MessageDescriptor>,
        (schema, hidden): (Value, HiddenArguments),
        omitted: Omitted,
        pool: &DescriptorPool,
    ) -> Self {
        let of_message = message.as_ref();
        let (renderer, typed_method) = match direction {
            Direction::Input => (None, of_message.and_then(|message| typed_method(message, pool))),
            Direction::Output => (of_message.map(|message| Arc::new(Renderer::new(message, omitted))), None),
        };
        let schema = SchemaForms::new(schema);
        Self { message, schema, hidden, renderer, typed_method, compiled: OnceLock::new() }
    }

    /// The payload of a tool whose executor has schemas instead of messages.
    pub(super) fn of_schema(schema: &Value, declared: &[FieldDeclaration], report: &mut Report) -> Arc<Self> {
        let mut schema = schema.as_object().cloned().map_or_else(|| schema.clone(), schema::with_dialect);
        let hidden = HiddenArguments::take_from(&mut schema, declared, report);
        let (message, renderer, typed_method) = (None, None, None);
        let schema = SchemaForms::new(schema);
        Arc::new(Self { message, schema, hidden, renderer, typed_method, compiled: OnceLock::new() })
    }

    pub(super) fn compile(&self, report: &mut Report) -> Option<InputSchema> {
        if let Some(compiled) = self.compiled.get() {
            return Some(compiled.clone());
        }
        let (schema, hidden) = (Arc::clone(self.schema.value()), self.hidden.clone());
        match InputSchema::new(schema, hidden, self.message.clone()) {
            Ok(compiled) => Some(self.compiled.get_or_init(|| compiled).clone()),
            Err(reason) => {
                // A constraint that breaks the schema has been reported at its own pointer.
                if report.len() == 0 {
                    report.add("/parameters", "bad-schema", format!("the schema does not compile: {reason}"));
                }
                None
            }
        }
    }
}

/// Looks up a message; `None` without a name, or if it is unknown, which is reported.
fn message(side: &Side<'_>, pool: &DescriptorPool, report: &mut Report) -> Option<MessageDescriptor> {
    let (name, direction) = (side.message?, side.direction);
    let Some(message) = pool.get_message_by_name(name) else {
        let known: Vec<_> = pool.all_messages().map(|message| message.full_name().to_owned()).collect();
        let hint = did_you_mean(name, known.iter().map(String::as_str));
        report.add(direction.message_pointer(), "unknown-message", format!("no message `{name}`{hint}"));
        return None;
    };
    schema::refuse_unsupported(&message, direction, report);
    Some(message)
}

/// Derives the schema of one direction. `None` if its message is unknown or cannot be a payload; both are reported.
fn schema_of(
    side: &Side<'_>,
    message: Option<&MessageDescriptor>,
    report: &mut Report,
) -> Option<(Value, Omitted)> {
    let Side { direction, message: stated, declared } = *side;
    match (stated, message) {
        (Some(_), Some(message)) if schema::is_payload(message, direction) => {
            Some(schema::from_message(message, declared, direction, report))
        }
        (Some(_), _) => None,
        (None, _) => Some((schema::from_manifest(declared, direction, report), Omitted::new())),
    }
}

/// The RPC of a typed service whose request is the given message.
fn typed_method(input: &MessageDescriptor, pool: &DescriptorPool) -> Option<String> {
    let services = pool.services().filter(|service| service.package_name() != "toolwire.v1");
    let mut methods = services.flat_map(|service| service.methods().collect::<Vec<_>>());
    let method = methods.find(|method| method.input().full_name() == input.full_name())?;
    Some(format!("{}/{}", method.parent_service().full_name(), method.name()))
}
