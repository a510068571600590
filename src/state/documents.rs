//! The documents that the tasks of a tree share: versioned, append-only.
//!
//! Not here: bytes (`blobs`), validation of paths and types, and access to workspaces (`workspace`). There is no
//! in-memory implementation: tests use a database of their own.

mod criteria;
mod document;
mod postings;
mod precondition;
mod refusal;
pub(crate) mod rows;
mod write;

use std::time::Duration;

pub(crate) use self::postings::{BLOCKS, block, parse_positions, parse_weights, text_before};
pub use self::{
    criteria::{Criteria, Matches, Term},
    document::{Content, Document, Tree, Version},
    postings::{Posting, Terms},
    precondition::{Etags, Expected, Precondition},
    refusal::{Quota, Refused},
    write::{Body, Change, Mutation, Put, RemainingBytes, Update},
};

/// Maximum bytes of a document.
pub const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// Maximum number of documents in a tree, including deleted ones.
pub const MAX_DOCUMENTS: u64 = 10_000;

/// Maximum bytes of all versions of a tree's documents.
pub const MAX_TREE_BYTES: u64 = 1 << 30;

/// Maximum bytes of all versions of a user's documents.
pub const MAX_USER_BYTES: u64 = 5 << 30;

/// Maximum number of versions of a document.
pub const MAX_VERSIONS: u32 = 1_000;

/// How long documents of a tree that has not begun are retained. They are put before the tree exists.
pub const UNBEGUN_RETENTION: Duration = Duration::from_hours(24);

/// The result of a write: the document, or why nothing was written.
pub type Outcome = Result<Document, Refused>;
