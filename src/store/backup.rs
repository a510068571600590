//! Copies of a state directory: made while it is in use, put back into an empty directory, and a look at a directory
//! for what is not as it must be.
//!
//! A copy is the database as of one instant and the files of bytes that it names. `backup.json` is written last and
//! holds the digest of each file: a copy without it is not one.

mod check;
mod error;
mod files;

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use self::files::{copy, create, digest_of, write};
pub use self::{
    check::{Checked, check},
    error::BackupError,
};
use super::{
    StoreError,
    sqlite::{Content, inspect},
};
use toolwire_base::clock;

/// The database within a state directory.
const DATABASE: &str = "toolwire.db";

/// What a copy consists of, in the copy.
const LIST: &str = "backup.json";

/// The form of the list.
const VERSION: u32 = 1;

/// The files of bytes that a database names.
const IN_FILES: &str = "SELECT digest FROM blobs WHERE bytes IS NULL ORDER BY digest";

const HAS_FILES: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'blobs'";

/// What a copy consists of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    version: u32,
    pub program: String,
    pub made_at: String,
    pub files: Vec<Listed>,
}

/// A file of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its place within the directory.
    pub path: String,
    pub bytes: u64,
    /// SHA-256, in hex.
    pub sha256: String,
}

/// Copies the state of a directory, which may be in use, to another one.
pub async fn backup(state: &Path, to: &Path) -> Result<List, BackupError> {
    let database = database_in(state)?;
    create(to)?;
    let copied = to.join(DATABASE);
    let mut live = open(&database).await?;
    let into = sqlx::query("VACUUM INTO ?").bind(copied.display().to_string());
    into.execute(&mut live).await.map_err(|error| failed(&database, error))?;
    drop(live);
    let named = named(&copied).await?;
    // What the copy names was stored before it, and is kept for a day even if nothing names it any more.
    let mut files = vec![listed(to, DATABASE)?];
    for path in named {
        copy(&state.join(&path), &to.join(&path))?;
        files.push(listed(to, &path)?);
    }
    let list = List {
        version: VERSION,
        program: format!("toolwire {}", env!("CARGO_PKG_VERSION")),
        made_at: clock::rfc3339(clock::wall()),
        files,
    };
    let text = serde_json::to_string_pretty(&list).expect("texts and numbers are JSON");
    write(&to.join(LIST), text.as_bytes())?;
    Ok(list)
}

/// Puts a copy back into a directory that is empty. Every digest is looked at before anything is written.
pub fn restore(from: &Path, state: &Path) -> Result<List, BackupError> {
    let list = read_list(from)?;
    if !list.files.iter().any(|file| file.path == DATABASE && file.bytes > 0) {
        return Err(not_whole(from, format!("{LIST} names no {DATABASE}, or one of 0 bytes")));
    }
    for file in &list.files {
        let path = inside(from, &file.path)?;
        let (bytes, sha256) = digest_of(&path)?;
        // Apart from the database there are files of bytes, which are named by what they hold.
        if file.path != DATABASE && path.file_name().is_none_or(|name| *name != *sha256) {
            return Err(not_whole(from, format!("{} does not hold what its name says", file.path)));
        }
        if (bytes, &sha256) != (file.bytes, &file.sha256) {
            return Err(not_whole(from, format!("{} is not as it was copied", file.path)));
        }
    }
    create(state)?;
    // The database last: without it there is no state.
    for file in list.files.iter().rev() {
        copy(&from.join(&file.path), &state.join(&file.path))?;
    }
    Ok(list)
}

/// The database of a state directory, which holds something.
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

fn read_list(from: &Path) -> Result<List, BackupError> {
    let text = std::fs::read_to_string(from.join(LIST))
        .map_err(|error| not_whole(from, format!("{LIST}: {error}")))?;
    let list: List =
        serde_json::from_str(&text).map_err(|error| not_whole(from, format!("{LIST}: {error}")))?;
    if list.version != VERSION {
        let cause = format!("its form is {}, and this program knows {VERSION}", list.version);
        return Err(not_whole(from, cause));
    }
    Ok(list)
}

/// A place that does not lead out of the directory.
fn inside(directory: &Path, path: &str) -> Result<PathBuf, BackupError> {
    let is_plain = Path::new(path).components().all(|it| matches!(it, std::path::Component::Normal(_)));
    if is_plain { Ok(directory.join(path)) } else { Err(not_whole(directory, format!("it names {path}"))) }
}

fn listed(directory: &Path, path: &str) -> Result<Listed, BackupError> {
    let (bytes, sha256) = digest_of(&directory.join(path))?;
    Ok(Listed { path: path.to_owned(), bytes, sha256 })
}

/// The files of bytes that a database names, by their places.
async fn named(database: &Path) -> Result<Vec<String>, BackupError> {
    let mut connection = open(database).await?;
    let digests = async {
        // An earlier program had none.
        if sqlx::query(HAS_FILES).fetch_optional(&mut connection).await?.is_none() {
            return Ok(Vec::new());
        }
        sqlx::query_scalar::<_, Vec<u8>>(IN_FILES).fetch_all(&mut connection).await
    };
    let digests = digests.await.map_err(|error| failed(database, error))?;
    Ok(digests.iter().map(|digest| place_of(&HEXLOWER.encode(digest))).collect())
}

/// Where the bytes of a digest are, as `blobs` has it.
fn place_of(digest: &str) -> String {
    format!("blobs/{}/{digest}", &digest[..2])
}

async fn open(database: &Path) -> Result<SqliteConnection, BackupError> {
    let options = SqliteConnectOptions::new().filename(database);
    SqliteConnection::connect_with(&options).await.map_err(|error| failed(database, error))
}

fn failed(database: &Path, error: sqlx::Error) -> BackupError {
    BackupError::Database { place: database.display().to_string(), error }
}

fn not_whole(place: &Path, cause: String) -> BackupError {
    BackupError::NotWhole { place: place.display().to_string(), cause }
}
