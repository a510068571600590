//! A model's own call as it was made, so that it can be shown to the model again.

use serde::{Deserialize, Serialize};

use toolwire_contract::Violation;

/// A call as the model made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByModel {
    /// Names it among those of its step.
    pub id: String,
    /// The number of its answer in the turn. Calls of one answer are shown as one.
    pub answer: u32,
    /// Opaque values that the provider wants back with the call.
    pub signatures: Vec<String>,
    /// Why its arguments cannot be read, if they cannot. The call is then not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<Violation>,
}
