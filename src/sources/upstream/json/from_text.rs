//! Values that are written as texts, such as days.

use std::{fmt::Display, str::FromStr};

use serde::{Deserialize, Deserializer, de::Error};

/// Reads a text as the type that it is written in.
pub fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}
