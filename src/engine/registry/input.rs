//! The input schema of a tool at work: arguments as a caller wrote them become arguments as the tool expects them.
//!
//! In the order of the contract: spelling, null as absent, numbers written as text, defaults, schema. All violations at
//! once. Not here: the bound on the depth of arguments, which every face checks as it parses.

mod normal;
mod sensitive;
mod violations;

use std::{borrow::Cow, collections::BTreeSet, fmt, sync::Arc};

use jsonschema::Validator;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use serde_json::{Map, Value};

use super::schema;
use toolwire_contract::{Violation, arguments::Arguments, transcode::Encoder};

/// How many violations are reported: what a caller gets wrong in bulk, it sees by the first hundred, and an answer must
/// not be many times the size of its request.
const MOST_VIOLATIONS: usize = 100;

/// Checks and completes arguments. Cheap to clone.
#[derive(Clone)]
pub struct InputSchema(Arc<Inner>);

struct Inner {
    schema: Arc<Value>,
    validator: Validator,
    /// Whether some values may not be shown.
    has_sensitive: bool,
    /// What the arguments must fit, where the schema alone does not ensure it.
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
    /// Compiles a derived schema; `message` is what the arguments must fit, if the tool has one.
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

    /// The arguments as the tool expects them, or every rule that they break, up to a hundred.
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

    /// Checked arguments as people, logs and timelines may see them.
    pub fn shown<'a>(&self, arguments: &'a Arguments) -> Cow<'a, Arguments> {
        if self.0.has_sensitive {
            return Cow::Owned(sensitive::masked(&self.0.schema, arguments));
        }
        Cow::Borrowed(arguments)
    }

    /// Drops those of the given parameters that the tool does not declare, whichever way they are spelled: an intent
    /// passes them on to whatever tool it routes to (spec 000).
    pub fn drop_undeclared(&self, arguments: &mut Arguments, passed: &BTreeSet<&'static str>) {
        if let Some(properties) = normal::properties(&self.0.schema) {
            let is_passed = |key: &str| passed.iter().any(|name| normal::means(key, name));
            arguments.retain(|key, _| normal::declared(properties, key).is_some() || !is_passed(key));
        }
    }

    /// What the schema accepts and the message still cannot hold: an integer out of range, 30 February.
    fn misfit(&self, normal: &Value, raw: &Value) -> Option<Violation> {
        let Message { descriptor: message, encoder } = self.0.message.as_ref()?;
        // What is usual fits, and that is quickly seen.
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
