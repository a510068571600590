//! The files of large blobs: in the directory `blobs` of the state, named by digest.

use std::{
    io,
    path::{Path, PathBuf},
};

use toolwire_base::digest::Digest;
use toolwire_db::StoreError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files(PathBuf);

impl Files {
    pub fn in_directory(state: &Path) -> Self {
        Self(state.join("blobs"))
    }

    /// The directory of all blobs, in folders named by the first two digits of the digest.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// The directory of files that are being written.
    pub fn unfinished(&self) -> PathBuf {
        self.0.join("tmp")
    }

    pub fn of(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        self.0.join(&name[..2]).join(name)
    }

    /// Converts an I/O error.
    pub fn failed(&self, error: &io::Error) -> StoreError {
        let (place, cause) = (self.0.display().to_string(), error.to_string());
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { place, cause },
            _ => StoreError::Unavailable { place, cause },
        }
    }
}
