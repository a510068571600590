//! What the messages of a tool add to its manifest.

use serde_json::Value;

pub(in crate::registry) struct Derived {
    pub(in crate::registry) input_schema: Value,
    pub(in crate::registry) output_schema: Value,
    pub(in crate::registry) typed_method: Option<String>,
}
