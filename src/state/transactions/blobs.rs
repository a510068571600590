//! Blobs: small ones in their row, others in files beside the database or, on PostgreSQL, in chunks in it. A state in
//! memory, which is for tests, has all of them in their rows.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use tokio::task::spawn_blocking;

use crate::{
    Store,
    blobs::{Chunks, Files, Place, ReadError, Sink, Source, Stored, Swept, rows},
};
use toolwire_base::digest::Digest;
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};

/// A write of a blob counts as abandoned after this time.
const UNFINISHED_RETENTION: Duration = Duration::from_hours(1);

/// How long unreferenced blobs are retained: a write may be about to reference them, and a backup may be copying their
/// files.
const ORPHAN_RETENTION: Duration = Duration::from_hours(24);

/// Maximum number of files inspected, and of rows deleted, by one transaction, so that other transactions run in
/// between.
const FILES_AT_ONCE: usize = 100;
const ROWS_AT_ONCE: u32 = 500;

impl Store {
    /// Begins to write a blob, which is not retained until a row references it.
    pub async fn begin_blob(&self) -> Result<Sink, StoreError> {
        // Opens the state, which creates its directory, and fails before any byte is received if it cannot be used.
        let place = match (self.chunks().await?, self.files()) {
            (Some(chunks), _) => Place::Chunks(chunks),
            (None, Some(files)) => Place::Files(files),
            (None, None) => Place::Memory,
        };
        Ok(Sink::new(place, self.pins.clone()))
    }

    /// Opens a blob at an offset; `None` if there is no such blob.
    pub async fn open_blob(&self, digest: &Digest, from: u64) -> Result<Option<Source>, ReadError> {
        let Some(blob) = self.fetch_optional(rows::find(digest)).await? else { return Ok(None) };
        match (blob.bytes, self.files()) {
            (Some(bytes), _) => Source::of_bytes(*digest, &Bytes::from(bytes), from).map(Some),
            (None, Some(files)) => {
                Source::of_file(*digest, files.of(digest), blob.size, from).await.map(Some)
            }
            (None, None) => self.open_chunks(*digest, blob.size, from).await.map(Some),
        }
    }

    /// Opens a stored blob that no row references yet.
    pub async fn reopen_blob(&self, stored: &Stored) -> Result<Source, ReadError> {
        match (&stored.inline, self.files()) {
            (Some(bytes), _) => Source::of_bytes(stored.digest, bytes, 0),
            (None, Some(files)) => {
                Source::of_file(stored.digest, files.of(&stored.digest), stored.size, 0).await
            }
            (None, None) => self.open_chunks(stored.digest, stored.size, 0).await,
        }
    }

    async fn open_chunks(&self, digest: Digest, size: u64, from: u64) -> Result<Source, ReadError> {
        let chunks = self.chunks().await?.ok_or(ReadError::Damaged(digest))?;
        Ok(Source::of_chunks(digest, chunks, size, from))
    }

