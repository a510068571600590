//! Errors of backup, restore and check.

use std::io;

use crate::blobs::ReadError;
use toolwire_db::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
    #[error("{place}: {error}")]
    Database { place: String, error: sqlx::Error },
    #[error("there is no state in {0}")]
    NoState(String),
    #[error(transparent)]
    Lost(StoreError),
    /// It is another program's database, or an empty one.
    #[error("{0} is not a state of toolwire")]
    Foreign(String),
    #[error(
        "{place} was written by an earlier toolwire: it has schema {has}, and this program knows {knows}. `toolwire serve`, \
         or any other command that uses it, brings it up to date; make a copy before, with `toolwire state backup`, and \
         check it then"
    )]
    Older {
        place: String,
        /// The last migration applied to it.
        has: i64,
        /// The last migration of this program.
        knows: i64,
    },
    #[error(
        "{place} was written by a newer toolwire: it has schema {has}, and this program knows {knows}. Use that one"
    )]
    Newer {
        place: String,
        /// The last migration applied to it.
        has: i64,
        /// The last migration of this program.
        knows: i64,
    },
    #[error("{0} is not empty: name a directory that does not exist, or an empty one")]
    NotEmpty(String),
    #[error("{0} is in use: end every program on it before its state is moved")]
    InUse(String),
    #[error("{place} has a state already, in its table {table}: name another schema; nothing was moved")]
    HasRows { place: String, table: String },
    #[error("the table {0} differs at its new place; nothing was moved")]
    Differs(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] ReadError),
    /// The manifest is missing or invalid, or a file does not match it.
    #[error("{place} is not a whole backup: {cause}")]
    Incomplete { place: String, cause: String },
}
