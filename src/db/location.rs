//! The location of the state.

use std::{path::PathBuf, sync::Arc};

use crate::postgres::Address;

/// The database file, within the state directory.
pub(crate) const FILE: &str = "toolwire.db";

#[derive(Clone, Debug)]
pub(crate) enum Location {
    /// A file in this directory.
    Directory(PathBuf),
    /// The memory of this process.
    Memory,
    Postgres(Arc<Address>),
    /// There is no state, for this reason.
    Unavailable(String),
}

impl Location {
    /// The location as shown to operators.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Directory(directory) => directory.join(FILE).display().to_string(),
            Self::Postgres(address) => address.to_string(),
            Self::Memory | Self::Unavailable(_) => "memory".to_owned(),
        }
    }
}
