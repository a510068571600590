//! Writes of documents.

use bytes::Bytes;

use super::{document::Content, postings::Terms, precondition::Expected};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{RequestId, TaskId, UserId};

#[derive(Clone, Debug)]
pub struct Change {
    pub root: TaskId,
    pub user: UserId,
    pub path: String,
    pub expected: Expected,
    /// The writing task, or the user if a person writes.
    pub by: String,
    pub why: String,
    /// The writing call; empty if there is none.
    pub call_id: String,
}

#[derive(Clone, Debug)]
pub struct Put {
    /// The target and the author.
    pub change: Change,
    pub content: Content,
    pub body: Body,
    /// The author's description; `None` keeps the current one.
    pub description: Option<String>,
    /// The tags, sorted; `None` keeps the current ones.
    pub tags: Option<Vec<String>>,
    /// The search terms.
    pub terms: Terms,
    /// The idempotency key and the digest of the request.
    pub mutation: Option<Mutation>,
}

/// The location of the bytes of a new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// In memory: they are inserted into the database.
    Inline(Bytes),
    /// In a file of the state directory, or already referenced by an earlier version.
    Kept,
}

/// The identity of a request that may be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The caller's idempotency key.
    pub request_id: RequestId,
    /// Digest of all fields of the request.
    pub digest: Digest,
}

/// New metadata of a document. The current etag must be stated.
#[derive(Clone, Debug)]
pub struct Update {
    /// The target and the author.
    pub change: Change,
    /// The author's description.
    pub description: String,
    /// The tags, sorted.
    pub tags: Vec<String>,
    pub mime_type: String,
    /// The search terms.
    pub terms: Terms,
}

/// Remaining quota, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemainingBytes {
    pub tree: u64,
    pub user: u64,
}
