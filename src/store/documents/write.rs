//! What is to be written.

use std::time::SystemTime;

use bytes::Bytes;

use super::{document::Content, postings::Terms, precondition::Expected};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{RequestId, TaskId, UserId};

#[derive(Clone, Debug)]
pub struct Change {
    pub root: TaskId,
    pub user: UserId,
    pub path: String,
    /// What must stand there.
    pub expected: Expected,
    /// Who writes: a task, or the user if a person does.
    pub by: String,
    pub why: String,
    /// The call that writes; empty if none does.
    pub call_id: String,
    pub now: SystemTime,
}

/// A version to be written.
#[derive(Clone, Debug)]
pub struct Put {
    /// Where, and by whom.
    pub change: Change,
    pub content: Content,
    /// Its bytes.
    pub body: Body,
    /// What the author says of it; `None`: as it is.
    pub description: Option<String>,
    /// The tags, sorted; `None`: as they are.
    pub tags: Option<Vec<String>>,
    /// The words by which it is found.
    pub terms: Terms,
    /// By which a repeat is recognised.
    pub mutation: Option<Mutation>,
}

/// Where bytes are when their version is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Here: they go into the database.
    Inline(Bytes),
    /// In a file of the state directory, or known by an earlier version.
    Kept,
}

/// A request that may be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The caller's name for it.
    pub request_id: RequestId,
    /// Digest of all that it asks for.
    pub digest: Digest,
}

/// What is to be said of a document. The etag must be the present one.
#[derive(Clone, Debug)]
pub struct Update {
    /// Where, and by whom.
    pub change: Change,
    /// What the author says of it.
    pub description: String,
    /// The tags, sorted.
    pub tags: Vec<String>,
    pub mime_type: String,
    /// The words by which it is found from now on.
    pub terms: Terms,
}

/// Bytes that may still be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemainingBytes {
    pub tree: u64,
    pub user: u64,
}
