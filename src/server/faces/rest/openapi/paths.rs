//! The operations of the document, by path and method.

use serde_json::{Map, Value, json};

/// Operations by path and method.
#[derive(Debug, Default)]
pub(super) struct Paths(Map<String, Value>);

impl Paths {
    /// Adds what a method does at a path.
    pub(super) fn add(&mut self, path: &str, method: &str, operation: Value) {
        let at = self.0.entry(path).or_insert_with(|| json!({}));
        at[method] = operation;
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}
