//! Arguments: a JSON object that has passed its schema, as the input message of a tool, and back.
//!
//! Not here: spelling, defaults and the schema itself, which are the registry's and the pipeline's.

use prost_reflect::{DynamicMessage, ReflectMessage};
use serde_json::{Map, Value};

use super::{payload, transcode::Encoder};

/// The arguments of a call.
pub type Arguments = Map<String, Value>;

/// Arguments passed the schema but do not fit the message: the schema and the message disagree.
#[derive(Debug, thiserror::Error)]
#[error("arguments do not fit {message}: {reason}; correct the manifest's schema or the message")]
pub struct Misfit {
    message: String,
    reason: String,
}

/// The input message that arguments stand for, by an encoder of that message.
pub fn to_message<M: ReflectMessage + Default>(arguments: Arguments, encoder: &Encoder) -> Result<M, Misfit> {
    let usual = encoder.bytes(&arguments);
    if let Some(message) = usual.and_then(|bytes| M::decode(bytes.as_slice()).ok()) {
        return Ok(message);
    }
    let descriptor = M::default().descriptor();
    let misfit = |reason: String| Misfit { message: descriptor.full_name().to_owned(), reason };
    DynamicMessage::deserialize(descriptor.clone(), Value::Object(arguments))
        .map_err(|error| misfit(error.to_string()))?
        .transcode_to()
        .map_err(|error| misfit(error.to_string()))
}

/// The arguments that an input message stands for: what is not set is left out.
pub fn from_message(message: &impl ReflectMessage) -> Arguments {
    payload::to_arguments(&message.transcode_to_dynamic())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::proto::v1::{Provenance, ToolSource};

    fn message<M: ReflectMessage + Default>(arguments: Arguments) -> M {
        to_message(arguments, &Encoder::new(&M::default().descriptor())).expect("fits")
    }

    #[test]
    fn arguments_become_the_message_and_come_back() {
        let arguments =
            json!({"name": "books", "sections": ["2026"]}).as_object().expect("an object").clone();
        let message: ToolSource = message(arguments.clone());
        assert_eq!(message, ToolSource { name: "books".into(), sections: vec!["2026".into()] });
        assert_eq!(from_message(&message), arguments);
    }

    #[test]
    fn durations_are_written_as_seconds() {
        let arguments = json!({"age": "1.500s"}).as_object().expect("an object").clone();
        let message: Provenance = message(arguments.clone());
        assert_eq!(message.age.expect("set").nanos, 500_000_000);
    }
}
