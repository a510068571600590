//! The documents that the tasks of a tree share (spec 002), by version: kept for good, never overwritten.
//!
//! Not here: bytes (`blobs`), what a path or a type may be, and whose workspace it is (`workspace`). There is no store
//! of this in memory: tests take a database of their own.

mod criteria;
mod document;
mod postings;
mod precondition;
mod refused;
mod write;

use std::time::Duration;

pub(crate) use self::postings::{BLOCKS, block, parse_positions, parse_weights, text_before};
pub use self::{
    criteria::{Criteria, Matches, Term},
    document::{Content, Document, Tree, Version},
    postings::{Posting, Terms},
    precondition::{Etags, Expected, Precondition},
    refused::{Quota, Refused},
    write::{Body, Change, Mutation, Put, RemainingBytes, Update},
};

/// The most bytes of a document.
pub const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// The most documents of a tree, deleted ones among them.
pub const MAX_DOCUMENTS: u64 = 10_000;

/// The most bytes of all versions of a tree's documents.
pub const MAX_TREE_BYTES: u64 = 1 << 30;

/// The most bytes of all versions of a user's documents.
pub const MAX_USER_BYTES: u64 = 5 << 30;

/// The most versions of a document.
pub const MAX_VERSIONS: u32 = 1_000;

/// The documents of a tree that does not begin are kept so long: it has them before it is there.
pub const UNBEGUN_KEPT: Duration = Duration::from_hours(24);

/// What a write came to: the document, or why nothing was written.
pub type Outcome = Result<Document, Refused>;
