//! Documents and their versions, as they are stored.

use std::time::SystemTime;

use toolwire_base::digest::Digest;
use toolwire_tool::context::{TaskId, UserId};

/// The tree that a task belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The root, whose workspace all tasks of the tree share.
    pub root: TaskId,
    pub user: UserId,
    /// Whether the task has read untrusted text.
    pub tainted: bool,
}

/// A document: its last version and its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub root: TaskId,
    pub path: String,
    /// Changes with every write.
    pub etag: String,
    /// A description by its author.
    pub description: String,
    /// Sorted.
    pub tags: Vec<String>,
    /// The task that created it, or the user if a person did.
    pub created_by: String,
    pub created_at: SystemTime,
    /// The task or user that changed it last.
    pub updated_by: String,
    pub updated_at: SystemTime,
    /// Number of versions, which is the number of the last one.
    pub version: u32,
    /// The content of the last version.
    pub content: Content,
}

/// The content of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Digest of the bytes. `None` if the version is a tombstone.
    pub digest: Option<Digest>,
    pub size: u64,
    pub mime_type: String,
    pub tokens: u64,
    /// Whether `tokens` is an estimate.
    pub tokens_estimated: bool,
    pub summary: String,
    /// Whether it may contain untrusted text, since its author had read some.
    pub untrusted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// From 1.
    pub version: u32,
    pub content: Content,
    pub written_by: String,
    pub written_at: SystemTime,
    pub why: String,
    /// The call that wrote it; empty if there is none.
    pub call_id: String,
}

impl Document {
    /// Whether the last version is a tombstone.
    pub fn is_deleted(&self) -> bool {
        self.content.digest.is_none()
    }
}
