//! The contents of a recording, as they are sealed: JSON.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use toolwire_contract::{Payload, Provenance, ToolError, ToolResult};

/// Maximum size of arguments as JSON text, and of the data of a result, that are recorded, each.
pub(super) const MAX_PART: usize = 256 * 1024;

/// What is kept of a call.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The arguments as JSON text.
    pub arguments: Result<String, Missing>,
    pub result: Result<ToolResult, Missing>,
}

/// Why a part of a recording is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// It has more than 256 KiB.
    TooLarge,
    /// The call ended without it.
    None,
    /// Only arguments are recorded of such calls.
    NotRecorded,
    /// The call was given a sensitive argument, which the result may repeat.
    MayBeSensitive,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    arguments: Result<String, Missing>,
    result: Result<StoredResult, Missing>,
}

#[derive(Serialize, Deserialize)]
struct StoredResult {
    /// Milliseconds since the Unix epoch.
    fetched_at: u64,
    outcome: Result<Value, ToolError>,
    provenance: Provenance,
}

impl Contents {
    /// The contents within the bounds.
    pub(super) fn new(arguments: String, result: Result<ToolResult, Missing>) -> Self {
        let is_large = |it: &ToolResult| it.outcome.as_ref().is_ok_and(|data| data.encoded_len() > MAX_PART);
        let arguments = if arguments.len() > MAX_PART { Err(Missing::TooLarge) } else { Ok(arguments) };
        let result = result.and_then(|it| if is_large(&it) { Err(Missing::TooLarge) } else { Ok(it) });
        Self { arguments, result }
    }

    pub(super) fn encode(self) -> Vec<u8> {
        let result = self.result.map(|it| StoredResult {
            fetched_at: milliseconds(it.fetched_at),
            outcome: it.outcome.map(|data| data.json().clone()),
            provenance: it.provenance,
        });
        serde_json::to_vec(&Stored { arguments: self.arguments, result }).expect("keys are texts")
    }

    /// The contents of a call of a tool. `None` if they are not what `encode` makes.
    pub(super) fn decode(encoded: &[u8], tool: &str) -> Option<Self> {
        let Stored { arguments, result } = serde_json::from_slice(encoded).ok()?;
        let tool = tool.parse().ok()?;
        let result = result.map(|it| ToolResult {
            tool,
            fetched_at: SystemTime::UNIX_EPOCH + Duration::from_millis(it.fetched_at),
            outcome: it.outcome.map(Payload::from_json),
            provenance: it.provenance,
            kept: None,
        });
        Some(Self { arguments, result })
    }
}

fn milliseconds(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use toolwire_contract::ErrorCode;

    use super::*;

    fn result(outcome: Result<Value, ToolError>) -> ToolResult {
        ToolResult {
            tool: "spin_top".parse().unwrap(),
            fetched_at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_234_567),
            outcome: outcome.map(Payload::from_json),
            provenance: Provenance::default(),
            kept: None,
        }
    }

    fn again(result: Result<ToolResult, Missing>) -> Contents {
        let encoded = Contents::new("{}".to_owned(), result).encode();
        Contents::decode(&encoded, "spin_top").unwrap()
    }

    #[test]
    fn data_and_errors_are_read_as_they_were_written() {
        let data = serde_json::json!({"price": 1.5, "count": 9_007_199_254_740_993_u64});
        let read = again(Ok(result(Ok(data.clone())))).result.unwrap();
        assert_eq!(*read.outcome.unwrap().json(), data);
        assert_eq!(milliseconds(read.fetched_at), 1_234_567);
        let error = ToolError::new(ErrorCode::NotFound, "no such top");
        let read = again(Ok(result(Err(error.clone())))).result.unwrap();
        assert_eq!(read.outcome.unwrap_err(), error);
        assert_eq!(again(Err(Missing::MayBeSensitive)).result.unwrap_err(), Missing::MayBeSensitive);
    }

    #[test]
    fn parts_over_the_bound_are_left_out() {
        let text = "x".repeat(MAX_PART + 1);
        let contents = Contents::new(text.clone(), Ok(result(Ok(text.into()))));
        assert_eq!(contents.arguments.unwrap_err(), Missing::TooLarge);
        assert_eq!(contents.result.unwrap_err(), Missing::TooLarge);
        assert!(Contents::decode(b"{\"arguments\":", "spin_top").is_none());
    }
}
