//! Why a store cannot be used: what callers and operators must tell apart, in words that say what to do.
//!
//! The words are for operators: they name paths. Whoever called the store chooses the words for callers.

use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Somebody else has kept it busy for longer than anybody waits. The same may succeed soon.
    #[error(
        "the state in {place} cannot be used: {cause}. Another process keeps it busy: end it, or name another directory \
         with --state DIR"
    )]
    Busy { place: String, cause: String },
    /// There is no room for what would be written.
    #[error("the state in {place} cannot be used: {cause}. Make room on its disk")]
    Full { place: String, cause: String },
    /// The file is damaged, or no database at all.
    #[error(
        "the state in {place} cannot be used: {cause}. Restore a copy of it, or move it and the files toolwire.db-* beside \
         it away: requests that were repeated since would then be carried out again"
    )]
    Damaged {
        place: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A newer program has changed the tables. Nothing was touched.
    #[error(
        "the state in {place} is of a newer toolwire: {owner} has schema {version}, which this one does not know. Use that \
         one, or name another directory with --state DIR"
    )]
    Newer {
        place: String,
        /// Whose tables are newer: `the platform`, or `the domain x`.
        owner: String,
        /// The first step that is not known here.
        version: i64,
    },
    /// A step that made the tables is not the one that stands in this program. Nothing was touched.
    #[error(
        "the state in {place} was made by another version of migration {version} of {owner}. Restore the migration file as \
         it was released and put the change into a new one; in development, delete the state file"
    )]
    Changed {
        place: String,
        /// Whose tables they are: `the platform`, or `the domain x`.
        owner: String,
        /// The step that was changed.
        version: i64,
    },
    /// The tables must be changed first, and another process uses them, which may be an older program. Nothing was
    /// touched.
    #[error(
        "the state in {place} is of an older toolwire, and another process uses it. End that process, and start this one \
         again: it upgrades the state, which an older process must not write to from then on"
    )]
    InUse { place: String },
    /// The tables are not those that this program made. Nothing was touched.
    #[error(
        "the state in {place} is not of this toolwire: {owner}: {cause}. Name another directory with --state DIR"
    )]
    Foreign {
        place: String,
        /// Whose tables they should be.
        owner: String,
        /// What does not fit.
        cause: String,
    },
    /// It cannot be read or written for another reason, such as missing rights.
    #[error(
        "the state in {place} cannot be used: {cause}. Make it writable for this user, or name another directory with \
         --state DIR"
    )]
    Unavailable {
        place: String,
        /// The system's or the database's words.
        cause: String,
    },
    /// There is no state, for this reason.
    #[error("{0}")]
    Nowhere(String),
    /// A row was read, and does not say what it should. Other rows may.
    #[error(
        "a kept {what} cannot be read: {cause}. If it happens again, name another directory with --state DIR"
    )]
    Unreadable {
        /// What was kept, such as `outcome`.
        what: &'static str,
        /// Why it cannot be read.
        cause: String,
    },
    /// All connections are in use, and were for as long as anybody waits for one. The same may succeed soon.
    #[error(
        "the state was read by as many as can at once, and none of them ended in time; see who reads so much"
    )]
    Crowded,
    /// It did not answer as soon as it was needed. The same may succeed soon.
    #[error("the store did not answer in time; check whether its disk is slow")]
    Late,
}

/// An error within a transaction. [`Store::explain`](crate::Store::explain) turns it into a [`StoreError`].
#[derive(Debug)]
pub enum Error {
    Store(StoreError),
    Database(sqlx::Error),
    /// The database's error of a commit that several transactions shared.
    Shared(Arc<sqlx::Error>),
}

impl Error {
    /// A row with a value that its table cannot hold.
    pub(crate) fn unreadable(what: &'static str, cause: impl Into<String>) -> Self {
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
