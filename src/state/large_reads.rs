//! Data of large outcomes of reads, a file each in the directory `reads` of the state: in the database, writing one
//! would hold up all other commits.
//!
//! A file that is lost makes its read be made again, so files are neither synced nor copied by a backup, and the oldest
//! make room for new ones. Not here: outcomes of writes, and data that is kept as a message.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::idempotency::{Effect, Key};
use toolwire_base::{digest::Digest, offload};
use toolwire_contract::Payload;

/// Data up to this size is kept in the database.
const LARGE: usize = 256 * 1024;

/// Maximum bytes of all files together.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The files, by the key of the call. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct LargeReads(PathBuf);

impl LargeReads {
    pub(crate) fn in_directory(state: &Path) -> Self {
        Self(state.join("reads"))
    }

    /// Keeps data, and returns whether it did: small data, and what cannot be written, belongs into the database.
    pub(crate) async fn keep(&self, key: &Key, data: &Payload, now: SystemTime) -> bool {
        if !data.is_json() || data.json_text().len() <= LARGE {
            return false;
        }
        let (directory, name, data) = (self.0.clone(), name(key), data.clone());
        let work = move || {
            make_room(&directory, data.json_text().len() as u64, now)?;
            write(&directory, &name, data.json_text().as_bytes())
        };
        let kept = on_behalf(key, work).await;
        kept.inspect_err(|error| tracing::warn!(%error, "a large result of a read is kept in the database"))
            .is_ok()
    }

    /// Data that is kept.
    pub(crate) async fn read(&self, key: &Key) -> Option<Payload> {
        let path = self.0.join(name(key));
        let work = move || {
            let data = Payload::from_json(serde_json::from_slice(&fs::read(path).ok()?).ok()?);
            // Rendered here, and not first where it is sent.
            data.largest_len();
            Some(data)
        };
        on_behalf(key, work).await
    }
}

/// Does long work as part of the share of the user who made the call.
async fn on_behalf<T: Send + 'static>(key: &Key, work: impl FnOnce() -> T + Send + 'static) -> T {
    offload::on_behalf(key.user.shared(), offload::if_large(usize::MAX, work)).await
}

/// What is in an identifier of a user or a tool may not be in the name of a file.
fn name(key: &Key) -> String {
    Digest::of_parts([key.user.as_str(), key.tool.as_str(), &key.request_id.to_string()]).to_string()
}

/// Deletes what has expired, and then the oldest files until there is room for this many bytes more.
fn make_room(directory: &Path, bytes: u64, now: SystemTime) -> io::Result<()> {
    create(directory)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        // Another process may have deleted it.
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else { continue };
        files.push((metadata.modified()?, metadata.len(), entry.path()));
    }
    files.sort_unstable();
    let expired = now - Effect::Read.retention();
    let mut excess = files.iter().map(|(_, length, _)| length).sum::<u64>() + bytes;
    for (modified, length, path) in files {
        if modified > expired && excess <= MAX_BYTES {
            break;
        }
        let _ = fs::remove_file(path);
        excess -= length;
    }
    Ok(())
}

/// A reader finds all of a file or none of it.
fn write(directory: &Path, name: &str, data: &[u8]) -> io::Result<()> {
    let unfinished = directory.join(format!("{name}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&unfinished)?.write_all(data)?;
    fs::rename(&unfinished, directory.join(name)).inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

fn create(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}
