//! The types that a setting can have: how each is read from what was said, and written as TOML.
//!
//! Texts count as what they spell, `true` or `100`: flags and variables know nothing else.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use secrecy::SecretString;
use serde_json::json;

use super::found::Found;
use toolwire_base::duration;
use toolwire_tool::context::UserId;

/// Printed instead of a secret. Rejected as input, so that a printed configuration cannot be used as a secret.
pub const HIDDEN: &str = "[hidden]";

/// A type that a setting can have.
pub trait Value: Sized {
    /// The value, or what was expected instead.
    fn read(found: &Found) -> Result<Self, String>;
    /// The value as TOML.
    fn shown(&self) -> String;
}

impl Found {
    /// The words for a value of another type.
    pub fn instead_of(&self, expected: &str) -> String {
        format!("expected {expected}, but found {self}")
    }
}

/// A text as TOML, which JSON's texts are.
pub(super) fn quoted(text: &str) -> String {
    json!(text).to_string()
}

impl Value for String {
    fn read(found: &Found) -> Result<Self, String> {
        match found {
            Found::Text(text) => Ok(text.clone()),
            other => Err(other.instead_of("a text in quotes")),
        }
    }

    fn shown(&self) -> String {
        quoted(self)
    }
}

impl Value for PathBuf {
    fn read(found: &Found) -> Result<Self, String> {
        String::read(found).map(Self::from)
    }

    fn shown(&self) -> String {
        quoted(&Path::to_string_lossy(self))
    }
}

/// What was found is never shown.
impl Value for SecretString {
    fn read(found: &Found) -> Result<Self, String> {
        match found {
            Found::Text(text) => Ok(text.clone().into()),
            _ => Err("expected a text in quotes".to_owned()),
        }
    }

    fn shown(&self) -> String {
        quoted(HIDDEN)
    }
}

impl Value for bool {
    fn read(found: &Found) -> Result<Self, String> {
        let spelled = match found {
            Found::Flag(flag) => return Ok(*flag),
            Found::Text(text) => text.to_lowercase(),
            Found::Whole(number) => number.to_string(),
            _ => String::new(),
        };
        match spelled.as_str() {
            "true" | "yes" | "on" | "1" => Ok(true),
            "false" | "no" | "off" | "0" => Ok(false),
            _ => Err(found.instead_of("true or false")),
        }
    }

    fn shown(&self) -> String {
        self.to_string()
    }
}

/// A number that is written without a fraction.
macro_rules! whole_number {
    ($($number:ty),+) => {$(
        impl Value for $number {
            fn read(found: &Found) -> Result<Self, String> {
                let read = match found {
                    Found::Whole(number) => Self::try_from(*number).ok(),
                    Found::Text(text) => text.parse().ok(),
                    _ => None,
                };
                read.ok_or_else(|| found.instead_of(&format!("a whole number from 0 to {}", Self::MAX)))
            }

            fn shown(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

whole_number!(u32, usize);

impl Value for f64 {
    #[allow(clippy::cast_precision_loss, reason = "bounds of percentages and prices")]
    fn read(found: &Found) -> Result<Self, String> {
        let read = match found {
            Found::Whole(number) => Some(*number as Self),
            Found::Number(number) => Some(*number),
            Found::Text(text) => text.parse().ok(),
            _ => None,
        };
        read.filter(|number| number.is_finite()).ok_or_else(|| found.instead_of("a number"))
    }

    fn shown(&self) -> String {
        json!(self).to_string()
    }
}

impl Value for Duration {
    fn read(found: &Found) -> Result<Self, String> {
        match found {
            Found::Text(text) => duration::parse(text).map_err(|error| error.to_string()),
            other => Err(other.instead_of(duration::EXPECTED)),
        }
    }

    fn shown(&self) -> String {
        quoted(&duration::format(*self))
    }
}

impl Value for SocketAddr {
    fn read(found: &Found) -> Result<Self, String> {
        let expected = "an address and a port such as 127.0.0.1:50051";
        let Found::Text(text) = found else { return Err(found.instead_of(expected)) };
        let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        numeric.as_deref().unwrap_or(text).parse().map_err(|_| found.instead_of(expected))
    }

    fn shown(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Value for UserId {
    fn read(found: &Found) -> Result<Self, String> {
        let text = String::read(found)?;
        text.parse().map_err(|error: <Self as std::str::FromStr>::Err| error.to_string())
    }

    fn shown(&self) -> String {
        quoted(self.as_str())
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(found: &Found) -> Result<Self, String> {
        match found {
            Found::List(list) => list.iter().map(|said| T::read(&said.found)).collect(),
            other => Err(other.instead_of("a list such as [\"…\"]")),
        }
    }

    fn shown(&self) -> String {
        let items: Vec<_> = self.iter().map(T::shown).collect();
        format!("[{}]", items.join(","))
    }
}
