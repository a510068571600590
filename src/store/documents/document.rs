//! What is kept of a document.

use std::time::SystemTime;

use toolwire_base::digest::Digest;
use toolwire_tool::context::{TaskId, UserId};

/// The tree that a task belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Its root, whose workspace all its tasks share.
    pub root: TaskId,
    pub user: UserId,
    /// Whether the task has read text from outside.
    pub tainted: bool,
}

/// A document as it stands: its last version and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub root: TaskId,
    pub path: String,
    /// Changes with every write.
    pub etag: String,
    /// What its author says of it.
    pub description: String,
    /// Its tags, sorted.
    pub tags: Vec<String>,
    /// The task that created it, or the user if a person did.
    pub created_by: String,
    pub created_at: SystemTime,
    /// Who changed it last.
    pub updated_by: String,
    pub updated_at: SystemTime,
    /// How many versions it has, which is the number of the last one.
    pub version: u32,
    /// What the last version is.
    pub content: Content,
}

/// What a version is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Of its bytes. None if it says that the document is deleted.
    pub digest: Option<Digest>,
    pub size: u64,
    pub mime_type: String,
    pub tokens: u64,
    /// Whether they are estimated.
    pub tokens_estimated: bool,
    pub summary: String,
    /// Whether whoever wrote it had read text from outside.
    pub untrusted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its number, from 1.
    pub version: u32,
    pub content: Content,
    pub written_by: String,
    pub written_at: SystemTime,
    pub why: String,
    /// The call that wrote it; empty if none did.
    pub call_id: String,
}

impl Document {
    /// Whether the last version says that it is deleted.
    pub fn is_deleted(&self) -> bool {
        self.content.digest.is_none()
    }
}
