//! Backups of a state directory: made while it is in use, restored into an empty directory, and a consistency check of
//! a directory. A state is moved to PostgreSQL by [`transfer`].
//!
//! A backup is a snapshot of the database and the blob files that it references. `backup.json` is written last and
//! holds the digest of each file: a directory without it is not a complete backup.

mod check;
mod error;
mod files;
mod transfer;

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use self::files::{copy, create, digest_of, write};
pub use self::{
    check::{Report, check, check_opened},
    error::BackupError,
    transfer::{Moved, transfer},
};
use toolwire_base::clock;
use toolwire_db::{
    Content, Error, StoreError, inspect,
    sql::{Connection, Statement, sql},
};

const DATABASE: &str = "toolwire.db";

/// The manifest, within a backup.
const MANIFEST: &str = "backup.json";

/// The format version of the manifest.
const VERSION: u32 = 1;

/// The blobs that are stored in files.
const FILE_BLOBS: &str = "SELECT digest FROM blobs WHERE bytes IS NULL ORDER BY digest";

const HAS_FILES: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'blobs'";

/// The manifest of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    version: u32,
    pub program: String,
    pub made_at: String,
    pub files: Vec<ManifestFile>,
}

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    /// Its path relative to the directory.
    pub path: String,
    pub bytes: u64,
    /// SHA-256, in hex.
    pub sha256: String,
}

/// Backs up a state directory, which may be in use, to another directory.
pub async fn backup(state: &Path, to: &Path) -> Result<Manifest, BackupError> {
    let database = database_in(state)?;
    create(to)?;
    let copied = to.join(DATABASE);
    let mut live = open(&database).await?;
    let into: Statement = sql!("VACUUM INTO {copied.display().to_string()}");
    into.run(&mut live).await.map_err(|error| failed(&database, error))?;
    drop(live);
    let blobs = blob_paths(&copied).await?;
    // Blobs that the snapshot references were stored before it, and are retained for a day even if they lose their last
    // reference.
    let mut files = vec![describe(to, DATABASE)?];
    for path in blobs {
        copy(&state.join(&path), &to.join(&path))?;
        files.push(describe(to, &path)?);
    }
    let manifest = Manifest {
        version: VERSION,
        program: format!("toolwire {}", env!("CARGO_PKG_VERSION")),
        made_at: clock::rfc3339(clock::wall()),
        files,
    };
    let text = serde_json::to_string_pretty(&manifest).expect("texts and numbers are JSON");
    write(&to.join(MANIFEST), text.as_bytes())?;
    Ok(manifest)
}

/// Restores a backup into an empty directory. Every digest is verified before anything is written.
pub fn restore(from: &Path, state: &Path) -> Result<Manifest, BackupError> {
    let manifest = read_manifest(from)?;
    if !manifest.files.iter().any(|file| file.path == DATABASE && file.bytes > 0) {
        return Err(incomplete(from, format!("{MANIFEST} names no {DATABASE}, or one of 0 bytes")));
    }
    for file in &manifest.files {
        let path = join_inside(from, &file.path)?;
        let (bytes, sha256) = digest_of(&path)?;
        // All other files are blobs, whose names are their digests.
        if file.path != DATABASE && path.file_name().is_none_or(|name| *name != *sha256) {
            return Err(incomplete(from, format!("{} does not hold what its name says", file.path)));
        }
        if (bytes, &sha256) != (file.bytes, &file.sha256) {
            return Err(incomplete(from, format!("{} is not as it was copied", file.path)));
        }
    }
    create(state)?;
    // The database comes last: without it, an interrupted restore is not a state.
    for file in manifest.files.iter().rev() {
        copy(&from.join(&file.path), &state.join(&file.path))?;
    }
    Ok(manifest)
}

/// The non-empty database of a state directory.
fn database_in(state: &Path) -> Result<PathBuf, BackupError> {
    let database = state.join(DATABASE);
    match inspect(state).map_err(|error| files::failed(&database, error))? {
        Content::Database if database.is_file() => Ok(database),
        Content::Database | Content::Nothing => Err(BackupError::NoState(state.display().to_string())),
        Content::Lost(cause) => Err(BackupError::Lost(StoreError::Damaged {
            place: database.display().to_string(),
            cause: cause.to_owned(),
        })),
    }
}

fn read_manifest(from: &Path) -> Result<Manifest, BackupError> {
    let text = std::fs::read_to_string(from.join(MANIFEST))
        .map_err(|error| incomplete(from, format!("{MANIFEST}: {error}")))?;
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|error| incomplete(from, format!("{MANIFEST}: {error}")))?;
    if manifest.version != VERSION {
        let cause = format!("its form is {}, and this program knows {VERSION}", manifest.version);
        return Err(incomplete(from, cause));
    }
    Ok(manifest)
}

/// Joins a relative path that does not lead out of the directory.
fn join_inside(directory: &Path, path: &str) -> Result<PathBuf, BackupError> {
    let is_plain = Path::new(path).components().all(|it| matches!(it, std::path::Component::Normal(_)));
    if is_plain { Ok(directory.join(path)) } else { Err(incomplete(directory, format!("it names {path}"))) }
}

fn describe(directory: &Path, path: &str) -> Result<ManifestFile, BackupError> {
    let (bytes, sha256) = digest_of(&directory.join(path))?;
    Ok(ManifestFile { path: path.to_owned(), bytes, sha256 })
}

/// The paths of the blob files that a database references.
async fn blob_paths(database: &Path) -> Result<Vec<String>, BackupError> {
    let mut connection = open(database).await?;
    let digests = async {
        // Databases of early versions have no such table.
        let has_files: Statement<i64> = sql!("{..HAS_FILES}");
        if has_files.optional(&mut connection).await?.is_none() {
            return Ok(Vec::new());
        }
        let digests: Statement<Vec<u8>> = sql!("{..FILE_BLOBS}");
        digests.all(&mut connection).await
    };
    let digests = digests.await.map_err(|error| failed(database, error))?;
    Ok(digests.iter().map(|digest| blob_path(&HEXLOWER.encode(digest))).collect())
}

/// The path of a blob file, as defined by `blobs`.
fn blob_path(digest: &str) -> String {
    format!("blobs/{}/{digest}", &digest[..2])
}

async fn open(database: &Path) -> Result<Connection, BackupError> {
    let options = SqliteConnectOptions::new().filename(database);
    let open =
        async { SqlitePoolOptions::new().max_connections(1).connect_with(options).await?.acquire().await };
    open.await.map(Connection::from).map_err(|error| failed(database, error.into()))
}

fn failed(database: &Path, error: Error) -> BackupError {
    let error = match error {
        Error::Database(error) => error,
        Error::Store(error) => sqlx::Error::Decode(Box::new(error)),
        Error::Shared(error) => sqlx::Error::Decode(Box::new(error)),
    };
    BackupError::Database { place: database.display().to_string(), error }
}

fn incomplete(place: &Path, cause: String) -> BackupError {
    BackupError::Incomplete { place: place.display().to_string(), cause }
}
