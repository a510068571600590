//! The documents that the tasks of a tree share (spec 002), by version: kept for good, never overwritten.
//!
//! Not here: bytes (`blobs`), what a path or a type may be, and whose workspace it is (`workspace`). There is no store
//! of this in memory: tests take a database of their own.

mod criteria;
mod document;
mod precondition;
mod refused;
mod write;

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;

pub use self::{
    criteria::{Criteria, Found, Postings, Wanted},
    document::{Content, Document, Tree, Version},
    precondition::{Etags, Expected, Precondition},
    refused::{Quota, Refused},
    write::{Body, Change, Free, Mutation, Put, Terms, Update},
};
use super::{StoreError, secret::Secret};
use toolwire_tool::context::{RequestId, TaskId};

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

/// Keeps documents.
///
/// `root` is always the root of a tree that the caller may use; who may is decided above, by [`Documents::tree`].
pub trait Documents: Secret + Send + Sync + std::fmt::Debug {
    /// The tree of a task, if there is such a task.
    fn tree<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<Option<Tree>, StoreError>>;

    /// How much room there is for a version, or why there will be none: said before its bytes come. A request that may
    /// be a repeat is let pass.
    fn room<'a>(
        &'a self,
        change: &'a Change,
        request_id: Option<RequestId>,
    ) -> BoxFuture<'a, Result<Result<Free, Refused>, StoreError>>;

    /// Writes a version, whose bytes are kept already or come along.
    fn put<'a>(&'a self, put: &'a Put) -> BoxFuture<'a, Result<Outcome, StoreError>>;

    /// Changes what is said of a document.
    fn update<'a>(&'a self, update: &'a Update) -> BoxFuture<'a, Result<Outcome, StoreError>>;

    /// Writes a version that says that a document is deleted. One that is deleted already stays as it is.
    fn delete<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<Outcome, StoreError>>;

    /// A document, be it deleted.
    fn find<'a>(
        &'a self,
        root: &'a TaskId,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Option<Document>, StoreError>>;

    /// Paths of documents that are not deleted, in the neighbourhood of a path.
    fn near<'a>(&'a self, root: &'a TaskId, path: &'a str) -> BoxFuture<'a, Result<Vec<String>, StoreError>>;

    /// The documents that pass, by path, after the given one.
    fn list<'a>(
        &'a self,
        root: &'a TaskId,
        criteria: &'a Criteria,
        after: &'a str,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>>;

    /// Versions of a document, the newest first, below the given number.
    fn versions<'a>(
        &'a self,
        root: &'a TaskId,
        path: &'a str,
        below: u32,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Version>, StoreError>>;

    /// Where words stand in the documents of a tree.
    fn postings<'a>(
        &'a self,
        root: &'a TaskId,
        wanted: &'a [Wanted],
    ) -> BoxFuture<'a, Result<Postings, StoreError>>;

    /// Forgets the documents of a tree that did not begin. Of one that there is, nothing is forgotten.
    fn abandon<'a>(&'a self, root: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Forgets, some at a time, the documents of trees that never began and to which nothing was added for
    /// [`UNBEGUN_KEPT`]. Whether there may be more.
    fn sweep_documents(&self, now: SystemTime) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Those of these documents that pass, in any order.
    fn among<'a>(
        &'a self,
        root: &'a TaskId,
        ids: &'a [i64],
        criteria: &'a Criteria,
    ) -> BoxFuture<'a, Result<Vec<Found>, StoreError>>;
}
