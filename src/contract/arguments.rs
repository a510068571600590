//! Arguments: a JSON object that has passed its schema, converted to the input message of a tool and back; and the
//! parsing of what a model wrote.
//!
//! Not here: spelling, defaults and the schema itself, which are the registry's and the pipeline's.

use prost_reflect::{DynamicMessage, ReflectMessage};
use prost_types::Struct;
use serde_json::{Map, Value};

use super::{
    Violation,
    json::{self, Inexact, ParseError},
    payload,
    transcode::{self, Encoder},
};

pub type Arguments = Map<String, Value>;

/// A text or value that cannot be read as arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the arguments {what}")]
pub struct Unreadable {
    /// JSON pointer to what is wrong; empty if that is the whole.
    pub pointer: String,
    /// The rule that is broken, such as `json`.
    pub rule: &'static str,
    /// What is expected, as the end of the message.
    pub what: String,
}

impl Unreadable {
    fn new(rule: &'static str, what: impl Into<String>) -> Self {
        Self { pointer: String::new(), rule, what: what.into() }
    }
}

impl From<ParseError> for Unreadable {
    fn from(error: ParseError) -> Self {
        match error {
            ParseError::Syntax(error) => {
                Self::new("json", format!("must be the text of a JSON object: {error}"))
            }
            ParseError::Inexact(inexact) => inexact.into(),
        }
    }
}

impl From<Inexact> for Unreadable {
    fn from(inexact: Inexact) -> Self {
        Self { what: inexact.to_string(), pointer: inexact.pointer, rule: "exact" }
    }
}

impl From<Unreadable> for Violation {
    fn from(why: Unreadable) -> Self {
        let description = why.to_string();
        Self { pointer: why.pointer, rule: why.rule.to_owned(), description }
    }
}

/// Reads arguments from text, as a model writes them. A blank text and `null` are no arguments.
pub fn from_text(text: &str) -> Result<Arguments, Unreadable> {
    if text.trim().is_empty() {
        return Ok(Arguments::new());
    }
    from_value(json::parse(text)?)
}

/// Reads arguments from a JSON value. `null` and a blank text are no arguments; any other text is refused, with advice
/// for a model that quoted its object.
pub fn from_value(value: Value) -> Result<Arguments, Unreadable> {
    if !json::is_within_depth(&value) {
        let what = format!("must not nest deeper than {} levels", json::MAX_DEPTH);
        return Err(Unreadable::new("depth", what));
    }
    let example = r#"must be a JSON object, such as {"symbol": "AAPL"}"#;
    match value {
        Value::Object(arguments) => Ok(arguments),
        Value::Null => Ok(Arguments::new()),
        Value::String(text) => match json::parse(&text) {
            _ if text.trim().is_empty() => Ok(Arguments::new()),
            Ok(_) => Err(Unreadable::new("type", format!("{example}, and not a string that holds JSON"))),
            Err(error) => Err(error.into()),
        },
        _ => Err(Unreadable::new("type", example)),
    }
}

/// The same of a value whose text is not known: its parser may have made doubles of longer integers.
pub fn from_rounded_value(value: Value) -> Result<Arguments, Unreadable> {
    match json::doubtful_number(&value) {
        Some((pointer, number)) => Err(doubtful(pointer, number)),
        None => from_value(value),
    }
}

/// Reads arguments from a structure. A number that may not be what was written is refused.
pub fn from_struct(structure: Struct) -> Result<Arguments, Unreadable> {
    match json::doubtful(&structure) {
        Some((pointer, number)) => Err(doubtful(pointer, number)),
        None => from_value(Value::Object(json::from_struct(structure))),
    }
}

fn doubtful(pointer: String, number: f64) -> Unreadable {
    let rule = if number.is_finite() { "exact" } else { "finite" };
    Unreadable { what: json::not_doubtful(&pointer, number), pointer, rule }
}

/// Arguments that passed the schema but do not fit the message: the two disagree.
#[derive(Debug, thiserror::Error)]
#[error("arguments do not fit {message}: {reason}; correct the manifest's schema or the message")]
pub struct Misfit {
    message: String,
    reason: String,
}

/// The input message that arguments stand for, by an encoder of that message.
pub fn to_message<M: ReflectMessage + Default>(arguments: Arguments, encoder: &Encoder) -> Result<M, Misfit> {
    let bytes = encoder.bytes(&arguments);
    if let Some(message) = bytes.and_then(|bytes| M::decode(bytes.as_slice()).ok()) {
        return Ok(message);
    }
    // The slow path: it accepts what the encoder does not cover, and has words for what is wrong.
    let descriptor = M::default().descriptor();
    let misfit = |reason: String| Misfit { message: descriptor.full_name().to_owned(), reason };
    if let Some(pointer) = transcode::find_rounded(&descriptor, &arguments) {
        return Err(misfit(format!("the number at {pointer:?} would be rounded")));
    }
    DynamicMessage::deserialize(descriptor.clone(), Value::Object(arguments))
        .map_err(|error| misfit(error.to_string()))?
        .transcode_to()
        .map_err(|error| misfit(error.to_string()))
}

