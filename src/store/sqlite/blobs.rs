//! Bytes by their digest: small ones in the database, others in files beside it, or all in the database if there is no
//! directory, which is for tests.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use sqlx::Row;
use tokio::task::spawn_blocking;

use super::{
    Change, Durability, Failed, Sqlite,
    place::Place,
    time::{length, millis},
};
use crate::{
    StoreError,
    blobs::{Blobs, Files, ReadError, Sink, Source, Stored, Swept},
};
use toolwire_base::digest::Digest;

const KEEP: &str = "INSERT INTO blobs (digest, size, bytes, uses, touched_at) VALUES (?, ?, ?, 0, ?) \
                    ON CONFLICT (digest) DO UPDATE SET touched_at = excluded.touched_at";

const FIND: &str = "SELECT size, bytes FROM blobs WHERE digest = ?";

const IN_FILE: &str = "SELECT bytes IS NULL FROM blobs WHERE digest = ?";

/// What nothing names any more, a few at a time: nobody else can write meanwhile.
const FORGET: &str = "DELETE FROM blobs WHERE digest IN \
                      (SELECT digest FROM blobs WHERE uses = 0 AND touched_at <= ? LIMIT 500) RETURNING 1";

const IS_NAMED: &str = "SELECT EXISTS (SELECT 1 FROM blobs WHERE digest = ? AND bytes IS NULL)";

/// A write that lasts longer is over, one way or the other.
const UNFINISHED_KEPT: Duration = Duration::from_hours(1);

/// What is to be named has so long, and whoever copies the files of a backup too.
const ORPHANS_KEPT: Duration = Duration::from_hours(24);

/// So many files are looked at in one transaction.
const AT_ONCE: usize = 100;

impl Blobs for Sqlite {
    fn begin(&self) -> BoxFuture<'_, Result<Sink, StoreError>> {
        Box::pin(async move {
            // So that the directory is there, and a state that cannot be used says so before any byte comes.
            self.readers().await?;
            Ok(Sink::new(self.files(), self.pins.clone()))
        })
    }

    fn open<'a>(&'a self, digest: &'a Digest, from: u64) -> BoxFuture<'a, Result<Option<Source>, ReadError>> {
        Box::pin(self.opened(digest, from))
    }

    fn reopen<'a>(&'a self, stored: &'a Stored) -> BoxFuture<'a, Result<Source, ReadError>> {
        Box::pin(async move {
            match (&stored.inline, self.files()) {
                (Some(bytes), _) => Source::of_bytes(stored.digest, bytes, 0),
                (None, Some(files)) => {
                    Source::of_file(stored.digest, files.of(&stored.digest), stored.size, 0).await
                }
                (None, None) => Err(ReadError::Damaged(stored.digest)),
            }
        })
    }

    fn discard(&self, stored: Stored) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.discarded(&stored).await) })
    }

    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<Swept, StoreError>> {
        Box::pin(async move { self.explain(self.swept(now).await) })
    }
}

/// Keeps bytes for what names them in the same transaction. Whether they are there.
pub(super) async fn keep(
    change: &mut Change,
    stored: &Stored,
    files: Option<&Files>,
    now: i64,
) -> Result<bool, Failed> {
    let digest = stored.digest.as_bytes().to_vec();
    let known: Option<bool> =
        sqlx::query_scalar(IN_FILE).bind(digest.clone()).fetch_optional(&mut **change).await?;
    let needs_file = known.unwrap_or(stored.inline.is_none());
    if needs_file {
        // A look, not a read: it waits for nothing.
        let path = files.map(|files| files.of(&stored.digest));
        if !path.is_some_and(|path| path.exists()) {
            return Ok(false);
        }
    }
    change.adds(stored.inline.as_ref().map_or(0, Bytes::len));
    let keep = sqlx::query(KEEP)
        .bind(digest)
        .bind(i64::try_from(stored.size).unwrap_or(i64::MAX))
        .bind(stored.inline.as_ref().map(|bytes| bytes.to_vec()))
        .bind(now);
    keep.execute(&mut **change).await?;
    Ok(true)
}

impl Sqlite {
    /// Where large bytes are; `None` if they are in the database.
    pub(super) fn files(&self) -> Option<Files> {
        match &self.place {
            Place::Directory(directory) => Some(Files::in_directory(directory)),
            Place::Memory | Place::Nowhere(_) => None,
        }
    }

