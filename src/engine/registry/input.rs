//! Validates and normalizes arguments by a tool's input schema.
//!
//! In the order of the contract: spelling of keys, values in texts, null as absent, defaults, schema. All violations
//! are reported at once. Not here: the limit on the nesting of arguments, which every face checks while parsing.

mod hidden_arguments;
mod kinds;
mod location;
mod normal;
mod sensitive;
mod violations;

use std::{borrow::Cow, collections::BTreeSet, fmt, sync::Arc};

use prost_reflect::{DynamicMessage, MessageDescriptor};
use serde_json::{Map, Value};

pub(super) use self::{hidden_arguments::HiddenArguments, violations::breach};
use super::{problem::join, schema};
use toolwire_contract::{
    Violation,
    arguments::Arguments,
    redaction::is_masked,
    transcode::{self, Encoder},
};
use toolwire_schema::{MAX_STEPS, Misfit, Schema, Work};
use toolwire_tool::context::{RequestId, ToolContext};

/// Maximum number of reported violations, so that an answer is not many times the size of its request.
const MOST_VIOLATIONS: usize = 100;

/// Validates and completes arguments. Cheap to clone.
#[derive(Clone)]
pub struct InputSchema(Arc<Inner>);

struct Inner {
    schema: Arc<Value>,
    compiled: Schema,
    /// The hidden arguments.
    hidden: HiddenArguments,
    /// The schema of all arguments, including hidden ones, if some are sensitive.
    sensitive: Option<Arc<Value>>,
    /// The message that the arguments must fit, if the schema alone does not ensure it.
    message: Option<Message>,
}

/// Why arguments are not accepted.
#[derive(Debug)]
pub enum Invalid {
    Broken(Vec<Violation>),
    /// The arguments as they were given.
    TooMuchWork(Arguments),
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

impl Invalid {
    fn too_much_work(raw: Value) -> Self {
        match raw {
            Value::Object(raw) => Self::TooMuchWork(raw),
            _ => Self::TooMuchWork(Arguments::new()),
        }
    }

    pub fn into_violations(self) -> Vec<Violation> {
        match self {
            Self::Broken(violations) => violations,
            Self::TooMuchWork(_) => vec![Violation {
                pointer: String::new(),
                rule: "work".to_owned(),
                description: format!(
                    "the arguments take more than {MAX_STEPS} steps to be checked against the schema; send less at a time"
                ),
            }],
        }
    }
}

impl InputSchema {
    /// Compiles a derived schema. `message` is the tool's input message, if it has one.
    pub(super) fn new(
        schema: Arc<Value>,
        hidden: HiddenArguments,
        message: Option<MessageDescriptor>,
    ) -> Result<Self, String> {
        let compiled = schema::compile(&schema)?;
        let inexact = message.filter(|message| !schema::is_exact(message));
        let message = inexact.map(|descriptor| Message { encoder: Encoder::new(&descriptor), descriptor });
        let all = if hidden.is_empty() { Arc::clone(&schema) } else { Arc::new(hidden.and(&schema)) };
        let sensitive = Some(all).filter(|all| sensitive::any(all));
        Ok(Self(Arc::new(Inner { schema, compiled, hidden, sensitive, message })))
    }

    pub fn schema(&self) -> &Value {
        &self.0.schema
    }

    /// Returns the normalized arguments, or all violations, up to [`MOST_VIOLATIONS`].
    pub fn check(&self, raw: Arguments) -> Result<Arguments, Vec<Violation>> {
        self.check_within(raw, Work::all()).map_err(Invalid::into_violations)
    }

    /// Checks with a small bound on the work, for arguments that are checked again before they are used.
    pub fn check_briefly(&self, raw: Arguments) -> Result<Arguments, Vec<Violation>> {
        self.check_within(raw, Work::little()).map_err(Invalid::into_violations)
    }

    /// Checks within the given bound on the work.
    pub fn check_within(&self, raw: Arguments, work: Work) -> Result<Arguments, Invalid> {
        let raw = Value::Object(raw);
        let Ok((normal, mut violations)) = normal::normalize_within(&self.0.schema, &raw, work) else {
            return Err(Invalid::too_much_work(raw));
        };
        match self.0.compiled.check(&normal, MOST_VIOLATIONS, work) {
            Err(Misfit::Broken(broken)) => {
                violations.extend(violations::explain(&broken, &self.0.schema, &raw, MOST_VIOLATIONS));
            }
            Err(Misfit::TooMuchWork) if violations.is_empty() => return Err(Invalid::too_much_work(raw)),
            Ok(()) | Err(Misfit::TooMuchWork) => {}
        }
        violations.truncate(MOST_VIOLATIONS);
        if violations.is_empty() {
            violations.extend(self.misfit(&normal, &raw));
        }
        match normal {
            Value::Object(arguments) if violations.is_empty() => Ok(arguments),
            _ => Err(Invalid::Broken(violations)),
        }
    }

