//! Conversion of the platform's types to columns.

use std::{
    fmt::Display,
    str::FromStr,
    time::{Duration, SystemTime},
};

use super::value::{FromValue, Value, stored};
use crate::time::{instant, length, millis};
use toolwire_base::digest::Digest;
use toolwire_contract::{ConfirmationId, ToolName, proto::v1::ToolCategory};
use toolwire_tool::context::{CallId, RequestId, SessionId, TaskId, TaskLabel, UserId};

// Instants and durations are stored as milliseconds.
stored! {
    SystemTime: |it| millis(it), Int(it) => Some(instant(it));
    Duration: |it| length(it), Int(it) => Some(Duration::from_millis(it.try_into().ok()?));
    Digest: |it| it.as_bytes().to_vec(), Bytes(it) => Self::from_bytes(&it);
    UserId: |it| it.to_string(), Text(it) => it.parse().ok();
    TaskId: |it| it.to_string(), Text(it) => it.parse().ok();
    TaskLabel: |it| it.to_string(), Text(it) => it.parse().ok();
    SessionId: |it| it.to_string(), Text(it) => it.parse().ok();
    CallId: |it| it.to_string(), Text(it) => it.parse().ok();
    ConfirmationId: |it| it.to_string(), Text(it) => it.parse().ok();
    ToolCategory: |it| it.as_str_name().to_owned(), Text(it) => Self::from_str_name(&it);
    ToolName: |it| it.to_string(), Text(it) => it.parse().ok();
    RequestId: |it| it.as_bytes().to_vec(), Bytes(it) => it.try_into().ok().map(Self::from_bytes);
}

/// A column that holds a value as its `Display` text, for a type that other columns store in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsText<T>(pub T);

impl<T: Display> From<AsText<T>> for Value {
    fn from(AsText(value): AsText<T>) -> Self {
        Self::Text(value.to_string())
    }
}

impl<T: FromStr> FromValue for AsText<T> {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value)?.parse().ok().map(Self)
    }
}

/// Stores an enum of strum as its word.
#[macro_export]
macro_rules! words {
    ($($type:ty),+) => {$(
        impl From<$type> for $crate::sql::Value {
            fn from(value: $type) -> Self {
                Self::from(<&'static str>::from(value))
            }
        }

        impl $crate::sql::FromValue for $type {
            fn from_value(value: $crate::sql::Value) -> Option<Self> {
                <String as $crate::sql::FromValue>::from_value(value)?.parse().ok()
            }
        }
    )+};
}

/// Stores a type as its JSON.
#[macro_export]
macro_rules! as_json {
    ($($type:ty),+) => {$(
        impl From<&$type> for $crate::sql::Value {
            fn from(value: &$type) -> Self {
                $crate::sql::Json(value).into()
            }
        }

        impl $crate::sql::FromValue for $type {
            fn from_value(value: $crate::sql::Value) -> Option<Self> {
                serde_json::from_str(&<String as $crate::sql::FromValue>::from_value(value)?).ok()
            }
        }
    )+};
}
