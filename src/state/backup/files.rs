//! File operations of backups. Written files are synced to the disk before a function returns.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    path::Path,
};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::error::BackupError;

/// Creates a directory with mode 0700. An existing one must be empty.
pub(super) fn create(directory: &Path) -> Result<(), BackupError> {
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(BackupError::NotEmpty(directory.display().to_string()));
    }
    make(directory)
}

/// Copies a file, and creates the directories above it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), BackupError> {
    if let Some(parent) = to.parent() {
        make(parent)?;
    }
    let copied = || -> io::Result<()> {
        let mut file = new_file(to)?;
        io::copy(&mut File::open(from)?, &mut file)?;
        file.sync_all()
    };
    copied().map_err(|error| failed(from, error))
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), BackupError> {
    let written = || -> io::Result<()> {
        let mut file = new_file(path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        // Also syncs the directory entry.
        path.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
    };
    written().map_err(|error| failed(path, error))
}

/// The length of a file in bytes, and its SHA-256 in hex.
pub(super) fn digest_of(path: &Path) -> Result<(u64, String), BackupError> {
    let read = || -> io::Result<_> {
        let (mut file, mut digest, mut bytes) = (File::open(path)?, Sha256::new(), 0);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let length = file.read(&mut buffer)?;
            if length == 0 {
                return Ok((bytes, HEXLOWER.encode(&digest.finalize())));
            }
            bytes += length as u64;
            digest.update(&buffer[..length]);
        }
    };
    read().map_err(|error| failed(path, error))
}

fn make(directory: &Path) -> Result<(), BackupError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory).map_err(|error| failed(directory, error))
}

fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path)
}

pub(super) fn failed(path: &Path, error: io::Error) -> BackupError {
    BackupError::File { path: path.display().to_string(), error }
}
