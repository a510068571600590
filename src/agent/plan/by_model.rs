//! What a model's own call was, so that it can be shown to the model again.

use serde::{Deserialize, Serialize};

/// A call as the model made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByModel {
    /// Names it among those of its step.
    pub id: String,
    /// The number of its answer in the turn. Calls of one answer are shown as one.
    pub answer: u32,
    /// What the provider wants back with it.
    pub signatures: Vec<String>,
    /// Whether its arguments were no object: it is not made.
    pub is_broken: bool,
}
