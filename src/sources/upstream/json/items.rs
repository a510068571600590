//! A list of items, each read by itself.

use std::any::type_name;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::Value;

use super::{faults, prune};

/// The items of a list that can be read. Null counts as an empty list; a list without any readable item is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items<T> {
    /// Those that can be read, in their order.
    pub read: Vec<T>,
    /// How many there are besides.
    pub lost: usize,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { read: Vec::new(), lost: 0 }
    }
}

impl<T> IntoIterator for Items<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.read.into_iter()
    }
}

impl<T: DeserializeOwned> Items<T> {
    /// The items that some values are. `None` if there are values and none of them is one.
    pub fn of(values: impl IntoIterator<Item = Value>) -> Option<Self> {
        let mut items = Self::default();
        for mut value in values.into_iter().filter(|value| !value.is_null()) {
            match prune::read(&mut value) {
                Ok(item) => items.read.push(item),
                Err(_) => items.lost += 1,
            }
        }
        if items.read.is_empty() && items.lost > 0 {
            return None;
        }
        lose(items.lost, type_name::<T>());
        Some(items)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(list(deserializer)?).ok_or_else(nothing)
    }
}

/// The values of a list. Null is as good as an empty one; where none is stated, that is for the record to judge, which
/// an `Option` would not let it.
pub(super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(Vec::new()),
        Value::Array(values) => Ok(values),
        _ => Err(D::Error::custom("not a list")),
    }
}

/// Reads the values of an object whose keys say nothing as items.
pub fn values<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Items<T>, D::Error> {
    let values: serde_json::Map<String, Value> = Option::deserialize(deserializer)?.unwrap_or_default();
    Items::of(values.into_iter().map(|(_, value)| value)).ok_or_else(nothing)
}

/// Collects items that are processed further; a failed one is dropped. If all fail, the first failure.
pub fn keep_ok<T, E>(items: impl IntoIterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let (mut kept, mut first, mut lost) = (Vec::new(), None, 0);
    for item in items {
        match item {
            Ok(item) => kept.push(item),
            Err(error) => {
                lost += 1;
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if kept.is_empty() => Err(error),
        _ => {
            lose(lost, type_name::<T>());
            Ok(kept)
        }
    }
}

fn lose(items: usize, of: &str) {
    if items > 0 {
        faults::note(|faults| {
            faults.items += u32::try_from(items).unwrap_or(u32::MAX);
            faults.at(format!("items of {}", of.rsplit("::").next().unwrap_or(of)));
        });
    }
}

fn nothing<E: Error>() -> E {
    E::custom("a list of which nothing can be read")
}
