//! What keeps a copy from being made, or put back.

use std::io;

/// Why a copy cannot be made, or put back.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The database cannot be read or copied.
    #[error("{place}: {error}")]
    Database {
        /// Which.
        place: String,
        /// Why.
        error: sqlx::Error,
    },
    /// There is no state.
    #[error("there is no state in {0}")]
    NoState(String),
    /// The directory holds something already.
    #[error("{0} is not empty: name a directory that does not exist, or an empty one")]
    NotEmpty(String),
    /// The list cannot be read.
    #[error("{place} is not a whole backup: {cause}")]
    NotWhole {
        /// Which.
        place: String,
        /// Why.
        cause: String,
    },
}
