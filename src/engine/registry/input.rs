//! Validates and normalizes arguments by a tool's input schema.
//!
//! In the order of the contract: spelling of keys, null as absent, numbers in strings, defaults, schema. All violations
//! are reported at once. Not here: the limit on the nesting of arguments, which every face checks while parsing.

mod normal;
mod sensitive;
mod violations;

use std::{borrow::Cow, collections::BTreeSet, fmt, sync::Arc};

use jsonschema::Validator;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use serde_json::{Map, Value};

use super::schema;
use toolwire_contract::{Violation, arguments::Arguments, transcode::Encoder};

/// Maximum number of reported violations, so that an answer is not many times the size of its request.
const MOST_VIOLATIONS: usize = 100;

/// Validates and completes arguments. Cheap to clone.
#[derive(Clone)]
pub struct InputSchema(Arc<Inner>);

struct Inner {
    schema: Arc<Value>,
    validator: Validator,
    /// Whether the schema has sensitive parameters.
    has_sensitive: bool,
    /// The message that the arguments must fit, if the schema alone does not ensure it.
    message: Option<Message>,
}

struct Message {
    descriptor: MessageDescriptor,
    encoder: Encoder,
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InputSchema").field(&self.0.schema).finish()
    }
}

impl InputSchema {
    /// Compiles a derived schema. `message` is the tool's input message, if it has one.
    pub(super) fn new(schema: Arc<Value>, message: Option<MessageDescriptor>) -> Result<Self, String> {
        let validator = schema::compile(&schema)?;
        let inexact = message.filter(|message| !schema::is_exact(message));
        let message = inexact.map(|descriptor| Message { encoder: Encoder::new(&descriptor), descriptor });
        let has_sensitive = sensitive::any(&schema);
        Ok(Self(Arc::new(Inner { schema, validator, has_sensitive, message })))
    }

    pub fn schema(&self) -> &Value {
        &self.0.schema
    }

    /// Returns the normalized arguments, or all violations, up to [`MOST_VIOLATIONS`].
    pub fn check(&self, raw: Arguments) -> Result<Arguments, Vec<Violation>> {
        let raw = Value::Object(raw);
        let (normal, mut violations) = normal::normalize(&self.0.schema, &raw);
        let broken = self.0.validator.iter_errors(&normal);
        violations.extend(violations::explain(broken, &self.0.schema, &raw, MOST_VIOLATIONS));
        violations.truncate(MOST_VIOLATIONS);
        if violations.is_empty() {
            violations.extend(self.misfit(&normal, &raw));
        }
        match normal {
            Value::Object(arguments) if violations.is_empty() => Ok(arguments),
            _ => Err(violations),
        }
    }

    /// Checked arguments for people, logs and timelines: sensitive values are masked.
    pub fn shown<'a>(&self, arguments: &'a Arguments) -> Cow<'a, Arguments> {
        if self.0.has_sensitive {
            return Cow::Owned(sensitive::mask_all(&self.0.schema, arguments));
        }
        Cow::Borrowed(arguments)
    }

    /// Drops those of the `passed` parameters that the tool does not declare, in either spelling: a call by intent
    /// passes them to every tool (spec 000).
    pub fn drop_undeclared(&self, arguments: &mut Arguments, passed: &BTreeSet<&'static str>) {
        if let Some(properties) = normal::properties(&self.0.schema) {
            let is_passed = |key: &str| passed.iter().any(|name| normal::means(key, name));
            arguments.retain(|key, _| normal::declared(properties, key).is_some() || !is_passed(key));
        }
    }

    /// The violation of arguments that satisfy the schema but do not fit the message, such as an integer out of range
    /// or 30 February.
    fn misfit(&self, normal: &Value, raw: &Value) -> Option<Violation> {
        let Message { descriptor: message, encoder } = self.0.message.as_ref()?;
        // The fast path: typical arguments fit.
        if encoder.bytes(normal.as_object()?).is_some() {
            return None;
        }
        let error = DynamicMessage::deserialize(message.clone(), normal).err()?;
        let fits_alone = |(key, value): &(&String, &Value)| {
            let alone = Map::from_iter([((*key).clone(), (*value).clone())]);
            DynamicMessage::deserialize(message.clone(), Value::Object(alone)).is_ok()
        };
        let key = normal.as_object()?.iter().find(|member| !fits_alone(member)).map(|(key, _)| key.as_str());
        Some(violations::misfit(key, &error.to_string(), &self.0.schema, raw))
    }
}