/// The arguments that an input message stands for: what is not set is left out. Structures in it are read as
/// [`from_struct`] reads one.
pub fn from_message(message: &impl ReflectMessage) -> Result<Arguments, Unreadable> {
    let message = message.transcode_to_dynamic();
    match payload::doubtful(&message) {
        Some((pointer, number)) => Err(doubtful(pointer, number)),
        None => Ok(payload::to_arguments(&message)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::proto::v1::{Provenance, ToolDefinition, ToolSource};

    fn message<M: ReflectMessage + Default>(arguments: Arguments) -> M {
        to_message(arguments, &Encoder::new(&M::default().descriptor())).expect("fits")
    }

    #[test]
    fn arguments_become_the_message_and_come_back() {
        let arguments =
            json!({"name": "books", "sections": ["2026"]}).as_object().expect("an object").clone();
        let message: ToolSource = message(arguments.clone());
        assert_eq!(message, ToolSource { name: "books".into(), sections: vec!["2026".into()] });
        assert_eq!(from_message(&message), Ok(arguments));
    }

    #[test]
    fn whatever_a_model_writes_is_arguments_or_one_mistake() {
        for none in ["", " ", "\n\t", "null", " null ", r#""""#, r#"" ""#, "{}"] {
            assert_eq!(from_text(none), Ok(Arguments::new()), "{none:?}");
        }
        let deep = format!("{}1{}", r#"{"a":"#.repeat(33), "}".repeat(33));
        for (text, rule) in [
            (r#"{"symbol": "AA"#, "json"),
            ("{", "json"),
            (r#"{"symbol": "\ud83d"}"#, "json"),
            (r#"{"a": 1, "a": 2}"#, "json"),
            (r#"{"a": 1} and more"#, "json"),
            (r#"{"a": NaN}"#, "json"),
            (r#"{"a": 1e400}"#, "exact"),
            (r#"{"a": [18446744073709551616]}"#, "exact"),
            (r#""{\"a\": 0.10000000000000001}""#, "exact"),
            ("symbol=AAPL", "json"),
            ("[1]", "type"),
            ("42", "type"),
            ("true", "type"),
            (r#""{\"symbol\": \"AAPL\"}""#, "type"),
            (r#""{\"symbol\"""#, "json"),
            (&deep, "depth"),
        ] {
            let why = from_text(text).unwrap_err();
            assert_eq!(why.rule, rule, "{text}: {why}");
            assert!(why.to_string().starts_with("the arguments must "), "{why}");
        }
    }

    #[test]
    fn a_number_that_would_be_rounded_is_refused_at_its_pointer() {
        let structure =
            json::to_struct(json!({"a": {"b": [0.5, 1_u64 << 53]}}).as_object().expect("an object"));
        let parsed = json!({"a": {"b": [0.5, 1e25]}});
        for why in [
            from_text(r#"{"a": {"b": [0.5, 1000000000000000000000001]}}"#).unwrap_err(),
            from_struct(structure).unwrap_err(),
            from_rounded_value(parsed).unwrap_err(),
        ] {
            let Violation { pointer, rule, description } = why.into();
            assert_eq!((pointer.as_str(), rule.as_str()), ("/a/b/1", "exact"), "{description}");
        }
        let carried = json!({"a": [(1_u64 << 53) - 1, 0.1, -5]}).as_object().expect("an object").clone();
        assert_eq!(from_struct(json::to_struct(&carried)), Ok(carried));
    }

    #[test]
    fn a_message_is_read_as_its_structures_are() {
        let of = |number: f64| {
            let value = json!({"list": [{"type": "integer", "maximum": number}]});
            ToolDefinition {
                input_schema: value.as_object().map(json::to_struct),
                ..ToolDefinition::default()
            }
        };
        assert!(from_message(&of(1e15)).is_ok());
        let why = from_message(&of(1e17)).unwrap_err();
        assert_eq!((why.pointer.as_str(), why.rule), ("/input_schema/list/0/maximum", "exact"));
    }

    #[test]
    fn durations_are_written_as_seconds() {
        let arguments = json!({"age": "1.500s"}).as_object().expect("an object").clone();
        let message: Provenance = message(arguments.clone());
        assert_eq!(message.age.expect("set").nanos, 500_000_000);
    }
}
