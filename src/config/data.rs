//! Settings of the data that tools read.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::setting::Setting;
use crate::context::UserId;

/// The data that tools read: `[data]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Data {
    /// The directory of manifests and data; without it, what is built in. `--data`, `TOOLWIRE_DATA`, default none.
    pub dir: Option<PathBuf>,
    /// Whose data `brokerage/user_master.json` is, and who calls when nobody needs credentials.
    /// `TOOLWIRE_DEFAULT_USER`, default `demo`.
    #[serde(deserialize_with = "user_id", serialize_with = "as_text")]
    pub default_user: UserId,
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("data.dir", "TOOLWIRE_DATA").flag("--data"),
    Setting::new("data.default_user", "TOOLWIRE_DEFAULT_USER"),
];

impl Default for Data {
    fn default() -> Self {
        Self { dir: None, default_user: "demo".parse().expect("demo is visible ASCII") }
    }
}

pub(super) fn user_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UserId, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

fn as_text<S: Serializer>(user_id: &UserId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(user_id.as_str())
}