    /// Deletes a stored blob, unless something else references or pins it.
    pub async fn discard_blob(&self, stored: Stored) -> Result<(), StoreError> {
        let (Some(pin), Some(files)) = (&stored.pin, self.files()) else { return Ok(()) };
        let (digest, path) = (&stored.digest, &files.of(&stored.digest));
        // Within a transaction, so that no other process references the file between the check and its deletion.
        // Deletion is idempotent.
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            if rows::is_in_file(digest).optional(tx).await? != Some(true) {
                // A file that cannot be deleted is left to the sweep.
                pin.if_alone(|| fs::remove_file(path).ok());
            }
            Ok(())
        })
    }

    /// Deletes unreferenced blobs.
    pub async fn sweep_blobs(&self) -> Result<Swept, StoreError> {
        self.check_clock().await?;
        let now = self.now();
        let mut swept =
            Swept { rows: self.delete_unused_rows(now - ORPHAN_RETENTION).await?, ..Swept::default() };
        if let Some(chunks) = self.chunks().await? {
            let deleted = chunks.sweep(now - UNFINISHED_RETENTION).await?;
            swept.unfinished += usize::try_from(deleted).unwrap_or_default();
        }
        let Some(files) = self.files() else { return Ok(swept) };
        let unfinished = files.unfinished();
        let old = list_files(&files, move |_| list_old(&unfinished, now, UNFINISHED_RETENTION)).await?;
        for (path, _) in old {
            swept.unfinished += usize::from(fs::remove_file(path).is_ok());
        }
        let old = list_files(&files, move |files| list_old_blobs(files, now)).await?;
        for batch in old.chunks(FILES_AT_ONCE) {
            swept.orphans += self.unlink_orphans(batch).await?;
        }
        Ok(swept)
    }

    async fn delete_unused_rows(&self, before: SystemTime) -> Result<usize, StoreError> {
        let mut count = 0;
        loop {
            let deleted = self.transact(Lane::Platform, Durability::Process, |tx| {
                scoped(rows::delete_unused(before, ROWS_AT_ONCE).execute(tx))
            });
            let deleted = deleted.await?;
            count += usize::try_from(deleted).unwrap_or_default();
            if deleted == 0 {
                return Ok(count);
            }
        }
    }

    /// Deletes within a transaction, so that no other process references a file between the check and its deletion.
    /// Deletion is idempotent.
    async fn unlink_orphans(&self, files: &[(PathBuf, Digest)]) -> Result<usize, StoreError> {
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            let mut count = 0;
            for (path, digest) in files {
                let is_referenced = rows::is_in_file(digest).optional(tx).await? == Some(true);
                count += usize::from(!is_referenced && fs::remove_file(path).is_ok());
            }
            Ok(count)
        })
    }

    /// The chunks of large blobs; `None` if the database has none. Opens the state.
    async fn chunks(&self) -> Result<Option<Chunks>, StoreError> {
        self.ensure_open().await?;
        Ok(self.autocommit().await?.map(Chunks))
    }

    /// The files of large blobs; `None` if all blobs are in the database.
    pub(super) fn files(&self) -> Option<Files> {
        self.directory().map(Files::in_directory)
    }
}

/// Adds a reference by a version that is inserted in the same transaction, and returns whether the blob exists.
pub(super) async fn add_use(tx: &mut Tx, stored: &Stored, files: Option<&Files>) -> Result<bool, Error> {
    let now = tx.now();
    let is_in_file = rows::is_in_file(&stored.digest).optional(tx).await?;
    if is_in_file.unwrap_or(stored.inline.is_none()) {
        let is_there = match files {
            // One `stat`, which is short enough to block for.
            Some(files) => files.of(&stored.digest).exists(),
            // Chunks are there as long as their row is.
            None => is_in_file.is_some(),
        };
        if !is_there {
            return Ok(false);
        }
    }
    tx.adds(stored.inline.as_ref().map_or(0, Bytes::len));
    rows::add_use(&stored.digest, stored.size, stored.inline.as_ref(), now).run(tx).await?;
    Ok(true)
}

/// Paths of files, each with the digest that its name encodes.
type BlobFiles = Vec<(PathBuf, Digest)>;

/// Lists files on the blocking thread pool.
async fn list_files(
    files: &Files,
    list: impl FnOnce(&Files) -> io::Result<BlobFiles> + Send + 'static,
) -> Result<BlobFiles, StoreError> {
    let files = files.clone();
    let list = spawn_blocking(move || list(&files).map_err(|error| files.failed(&error)));
    list.await.map_err(|_| StoreError::Late)?
}

/// Lists the old blob files, in the folders that are named by two digits.
fn list_old_blobs(files: &Files, now: SystemTime) -> io::Result<BlobFiles> {
    let mut found = Vec::new();
    for folder in entries(files.root())? {
        if folder.file_name().is_some_and(|name| name.len() == 2) {
            found.extend(list_old(&folder, now, ORPHAN_RETENTION)?);
        }
    }
    // Ignores files of other names, which are not blobs.
    found.retain(|(path, digest)| *path == files.of(digest));
    Ok(found)
}

/// Lists the files of a folder that were last modified at least `retention` ago. A name that encodes no digest counts
/// as that of the digest of the name.
fn list_old(folder: &Path, now: SystemTime, retention: Duration) -> io::Result<BlobFiles> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        let Ok(modified) = fs::metadata(&path).and_then(|metadata| metadata.modified()) else { continue };
        if modified + retention <= now {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let digest = Digest::from_hex(name).unwrap_or_else(|| Digest::of_bytes(name.as_bytes()));
            found.push((path, digest));
        }
    }
    Ok(found)
}

/// The entries of a folder; none if it does not exist.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
