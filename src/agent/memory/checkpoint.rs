//! The checkpoint of a paused turn: its calls with their results, and those that wait for persons. Stored as JSON.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{proposal::Proposal, stored_call::StoredCall};
use toolwire_contract::{Kept, Payload, Provenance, ToolError, ToolResult};
use toolwire_planner::ExecutedCall;

/// The state from which a paused turn resumes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Only tools with these tags are offered.
    pub tags: Vec<String>,
    /// The kinds of the message's parts other than text.
    #[serde(default)]
    pub unread: Vec<String>,
    /// Number of plans made.
    pub steps: u32,
    /// Number of calls made.
    pub calls: u32,
    /// The number of the next call.
    pub position: u32,
    /// The least confidence of its plans.
    pub confidence: f64,
    /// Maximum numbers of plans, calls and tokens.
    pub bounds: [u32; 3],
    /// The tokens spent, in and out.
    #[serde(default)]
    pub tokens: [u64; 2],
    /// The calls that ended.
    pub made: Vec<StoredExecution>,
    /// The calls that wait, in the order in which they were planned.
    pub pending: Vec<Pending>,
    /// The proposal that was made beside them.
    #[serde(default)]
    pub proposal: Option<Proposal>,
}

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub call: StoredCall,
    /// The identifier to call again with.
    pub request_id: String,
    /// Its place among all calls of the turn, which results keep.
    #[serde(default = "last")]
    pub place: usize,
}

/// A call that ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredExecution {
    call: StoredCall,
    call_id: String,
    tool: String,
    /// Milliseconds since the Unix epoch.
    fetched_at: u64,
    outcome: Result<Value, ToolError>,
    provenance: Provenance,
    #[serde(default)]
    kept: Option<Box<Kept>>,
}

/// The place of a call that an earlier version stored without one: after all others.
const fn last() -> usize {
    usize::MAX
}

impl StoredExecution {
    /// A call that ended, with its name.
    pub fn of(made: &ExecutedCall, call_id: &str) -> Self {
        let result = &*made.result;
        let since = result.fetched_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            call: StoredCall::from(&made.call),
            call_id: call_id.to_owned(),
            tool: result.tool.to_string(),
            fetched_at: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            outcome: result.outcome.as_ref().map(|data| data.json().clone()).map_err(Clone::clone),
            provenance: result.provenance.clone(),
            kept: result.kept.clone(),
        }
    }

    /// The call, and its name; `None` if the stored text is not a tool name.
    pub fn restore(self) -> Option<(ExecutedCall, String)> {
        let result = ToolResult {
            tool: self.tool.parse().ok()?,
            fetched_at: instant(self.fetched_at),
            outcome: self.outcome.map(Payload::from_json),
            provenance: self.provenance,
            kept: self.kept,
        };
        Some((ExecutedCall { call: self.call.into(), result: Arc::new(result) }, self.call_id))
    }
}

fn instant(millis: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH)
}
