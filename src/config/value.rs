//! The types of settings: how each is parsed, and written as TOML.
//!
//! Texts count as what they spell, `true` or `100`: flags and variables know nothing else.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use secrecy::SecretString;
use serde_json::json;

use super::raw_value::RawValue;
use toolwire_base::duration;
use toolwire_tool::context::UserId;

/// Printed instead of a secret. Rejected as input, so that a printed configuration cannot be used as a secret.
pub const HIDDEN: &str = "[hidden]";

/// A type that a setting can have.
pub trait Value: Sized {
    /// The value, or what was expected instead.
    fn read(found: &RawValue) -> Result<Self, String>;
    /// The value as TOML.
    fn to_toml(&self) -> String;
}

impl RawValue {
    /// The words for a value of another type.
    pub fn instead_of(&self, expected: &str) -> String {
        format!("expected {expected}, but found {self}")
    }
}

/// A text as TOML, which JSON's texts are.
pub(super) fn quote(text: &str) -> String {
    json!(text).to_string()
}

impl Value for String {
    fn read(found: &RawValue) -> Result<Self, String> {
        match found {
            RawValue::Text(text) => Ok(text.clone()),
            other => Err(other.instead_of("a text in quotes")),
        }
    }

    fn to_toml(&self) -> String {
        quote(self)
    }
}

impl Value for PathBuf {
    fn read(found: &RawValue) -> Result<Self, String> {
        String::read(found).map(Self::from)
    }

    fn to_toml(&self) -> String {
        quote(&Path::to_string_lossy(self))
    }
}

/// What was found is never shown.
impl Value for SecretString {
    fn read(found: &RawValue) -> Result<Self, String> {
        match found {
            RawValue::Text(text) => Ok(text.clone().into()),
            _ => Err("expected a text in quotes".to_owned()),
        }
    }

    fn to_toml(&self) -> String {
        quote(HIDDEN)
    }
}

impl Value for bool {
    fn read(found: &RawValue) -> Result<Self, String> {
        let spelled = match found {
            RawValue::Flag(flag) => return Ok(*flag),
            RawValue::Text(text) => text.to_lowercase(),
            RawValue::Whole(number) => number.to_string(),
            _ => String::new(),
        };
        match spelled.as_str() {
            "true" | "yes" | "on" | "1" => Ok(true),
            "false" | "no" | "off" | "0" => Ok(false),
            _ => Err(found.instead_of("true or false")),
        }
    }

    fn to_toml(&self) -> String {
        self.to_string()
    }
}

/// A number that is written without a fraction.
macro_rules! whole_number {
    ($($number:ty),+) => {$(
        impl Value for $number {
            fn read(found: &RawValue) -> Result<Self, String> {
                let read = match found {
                    RawValue::Whole(number) => Self::try_from(*number).ok(),
                    RawValue::Text(text) => text.parse().ok(),
                    _ => None,
                };
                read.ok_or_else(|| found.instead_of(&format!("a whole number from 0 to {}", Self::MAX)))
            }

            fn to_toml(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

whole_number!(u32, usize);

impl Value for f64 {
    #[allow(clippy::cast_precision_loss, reason = "bounds of percentages and prices")]
    fn read(found: &RawValue) -> Result<Self, String> {
        let read = match found {
            RawValue::Whole(number) => Some(*number as Self),
            RawValue::Number(number) => Some(*number),
            RawValue::Text(text) => text.parse().ok(),
            _ => None,
        };
        read.filter(|number| number.is_finite()).ok_or_else(|| found.instead_of("a number"))
    }

    fn to_toml(&self) -> String {
        json!(self).to_string()
    }
}

impl Value for Duration {
    fn read(found: &RawValue) -> Result<Self, String> {
        match found {
            RawValue::Text(text) => duration::parse(text).map_err(|error| error.to_string()),
            other => Err(other.instead_of(duration::EXPECTED)),
        }
    }

    fn to_toml(&self) -> String {
        quote(&duration::format(*self))
    }
}

impl Value for SocketAddr {
    fn read(found: &RawValue) -> Result<Self, String> {
        let expected = "an address and a port such as 127.0.0.1:50051";
        let RawValue::Text(text) = found else { return Err(found.instead_of(expected)) };
        let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        numeric.as_deref().unwrap_or(text).parse().map_err(|_| found.instead_of(expected))
    }

    fn to_toml(&self) -> String {
        quote(&self.to_string())
    }
}

impl Value for UserId {
    fn read(found: &RawValue) -> Result<Self, String> {
        let text = String::read(found)?;
        text.parse().map_err(|error: <Self as std::str::FromStr>::Err| error.to_string())
    }

    fn to_toml(&self) -> String {
        quote(self.as_str())
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(found: &RawValue) -> Result<Self, String> {
        match found {
            RawValue::List(list) => list.iter().map(|said| T::read(&said.value)).collect(),
            other => Err(other.instead_of("a list such as [\"…\"]")),
        }
    }

    fn to_toml(&self) -> String {
        let items: Vec<_> = self.iter().map(T::to_toml).collect();
        format!("[{}]", items.join(","))
    }
}
