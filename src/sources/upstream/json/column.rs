//! A column of values, of which each belongs to the row at its place.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::Value;

use super::{faults, items::list};

/// The values of a column, each at its place: what is null or cannot be read is `None`. A column without any readable
/// value is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column<T>(pub Vec<Option<T>>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Column<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut lost = 0;
        let read = |value: Value| {
            let is_stated = !value.is_null();
            let read = T::deserialize(value).ok().filter(|_| is_stated);
            lost += u32::from(is_stated && read.is_none());
            read
        };
        let column: Vec<_> = list(deserializer)?.into_iter().map(read).collect();
        if lost > 0 && column.iter().all(Option::is_none) {
            return Err(D::Error::custom("a column of which nothing can be read"));
        }
        faults::note(|faults| faults.values += lost);
        Ok(Self(column))
    }
}
