//! Arguments: a JSON object that has passed its schema, as the input message of a tool, and back.
//!
//! Not here: spelling, defaults and the schema itself, which are the registry's and the pipeline's.

use prost::{Message, Name};
use prost_reflect::DynamicMessage;
use serde_json::{Map, Value};

use super::{payload, proto};

/// The arguments of a call.
pub type Arguments = Map<String, Value>;

/// Arguments passed the schema but do not fit the message: the schema and the message disagree.
#[derive(Debug, thiserror::Error)]
#[error("arguments do not fit {message}: {reason}")]
pub struct Misfit {
    message: String,
    reason: String,
}

/// The input message that arguments stand for.
pub fn to_message<M: Message + Name + Default>(arguments: Arguments) -> Result<M, Misfit> {
    let misfit = |reason: String| Misfit { message: M::full_name(), reason };
    let descriptor = proto::descriptor_of::<M>();
    DynamicMessage::deserialize(descriptor, Value::Object(arguments))
        .map_err(|error| misfit(error.to_string()))?
        .transcode_to()
        .map_err(|error| misfit(error.to_string()))
}

/// The arguments that an input message stands for: what is not set is left out.
pub fn from_message<M: Message + Name>(message: &M) -> Arguments {
    let mut dynamic = DynamicMessage::new(proto::descriptor_of::<M>());
    dynamic.transcode_from(message).expect("a message fits its own descriptor");
    payload::to_arguments(&dynamic)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::proto::{brokerage::v1::GetPositionsRequest, diagnostics::v1::DebugSleepInput};

    #[test]
    fn arguments_become_the_message_and_come_back() {
        let arguments = json!({"symbol": "AAPL"}).as_object().expect("an object").clone();
        let message: GetPositionsRequest = to_message(arguments.clone()).expect("fits");
        assert_eq!(message, GetPositionsRequest { symbol: Some("AAPL".into()), account: None });
        assert_eq!(from_message(&message), arguments);
    }

    #[test]
    fn durations_are_written_as_seconds() {
        let arguments = json!({"duration": "1.500s"}).as_object().expect("an object").clone();
        let message: DebugSleepInput = to_message(arguments.clone()).expect("fits");
        assert_eq!(message.duration.expect("set").nanos, 500_000_000);
    }
}
