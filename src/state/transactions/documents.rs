//! Documents: each write creates a version or a new etag, in one transaction. Steps of other areas' transactions are
//! functions over a [`Tx`](toolwire_db::Tx).

pub(super) mod forget;
mod precheck;
mod quota;
mod read;
mod replay;
mod search;
pub(super) mod write;

use crate::{
    Store,
    documents::{Change, Outcome, Put, Update},
};
use toolwire_db::{Durability, Lane, StoreError, scoped};

impl Store {
    /// Writes a version, whose blob is stored already or passed along.
    pub async fn put_document(&self, put: &Put) -> Result<Outcome, StoreError> {
        let files = self.files();
        let files = files.as_ref();
        let lane = Lane::User(&put.change.user);
        self.transact(lane, Durability::Power, |tx| scoped(write::put(tx, put, files))).await
    }

    /// Changes the description, the tags and the type of a document.
    pub async fn update_document(&self, update: &Update) -> Result<Outcome, StoreError> {
        let lane = Lane::User(&update.change.user);
        self.transact(lane, Durability::Power, |tx| scoped(write::update(tx, update))).await
    }

    /// Writes a tombstone. A document that is already deleted stays as it is.
    pub async fn delete_document(&self, change: &Change) -> Result<Outcome, StoreError> {
        let lane = Lane::User(&change.user);
        self.transact(lane, Durability::Power, |tx| scoped(write::delete(tx, change))).await
    }
}
