//! What keeps a copy from being made, or put back.

use std::io;

use crate::StoreError;

/// Why a copy cannot be made, or put back.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
    /// The database cannot be read or copied.
    #[error("{place}: {error}")]
    Database { place: String, error: sqlx::Error },
    /// There is no state.
    #[error("there is no state in {0}")]
    NoState(String),
    #[error(transparent)]
    Lost(StoreError),
    /// It holds tables of somebody else, or none.
    #[error("{0} is not a state of toolwire")]
    Foreign(String),
    #[error(
        "{place} was written by an earlier toolwire: it has schema {has}, and this program knows {knows}. `toolwire serve`, \
         or any other command that uses it, brings it up to date; make a copy before, with `toolwire state backup`, and \
         check it then"
    )]
    Older {
        place: String,
        /// The last step of its tables.
        has: i64,
        /// The last step here.
        knows: i64,
    },
    #[error(
        "{place} was written by a newer toolwire: it has schema {has}, and this program knows {knows}. Use that one"
    )]
    Newer {
        place: String,
        /// The last step of its tables.
        has: i64,
        /// The last step here.
        knows: i64,
    },
    /// The directory holds something already.
    #[error("{0} is not empty: name a directory that does not exist, or an empty one")]
    NotEmpty(String),
    /// The list cannot be read.
    #[error("{place} is not a whole backup: {cause}")]
    NotWhole { place: String, cause: String },
}
