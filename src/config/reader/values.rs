//! Settings of several values, which a variable and a flag can give too.

use super::{Reader, Shown};
use crate::{
    found::{Found, Origin},
    setting::Setting,
    value::Value,
};

impl Reader {
    /// A setting of several values: a list in the file, a text with commas between them in a variable or a flag.
    pub fn values<T: Value>(&mut self, setting: Setting, default: Vec<T>) -> Vec<T> {
        let origin = self.winner(&setting).map(|given| given.origin);
        let is_text = matches!(origin, Some(Origin::Variable(_) | Origin::Flag(_)));
        let value = self.given(&setting, |found| match found {
            Found::Text(text) if is_text => separated(text),
            found => Vec::read(found),
        });
        let value = value.unwrap_or(default);
        self.learn(setting, Shown::Value(value.shown()));
        value
    }
}

/// The values of a text with commas between them.
fn separated<T: Value>(text: &str) -> Result<Vec<T>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| T::read(&Found::Text(part.to_owned()))).collect()
}
