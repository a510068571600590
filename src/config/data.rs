//! Settings of the data that tools read.

use std::path::PathBuf;

use super::{reader::Reader, setting::Setting};
use toolwire_tool::context::UserId;

/// The data that tools read: `[data]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The directory of manifests and data; without it, what is built in. `--data`, `TOOLWIRE_DATA`, default none.
    pub dir: Option<PathBuf>,
    /// Whose the data is that names no user, and who calls when nobody needs credentials.
    /// `TOOLWIRE_DEFAULT_USER`, default `demo`.
    pub default_user: UserId,
}

impl Default for Data {
    fn default() -> Self {
        Self { dir: None, default_user: "demo".parse().expect("demo is visible ASCII") }
    }
}

impl Data {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let dir = Setting::new("data.dir", "TOOLWIRE_DATA").flag("--data");
        let default_user = Setting::new("data.default_user", "TOOLWIRE_DEFAULT_USER");
        let default = Self::default();
        Self {
            dir: reader.optional(dir, None),
            default_user: reader.value(default_user, default.default_user),
        }
    }
}
