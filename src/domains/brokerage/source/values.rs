//! The scalar values of the data, checked as they are read: exact numbers, symbols, times, dates.

use std::{fmt, str::FromStr};

use prost_types::Timestamp;
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::Number;

/// Amounts beyond this are mistakes; below it no product of two overflows.
const MAX_AMOUNT: i64 = 1_000_000_000_000;

/// The longest symbol, the same as in the manifests.
const MAX_SYMBOL: usize = 32;

/// A number as it is written, without binary rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Number")]
pub(super) struct Exact(pub(super) Decimal);

/// A ticker symbol: trimmed, in upper case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Symbol(String);

/// The instant of a trade or a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Time {
    seconds: i64,
    nanos: i32,
}

/// The date of data as it is written, such as `2026-01-15`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct AsOf(String);

/// The currency of amounts: an ISO 4217 code.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Currency(String);

impl Currency {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Data that states no currency is of the United States.
impl Default for Currency {
    fn default() -> Self {
        Self("USD".to_owned())
    }
}

impl TryFrom<String> for Currency {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
        if is_code { Ok(Self(text)) } else { Err(format!("{text:?} is not a currency code such as \"USD\"")) }
    }
}

impl TryFrom<Number> for Exact {
    type Error = String;

    fn try_from(number: Number) -> Result<Self, String> {
        let text = number.to_string();
        let decimal = Decimal::from_str(&text).or_else(|_| Decimal::from_scientific(&text));
        match decimal {
            Ok(decimal) if decimal.abs() <= Decimal::from(MAX_AMOUNT) => Ok(Self(decimal)),
            _ => Err(format!("{text} is not between -{MAX_AMOUNT} and {MAX_AMOUNT}")),
        }
    }
}

impl Symbol {
    /// The symbol that a text means.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_uppercase())
    }

    /// The symbol in upper case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Symbol {
    type Error = String;

    /// A symbol of the data: one that `get_quotes` can be asked for in a list.
    fn try_from(text: String) -> Result<Self, String> {
        let symbol = Self::new(&text);
        let is_separator = |c: char| c == ',' || c.is_whitespace();
        if symbol.0.is_empty() || symbol.0.len() > MAX_SYMBOL || symbol.0.contains(is_separator) {
            return Err(format!("{text:?} is not a symbol: 1 to {MAX_SYMBOL} characters, no space or comma"));
        }
        Ok(symbol)
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let timestamp = Timestamp::from_str(&text)
            .map_err(|_| format!("{text:?} is not a time such as \"2026-01-14T15:42:00Z\""))?;
        Ok(Self { seconds: timestamp.seconds, nanos: timestamp.nanos })
    }
}

impl Time {
    /// Whole seconds since 1970 (UTC).
    pub fn seconds(self) -> i64 {
        self.seconds
    }
}

impl From<Time> for Timestamp {
    fn from(time: Time) -> Self {
        Self { seconds: time.seconds, nanos: time.nanos }
    }
}

impl AsOf {
    /// The date or time as the file has it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AsOf {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match super::date::leading_date(&text) {
            Some(_) => Ok(Self(text)),
            None => Err(format!("{text:?} does not begin with a date such as \"2026-01-15\"")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn exact(value: Value) -> Result<String, serde_json::Error> {
        serde_json::from_value(value).map(|Exact(decimal)| decimal.to_string())
    }

    #[test]
    fn numbers_are_taken_as_they_are_written() {
        assert_eq!(exact(json!(193.12)).expect("a number"), "193.12");
        assert_eq!(exact(json!(42)).expect("a number"), "42");
        assert_eq!(exact(json!(1e-7)).expect("a number"), "0.0000001");
        for wrong in [json!("193.12"), json!(1e13), json!(null)] {
            assert!(exact(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn symbols_are_trimmed_and_in_upper_case() {
        assert_eq!(Symbol::new(" brk.b ").as_str(), "BRK.B");
    }

    #[test]
    fn symbols_of_the_data_can_stand_in_a_list() {
        for good in ["aapl", " BRK/B", "^GSPC", "BTC-USD"] {
            assert!(Symbol::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for bad in ["", " ", "A,B", "A B", &"X".repeat(33)] {
            assert!(Symbol::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
