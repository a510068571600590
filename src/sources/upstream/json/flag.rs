//! Whether something is marked, such as hidden, removed or restricted.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A mark that keeps an item from being shown. Whatever stands there is one, but for null and false: in doubt an item
/// is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self(!matches!(value, Value::Null | Value::Bool(false))))
    }
}
