//! Where the state is.

use std::path::PathBuf;

/// The file in the state directory.
pub(super) const FILE: &str = "toolwire.db";

/// Where the state is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In a file of this directory.
    Directory(PathBuf),
    /// Nowhere but in this process.
    Memory,
    /// It has no place, for the given reason.
    Nowhere(String),
}

impl Place {
    /// How operators find it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Directory(directory) => directory.join(FILE).display().to_string(),
            Self::Memory | Self::Nowhere(_) => "memory".to_owned(),
        }
    }
}
