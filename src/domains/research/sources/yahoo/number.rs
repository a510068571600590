//! Numbers in every form that quoteSummary gives them: `1`, `1.5`, `{"raw": 1.5, "fmt": "1.50"}`, `{}`, `"Infinity"`.

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

/// A number, or none where the source says nothing that is one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Number(pub(super) Option<f64>);

impl Number {
    /// The number, unless it is 0: of a revenue or a profit that stands in place of one that is not known yet.
    pub(super) fn nonzero(self) -> Option<f64> {
        self.0.filter(|number| *number != 0.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        of(&Value::deserialize(deserializer)?).map(Self).map_err(D::Error::custom)
    }
}

fn of(value: &Value) -> Result<Option<f64>, String> {
    let number = match value {
        Value::Null => None,
        Value::Number(number) => number.as_f64(),
        Value::Object(object) => return object.get("raw").map_or(Ok(None), of),
        // `Infinity` and `NaN` are texts, since JSON has no such numbers.
        Value::String(text) => Some(text.parse().map_err(|_| "a text that is not a number".to_owned())?),
        Value::Bool(_) | Value::Array(_) => return Err("not a number in any form".to_owned()),
    };
    Ok(number.filter(|number| number.is_finite()))
}
