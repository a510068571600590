//! Where large bytes are: in the directory `blobs` of the state, by their digest.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::StoreError;
use toolwire_base::digest::Digest;

/// Files in the directory of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files(PathBuf);

impl Files {
    pub fn in_directory(state: &Path) -> Self {
        Self(state.join("blobs"))
    }

    /// All of them, in folders of two digits.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// Those that are being written.
    pub fn unfinished(&self) -> PathBuf {
        self.0.join("tmp")
    }

    pub fn of(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        self.0.join(&name[..2]).join(name)
    }

    /// What the system says, as a store does.
    pub fn failed(&self, error: &io::Error) -> StoreError {
        let (place, cause) = (self.0.display().to_string(), error.to_string());
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { place, cause },
            _ => StoreError::Unavailable { place, cause },
        }
    }
}