    async fn opened(&self, digest: &Digest, from: u64) -> Result<Option<Source>, ReadError> {
        let row = sqlx::query(FIND).bind(digest.as_bytes().to_vec());
        let row = row.fetch_optional(self.readers().await?).await;
        let Some(row) = self.explain(row.map_err(Failed::from))? else { return Ok(None) };
        let columns = || -> Result<(i64, Option<Vec<u8>>), sqlx::Error> {
            Ok((row.try_get("size")?, row.try_get("bytes")?))
        };
        let (size, bytes) = self.explain(columns().map_err(Failed::from))?;
        match (bytes, self.files()) {
            (Some(bytes), _) => Source::of_bytes(*digest, &Bytes::from(bytes), from).map(Some),
            (None, Some(files)) => {
                let size = u64::try_from(size).unwrap_or_default();
                Source::of_file(*digest, files.of(digest), size, from).await.map(Some)
            }
            (None, None) => Err(ReadError::Damaged(*digest)),
        }
    }

    /// Within a write transaction, so that another process does not name it meanwhile.
    async fn discarded(&self, stored: &Stored) -> Result<(), Failed> {
        let (Some(pin), Some(files)) = (&stored.pin, self.files()) else { return Ok(()) };
        let mut change = self.change(Durability::Process).await?;
        let is_named = sqlx::query_scalar(IS_NAMED).bind(stored.digest.as_bytes().to_vec());
        let is_named: bool = is_named.fetch_one(&mut *change).await?;
        if !is_named {
            // What is there no more is what is wanted; what stays is swept.
            pin.if_alone(|| fs::remove_file(files.of(&stored.digest)).ok());
        }
        change.commit().await
    }

    async fn swept(&self, now: SystemTime) -> Result<Swept, Failed> {
        let mut swept = Swept::default();
        loop {
            let mut change = self.change(Durability::Process).await?;
            let forget = sqlx::query(FORGET).bind(millis(now) - length(ORPHANS_KEPT));
            let rows = forget.fetch_all(&mut *change).await?.len();
            change.commit().await?;
            swept.rows += rows;
            if rows == 0 {
                break;
            }
        }
        let Some(files) = self.files() else { return Ok(swept) };
        let unfinished = files.unfinished();
        let old = listed(&files, move |_| old_in(&unfinished, now, UNFINISHED_KEPT)).await?;
        for (path, _) in old {
            swept.unfinished += usize::from(fs::remove_file(path).is_ok());
        }
        let named = listed(&files, move |files| old_named(files, now)).await?;
        for some in named.chunks(AT_ONCE) {
            swept.orphans += self.unlink_orphans(some).await?;
        }
        Ok(swept)
    }

    /// Within a write transaction, so that none is named meanwhile.
    async fn unlink_orphans(&self, files: &[(PathBuf, Digest)]) -> Result<usize, Failed> {
        let mut change = self.change(Durability::Process).await?;
        let mut count = 0;
        for (path, digest) in files {
            let is_named = sqlx::query_scalar(IS_NAMED).bind(digest.as_bytes().to_vec());
            let is_named: bool = is_named.fetch_one(&mut *change).await?;
            count += usize::from(!is_named && fs::remove_file(path).is_ok());
        }
        change.commit().await?;
        Ok(count)
    }
}

type Named = Vec<(PathBuf, Digest)>;

/// Looks through files beside the threads that carry calls.
async fn listed(
    files: &Files,
    look: impl FnOnce(&Files) -> io::Result<Named> + Send + 'static,
) -> Result<Named, StoreError> {
    let files = files.clone();
    let looked = spawn_blocking(move || look(&files).map_err(|error| files.failed(&error)));
    looked.await.map_err(|_| StoreError::Late)?
}

/// Old files of every folder of two digits.
fn old_named(files: &Files, now: SystemTime) -> io::Result<Named> {
    let mut found = Vec::new();
    for folder in entries(files.root())? {
        if folder.file_name().is_some_and(|name| name.len() == 2) {
            found.extend(old_in(&folder, now, ORPHANS_KEPT)?);
        }
    }
    found.retain(|(path, digest)| *path == files.of(digest));
    Ok(found)
}

/// The files of a folder that were last changed so long ago, with the digest that is their name, if it is one.
fn old_in(folder: &Path, now: SystemTime, kept: Duration) -> io::Result<Named> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        let Ok(changed) = fs::metadata(&path).and_then(|of| of.modified()) else { continue };
        if changed + kept <= now {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let digest = Digest::from_hex(name).unwrap_or_else(|| Digest::of_bytes(name.as_bytes()));
            found.push((path, digest));
        }
    }
    Ok(found)
}

/// What is in a folder; nothing if there is none.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
