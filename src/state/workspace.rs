//! The workspace of a tree of tasks: the documents that its tasks share, isolated from every other tree.
//!
//! Everything derived from a document (type, tokens, summary, blocks, search terms) is a pure, total function of its
//! bytes. [`Workspace`] stores and finds documents; [`WorkspaceHandle`] is the part of it that one task may access, and
//! the only way to access it.

pub mod blocks;
mod change;
mod copy;
pub mod image;
mod index;
pub mod mime;
pub mod passages;
pub mod path;
mod put;
pub mod query;
mod quota;
mod read;
mod search;
mod snippet;
pub mod summary;
pub mod sweep;
pub mod terms;
mod text;
mod uploads;
pub mod utf8;

use std::{sync::Arc, time::Duration};

use self::uploads::Uploads;
pub use self::{
    change::Edit,
    put::{Header, Upload},
    read::{Content, ReadOptions},
    search::{Hit, Hits},
};
use crate::{
    Store,
    blobs::ReadError,
    documents::{Change, Criteria, Document, Expected, Refused, Tree, Version},
};
use toolwire_base::offload;
use toolwire_contract::{DocumentRefusal, near};
use toolwire_db::StoreError;
use toolwire_tool::context::{TaskId, User, UserId};

/// The delay before a retry after the store has failed.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The documents of all trees. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspace(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Arc<Store>,
    uploads: Uploads,
}

/// A handle to the workspace of one tree, for one of its tasks. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WorkspaceHandle {
    shared: Arc<Shared>,
    tree: Tree,
    /// The author of writes: the task, or the user if a person writes.
    by: String,
}

impl Workspace {
    pub fn new(store: &Arc<Store>) -> Self {
        Self(Arc::new(Shared { store: Arc::clone(store), uploads: Uploads::default() }))
    }

    /// The workspace of a task of the user. A task of another user is as unknown as one that does not exist.
    pub async fn of_task(&self, user: &User, task: &TaskId) -> Result<WorkspaceHandle, DocumentRefusal> {
        let tree = self.0.store.workspace_tree(task).await.map_err(|error| unavailable(&error))?;
        match tree.filter(|tree| tree.user == user.id) {
            Some(tree) => Ok(WorkspaceHandle { shared: Arc::clone(&self.0), tree, by: task.to_string() }),
            None => Err(DocumentRefusal::UnknownTask { task_id: task.to_string() }),
        }
    }

    /// The workspace of a tree that is about to be created, for its initial documents.
    pub fn of_new_tree(&self, user: &User, root: &TaskId) -> WorkspaceHandle {
        let tree = Tree { root: root.clone(), user: user.id.clone(), tainted: false };
        WorkspaceHandle { shared: Arc::clone(&self.0), tree, by: user.id.to_string() }
    }

    /// Deletes the documents of a tree that was not created after all.
    pub async fn abandon(&self, root: &TaskId) -> Result<(), DocumentRefusal> {
        self.0.store.abandon_documents(root).await.map_err(|error| unavailable(&error))
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }
}

impl WorkspaceHandle {
    /// The same workspace, with the user as the author instead of a task's agent.
    pub fn as_person(self) -> Self {
        Self { by: self.tree.user.to_string(), ..self }
    }

    pub fn root(&self) -> &TaskId {
        &self.tree.root
    }

    pub fn user(&self) -> &UserId {
        &self.tree.user
    }

    /// The document at a path, deleted or not.
    pub async fn find(&self, path: &str) -> Result<Document, DocumentRefusal> {
        let path = parse_path(path)?;
        let found = self.store().document(self.root(), path.as_str()).await;
        match found.map_err(|error| unavailable(&error))? {
            Some(document) => Ok(document),
            None => Err(self.unknown(path.as_str()).await),
        }
    }

    /// The documents that match, in order of path, after the given one.
    pub async fn list(
        &self,
        criteria: &Criteria,
        after: &str,
        limit: u32,
    ) -> Result<Vec<Document>, DocumentRefusal> {
        let listed = self.store().list_documents(self.root(), criteria, after, limit).await;
        listed.map_err(|error| unavailable(&error))
    }

    /// Versions of a document below the given number, the newest first.
    pub async fn versions(
        &self,
        path: &str,
        below: u32,
        limit: u32,
    ) -> Result<Vec<Version>, DocumentRefusal> {
        let path = parse_path(path)?;
        let versions = self.store().document_versions(self.root(), path.as_str(), below, limit).await;
        let versions = versions.map_err(|error| unavailable(&error))?;
        if versions.is_empty() {
            self.find(path.as_str()).await?;
        }
        Ok(versions)
    }

    fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Runs work whose offloaded parts count against the permits of the tree's user.
    fn on_behalf<T>(&self, doing: impl Future<Output = T>) -> impl Future<Output = T> {
        offload::on_behalf(self.tree.user.shared(), doing)
    }

    fn change(&self, path: &str, expected: Expected) -> Change {
        Change {
            root: self.tree.root.clone(),
            user: self.tree.user.clone(),
            path: path.to_owned(),
            expected,
            by: self.by.clone(),
            why: String::new(),
            call_id: String::new(),
        }
    }

    async fn unknown(&self, path: &str) -> DocumentRefusal {
        let near = self.store().document_paths_near(self.root(), path).await.unwrap_or_default();
        let near = near::names(path, near.iter().map(String::as_str));
        DocumentRefusal::Unknown { path: path.to_owned(), near }
    }

    /// Converts a refusal of the store, adding what the caller needs to act on it.
    async fn explain(&self, path: &str, refused: Refused) -> DocumentRefusal {
        let path = path.to_owned();
        match refused {
            Refused::Unknown => self.unknown(&path).await,
            Refused::Deleted(version) => DocumentRefusal::Deleted { path, version },
            Refused::Absent => DocumentRefusal::Absent { path },
            Refused::Exists(etag) => DocumentRefusal::Exists { path, etag },
            Refused::Stale(etag) => DocumentRefusal::EtagStale { path, etag },
            Refused::Full(full) => quota::exceeded(full, &self.tree, &path),
            Refused::Reused => DocumentRefusal::RequestIdReused { request_id: String::new() },
            Refused::BytesGone => DocumentRefusal::Unavailable { retry_after: Duration::from_secs(1) },
        }
    }
}

fn parse_path(text: &str) -> Result<path::Path, DocumentRefusal> {
    path::Path::parse(text).map_err(|error| DocumentRefusal::PathInvalid(error.to_string()))
}

fn unavailable(error: &StoreError) -> DocumentRefusal {
    tracing::error!(%error, "documents cannot be read or written");
    DocumentRefusal::Unavailable { retry_after: RETRY_AFTER }
}

fn unreadable(error: &ReadError, path: &str, version: u32) -> DocumentRefusal {
    match error {
        ReadError::Damaged(digest) => {
            tracing::error!(%digest, "the bytes of a document are not those that were written");
            DocumentRefusal::Damaged { path: path.to_owned(), version }
        }
        ReadError::Store(error) => unavailable(error),
    }
}
