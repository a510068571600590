//! Refusals of authentication and authorization. Equal ones are counted in memory, and written as one record a minute,
//! so that a caller who is refused without end takes a bounded part of the state.
//!
//! Not here: what is refused, and who sees the records.

mod pending;
pub(crate) mod rows;

use std::time::SystemTime;

use toolwire_tool::context::UserId;

pub(crate) use pending::{Counted, Pending};

/// Refusals that are alike in all but time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalRecord {
    /// Its position among all records.
    pub sequence: u64,
    pub first_at: SystemTime,
    pub last_at: SystemTime,
    pub count: u64,
    /// The reason, such as `expired` or `tool_not_allowed`.
    pub reason: String,
    /// The user who was refused; empty if none was identified.
    pub user: String,
    /// How the user was authenticated; empty if none was.
    pub known_by: String,
    /// The network address.
    pub peer: Option<String>,
    pub face: String,
    /// The method, or the tool.
    pub target: String,
}

/// Criteria, combined with AND; empty ones match every record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Refusals of this user.
    pub user: Option<UserId>,
    /// Any of these reasons.
    pub reasons: Vec<String>,
    /// The last one at or after this instant.
    pub since: Option<SystemTime>,
    /// The last one before this instant.
    pub until: Option<SystemTime>,
}

/// A query of the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    /// Only those of this user. `None` for all records.
    pub seen_by: Option<UserId>,
    pub filter: Filter,
}