    /// Fills in the hidden arguments of checked ones, but for those that only the execution has, or says what the call
    /// lacks.
    pub fn fill(&self, arguments: &mut Arguments, context: &ToolContext) -> Result<(), Vec<Violation>> {
        self.0.hidden.fill(arguments, context)
    }

    /// Fills in the arguments that are bound to the identifiers of the call itself.
    pub fn fill_ids(&self, arguments: &mut Arguments, context: &ToolContext, request_id: Option<RequestId>) {
        self.0.hidden.fill_ids(arguments, context, request_id);
    }

    /// The schema of an argument, be it hidden.
    pub(super) fn property(&self, name: &str) -> Option<&Value> {
        let published = normal::properties(&self.0.schema).and_then(|properties| properties.get(name));
        published.or_else(|| self.0.hidden.property(name))
    }

    /// The names of the arguments that callers give.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        normal::properties(&self.0.schema).into_iter().flat_map(Map::keys).map(String::as_str)
    }

    /// Whether the value of an argument is known only where the tool is carried out.
    pub(super) fn is_of_execution(&self, name: &str) -> bool {
        self.0.hidden.is_of_execution(name)
    }

    /// Whether anything in the schema of an argument may not be shown.
    pub(super) fn is_sensitive(property: &Value) -> bool {
        sensitive::any(property)
    }

    /// Why the message cannot hold what is the same in every call, if it cannot.
    pub(super) fn misfit_of_hidden(&self) -> Option<Violation> {
        let same = Value::Object(self.0.hidden.same());
        self.misfit(&same, &same)
    }

    /// Whether any parameter is sensitive.
    pub fn has_sensitive(&self) -> bool {
        self.0.sensitive.is_some()
    }

    /// Masks the sensitive ones of checked arguments, for people, logs and timelines.
    pub fn mask<'a>(&self, arguments: &'a Arguments) -> Cow<'a, Arguments> {
        match &self.0.sensitive {
            Some(schema) => Cow::Owned(sensitive::mask_all(schema, arguments)),
            None => Cow::Borrowed(arguments),
        }
    }

    /// Masks arguments and drops the hidden ones: what the caller gave, which a repeat gives again.
    pub fn visible(&self, arguments: &Arguments) -> Arguments {
        self.shown(arguments).0
    }

    /// The same, and whether any value is masked, a hidden one included.
    pub fn shown(&self, arguments: &Arguments) -> (Arguments, bool) {
        let mut shown = self.mask(arguments).into_owned();
        let are_masked = self.0.sensitive.is_some() && shown.values().any(is_masked);
        shown.retain(|name, _| self.0.hidden.property(name).is_none());
        (shown, are_masked)
    }

    /// Drops those of the `passed` parameters that the tool does not declare, in either spelling: a call by intent
    /// passes them to every tool.
    pub fn drop_undeclared(&self, arguments: &mut Arguments, passed: &BTreeSet<&'static str>) {
        if let Some(properties) = normal::properties(&self.0.schema) {
            let is_passed = |key: &str| passed.iter().any(|name| normal::means(key, name));
            arguments.retain(|key, _| normal::declared_key(properties, key).is_some() || !is_passed(key));
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
        if let Some(pointer) = transcode::find_rounded(message, normal.as_object()?) {
            let reason = "the tool takes a double, which would round it; stay within ±2^53";
            return Some(violations::misfit(&pointer, reason, &self.0.schema, raw));
        }
        let error = DynamicMessage::deserialize(message.clone(), normal).err()?;
        let fits_alone = |(key, value): &(&String, &Value)| {
            let alone = Map::from_iter([((*key).clone(), (*value).clone())]);
            DynamicMessage::deserialize(message.clone(), Value::Object(alone)).is_ok()
        };
        let key = normal.as_object()?.iter().find(|member| !fits_alone(member)).map(|(key, _)| join("", key));
        Some(violations::misfit(&key.unwrap_or_default(), &error.to_string(), &self.0.schema, raw))
    }
}
