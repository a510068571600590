//! Settings of the data that tools read.

use std::path::PathBuf;

use super::{reader::Reader, settings::settings};
use toolwire_tool::context::UserId;

settings! {
    /// The data that tools read: `[data]`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Data in "data" {
        /// The directory of manifests and data; without it, what is built in.
        dir: Option<PathBuf> = None, "TOOLWIRE_DATA", "--data", as Reader::optional;
        /// The user of data that names none, and the caller where credentials are not required.
        default_user: UserId = "demo".parse().expect("demo is visible ASCII"), "TOOLWIRE_DEFAULT_USER";
    }
}
