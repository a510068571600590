//! Values of columns, and the basic types that are stored as they are.

use serde::{Serialize, de::DeserializeOwned};

/// A value of a column. A type is bound by `From` and read by [`FromValue`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A type that can be read from a column. `None` if the column holds something else.
pub trait FromValue: Sized {
    fn from_value(value: Value) -> Option<Self>;
}

/// A column that holds a value as JSON; the empty text is the default value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize + ?Sized> From<Json<&T>> for Value {
    fn from(Json(value): Json<&T>) -> Self {
        // Fails only for a map whose keys are not strings, which no stored type has.
        Self::Text(serde_json::to_string(value).unwrap_or_default())
    }
}

impl<T: Serialize> From<Json<Option<&T>>> for Value {
    fn from(Json(value): Json<Option<&T>>) -> Self {
        value.map_or_else(|| Self::from(""), |value| Json(value).into())
    }
}

impl<T: DeserializeOwned + Default> FromValue for Json<T> {
    fn from_value(value: Value) -> Option<Self> {
        match String::from_value(value)?.as_str() {
            "" => Some(Self::default()),
            text => serde_json::from_str(text).ok().map(Self),
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_owned())
    }
}

impl FromValue for Value {
    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

/// Implements binding of a type, by value and by reference, and reading of it, by one expression each.
macro_rules! stored {
    ($($type:ty: |$value:ident| $bind:expr, $variant:ident($read:pat) => $decode:expr;)+) => {$(
        impl From<$type> for $crate::sql::Value {
            fn from($value: $type) -> Self {
                Self::$variant($bind)
            }
        }

        impl From<&$type> for $crate::sql::Value {
            fn from($value: &$type) -> Self {
                let $value = $value.clone();
                Self::$variant($bind)
            }
        }

        impl $crate::sql::FromValue for $type {
            fn from_value(value: $crate::sql::Value) -> Option<Self> {
                match value {
                    $crate::sql::Value::$variant($read) => $decode,
                    _ => None,
                }
            }
        }
    )+};
}

pub(super) use stored;

// Integers are signed, of 64 bits. Larger ones saturate: no count here reaches them.
stored! {
    i64: |it| it, Int(it) => Some(it);
    i32: |it| it.into(), Int(it) => it.try_into().ok();
    u64: |it| i64::try_from(it).unwrap_or(i64::MAX), Int(it) => it.try_into().ok();
    u32: |it| it.into(), Int(it) => it.try_into().ok();
    usize: |it| i64::try_from(it).unwrap_or(i64::MAX), Int(it) => it.try_into().ok();
    bool: |it| it.into(), Int(it) => Some(it != 0);
    f64: |it| it, Real(it) => Some(it);
    String: |it| it, Text(it) => Some(it);
    Vec<u8>: |it| it, Bytes(it) => Some(it);
}
