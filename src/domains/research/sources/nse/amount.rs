//! Amounts as the exchange writes them: `5`, `"1,23,456.50"`, `"-"`.

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

/// An amount, or none where the exchange writes a dash or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount(pub(super) Option<f64>);

/// A text is not a valid amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an amount that is not a number")]
pub(super) struct NoAmount;

impl Amount {
    /// The amount of a text, whatever way its digits are grouped.
    pub(super) fn of(text: &str) -> Result<Self, NoAmount> {
        let digits: String = text.chars().filter(|c| *c != ',' && !c.is_whitespace()).collect();
        if matches!(digits.as_str(), "" | "-" | "NA") {
            return Ok(Self(None));
        }
        let number: f64 = digits.parse().map_err(|_| NoAmount)?;
        if number.is_finite() { Ok(Self(Some(number))) } else { Err(NoAmount) }
    }

    /// The amount as a whole number, if it is one.
    #[allow(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
    pub(super) fn whole(self) -> Option<i64> {
        let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() < 9e15;
        self.0.filter(is_whole).map(|number| number as i64)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self(None)),
            Value::Number(number) => Ok(Self(number.as_f64())),
            Value::String(text) => Self::of(&text).map_err(D::Error::custom),
            _ => Err(D::Error::custom(NoAmount)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_however_they_are_written() {
        let forms = [
            ("5", Some(5.0)),
            (r#""12,34,567.50""#, Some(1_234_567.5)),
            (r#"" -1,234.5 ""#, Some(-1234.5)),
            (r#""-""#, None),
            (r#""""#, None),
            ("null", None),
        ];
        for (text, amount) in forms {
            assert_eq!(serde_json::from_str::<Amount>(text).unwrap().0, amount, "{text}");
        }
        for wrong in ["true", r#""many""#, r#""inf""#, "{}"] {
            assert!(serde_json::from_str::<Amount>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Amount(Some(3.0)).whole(), Some(3));
        assert_eq!(Amount(Some(3.5)).whole(), None);
    }
}
