//! Settings of several values, which a variable and a flag can give too.

use super::{Reader, TomlValue};
use crate::{
    raw_value::{Origin, RawValue},
    setting::Setting,
    value::Value,
};

impl Reader {
    /// A setting of several values: a list in the file, a text with commas between them in a variable or a flag.
    pub fn values<T: Value>(&mut self, setting: Setting, default: Vec<T>) -> Vec<T> {
        let origin = self.winner(&setting).map(|given| given.origin);
        let is_text = matches!(origin, Some(Origin::Variable(_) | Origin::Flag(_)));
        let value = self.get(&setting, |found| match found {
            RawValue::Text(text) if is_text => split(text),
            found => Vec::read(found),
        });
        let value = value.unwrap_or(default);
        self.register(setting, TomlValue::Value(value.to_toml()));
        value
    }
}

/// The values of a text with commas between them.
fn split<T: Value>(text: &str) -> Result<Vec<T>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| T::read(&RawValue::Text(part.to_owned()))).collect()
}
