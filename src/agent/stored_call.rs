//! A planned call in its stored form, which is JSON. Not here: what it is stored with (`memory`, `proposal`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use toolwire_planner::{ByModel, PlannedCall};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub reason: String,
    /// The call as a model made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_model: Option<Box<ByModel>>,
}

impl From<&PlannedCall> for StoredCall {
    fn from(call: &PlannedCall) -> Self {
        let PlannedCall { tool, arguments, reason, by_model } = call.clone();
        Self { tool, arguments, reason, by_model }
    }
}

impl From<StoredCall> for PlannedCall {
    fn from(StoredCall { tool, arguments, reason, by_model }: StoredCall) -> Self {
        Self { tool, arguments, reason, by_model }
    }
}
