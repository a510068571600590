//! Errors of the database, as far as callers and operators must distinguish them.
//!
//! The messages are for operators: they contain paths and say what to do. Callers of the store choose the messages for
//! their own callers.

use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another process has held the database for longer than the busy timeout. A retry may succeed.
    #[error(
        "the state in {place} cannot be used: {cause}. Another process keeps it busy: end it, or name another directory \
         with --state DIR"
    )]
    Busy { place: String, cause: String },
    /// The disk is full.
    #[error("the state in {place} cannot be used: {cause}. Make room on its disk")]
    Full { place: String, cause: String },
    /// The file is damaged, or is not a database.
    #[error(
        "the state in {place} cannot be used: {cause}. Restore a copy of it, or move it and the files toolwire.db-* beside \
         it away: requests that were repeated since would then be carried out again"
    )]
    Damaged { place: String, cause: String },
    /// The file is not the one that is open. What was written to that one is lost at the end of this process.
    #[error(
        "the state in {place} cannot be used: {cause}. Put the files back where they were, or end this process and restore \
         a copy of them: without them, requests that were repeated since would be carried out again"
    )]
    Replaced { place: String, cause: String },
    /// A newer version has migrated the tables. Nothing was changed.
    #[error(
        "the state in {place} is of a newer toolwire: {owner} has schema {version}, which this one does not know. Use that \
         one, or name another directory with --state DIR"
    )]
    Newer {
        place: String,
        /// The owner of the newer tables: `the platform`, or `the domain x`.
        owner: String,
        /// The first migration that is unknown here.
        version: i64,
    },
    /// An applied migration differs from the one in this program. Nothing was changed.
    #[error(
        "the state in {place} was made by another version of migration {version} of {owner}. Restore the migration file as \
         it was released and put the change into a new one; in development, delete the state file"
    )]
    Changed {
        place: String,
        /// The owner of the tables: `the platform`, or `the domain x`.
        owner: String,
        /// The migration that differs.
        version: i64,
    },
    /// A migration is pending that needs exclusive access, and another process, perhaps an older version, uses the
    /// file. Nothing was changed.
    #[error(
        "the state in {place} is of an older toolwire, and another process uses it. End that process, and start this one \
         again: it upgrades the state, which an older process must not write to from then on"
    )]
    InUse { place: String },
    /// The tables were not made by this program. Nothing was changed.
    #[error(
        "the state in {place} is not of this toolwire: {owner}: {cause}. Name another directory with --state DIR"
    )]
    Foreign {
        place: String,
        /// The expected owner of the tables.
        owner: String,
        cause: String,
    },
    /// Any other failure to read or write, such as missing permissions.
    #[error(
        "the state in {place} cannot be used: {cause}. Make it writable for this user, or name another directory with \
         --state DIR"
    )]
    Unavailable {
        place: String,
        /// The message of the operating system or of the database.
        cause: String,
    },
    /// The database does not answer, or cannot be connected to. A retry may succeed.
    #[error(
        "the state in {place} cannot be reached: {cause}. See whether the database runs and its address is right"
    )]
    Unreachable { place: String, cause: String },
    /// A lock or a statement took too long, because of other transactions. A retry may succeed.
    #[error("the state in {place} was too slow: {cause}. See what else uses the database")]
    Slow { place: String, cause: String },
    /// The database cannot keep the state. Nothing was changed.
    #[error("the state in {place} cannot be used: {cause}. {remedy}")]
    Refused { place: String, cause: String, remedy: String },
    /// There is no state directory, for this reason.
    #[error("{0}")]
    Nowhere(String),
    /// A row cannot be deserialised. Other rows may be readable.
    #[error(
        "a kept {what} cannot be read: {cause}. If it happens again, name another directory with --state DIR"
    )]
    Unreadable {
        /// The kind of value, such as `outcome`.
        what: &'static str,
        cause: String,
    },
    /// All connections stayed in use for longer than the acquire timeout. A retry may succeed.
    #[error(
        "the state was read by as many as can at once, and none of them ended in time; see who reads so much"
    )]
    Crowded,
    /// It did not respond in time. A retry may succeed.
    #[error("the store did not answer in time; check whether its disk is slow")]
    Late,
}

impl StoreError {
    /// Whether it prevents writes alone, as a full disk does: what is stored can be read.
    pub const fn leaves_reads(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Busy { .. } | Self::Unavailable { .. })
    }
}

/// An error within a transaction. [`Database::explain`](crate::Database::explain) turns it into a [`StoreError`].
#[derive(Debug)]
pub enum Error {
    Store(StoreError),
    Database(sqlx::Error),
    /// The error of a commit that several transactions shared.
    Shared(Arc<sqlx::Error>),
}

impl Error {
    /// The error of a row with a value that its table cannot hold.
    pub fn unreadable(what: &'static str, cause: impl Into<String>) -> Self {
        Self::Store(StoreError::Unreadable { what, cause: cause.into() })
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}
