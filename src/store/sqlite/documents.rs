//! Documents, in one file with the tasks whose they are. What another area's transaction needs is a step over a
//! [`Change`](super::Change) here.

pub(super) mod forget;
pub(super) mod pins;
mod quota;
mod read;
mod repeats;
mod room;
mod rows;
mod standing;
mod texts;
pub(super) mod write;

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::Sqlite;
use crate::{
    StoreError,
    documents::{
        Change, Criteria, Document, Documents, Found, Free, Outcome, Postings, Put, Refused, Tree, Update,
        Version, Wanted,
    },
};
use toolwire_tool::context::{RequestId, TaskId};

impl Documents for Sqlite {
    fn tree<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<Option<Tree>, StoreError>> {
        Box::pin(async move { self.explain(self.tree_of(task).await) })
    }

    fn room<'a>(
        &'a self,
        change: &'a Change,
        request_id: Option<RequestId>,
    ) -> BoxFuture<'a, Result<Result<Free, Refused>, StoreError>> {
        Box::pin(async move { self.explain(self.room_for(change, request_id).await) })
    }

    fn put<'a>(&'a self, put: &'a Put) -> BoxFuture<'a, Result<Outcome, StoreError>> {
        Box::pin(async move { self.explain(self.put_document(put).await) })
    }

    fn update<'a>(&'a self, update: &'a Update) -> BoxFuture<'a, Result<Outcome, StoreError>> {
        Box::pin(async move { self.explain(self.update_document(update).await) })
    }

    fn delete<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<Outcome, StoreError>> {
        Box::pin(async move { self.explain(self.delete_document(change).await) })
    }

    fn find<'a>(
        &'a self,
        root: &'a TaskId,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        Box::pin(async move { self.explain(self.document(root, path).await) })
    }

    fn near<'a>(&'a self, root: &'a TaskId, path: &'a str) -> BoxFuture<'a, Result<Vec<String>, StoreError>> {
        Box::pin(async move { self.explain(self.paths_near(root, path).await) })
    }

    fn list<'a>(
        &'a self,
        root: &'a TaskId,
        criteria: &'a Criteria,
        after: &'a str,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        Box::pin(async move { self.explain(self.listed_documents(root, criteria, after, limit).await) })
    }

    fn versions<'a>(
        &'a self,
        root: &'a TaskId,
        path: &'a str,
        below: u32,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Version>, StoreError>> {
        Box::pin(async move { self.explain(self.versions_of(root, path, below, limit).await) })
    }

    fn postings<'a>(
        &'a self,
        root: &'a TaskId,
        wanted: &'a [Wanted],
    ) -> BoxFuture<'a, Result<Postings, StoreError>> {
        Box::pin(async move { self.explain(self.postings_of(root, wanted).await) })
    }

    fn abandon<'a>(&'a self, root: &'a TaskId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.abandon_documents(root).await) })
    }

    fn sweep_documents(&self, now: SystemTime) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move { self.explain(self.sweep_unbegun(now).await) })
    }

    fn among<'a>(
        &'a self,
        root: &'a TaskId,
        ids: &'a [i64],
        criteria: &'a Criteria,
    ) -> BoxFuture<'a, Result<Vec<Found>, StoreError>> {
        Box::pin(async move { self.explain(self.documents_among(root, ids, criteria).await) })
    }
}
