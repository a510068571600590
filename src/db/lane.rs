//! Which transactions exclude each other.

use toolwire_tool::context::UserId;

/// The set of rows that a transaction reads and changes. Transactions of one lane exclude each other on every database;
/// on SQLite, which has one writer, all do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane<'a> {
    /// Calls, confirmations, tasks, documents, sessions, jobs and audit records of a user.
    User(&'a UserId),
    /// The same of each of these users.
    Users(&'a [UserId]),
    /// The same of users that are found within the transaction. It waits for the transactions of all users.
    AllUsers,
    /// Reservations, hold-offs and cool-downs of a source.
    Source(&'a str),
    /// Rows of no single user or source, such as those of a sweep or of the cache.
    Platform,
}
