//! The processes that share the state: which of them own recorded work, and which have ended.

use std::sync::Arc;

use super::Store;
use crate::{StoreError, database::Database, sqlite::replica::Replica};

impl Store {
    /// The name of this process, after it is visible to others: what it records from then on has a live owner.
    pub(super) async fn own_name(&self) -> Result<Arc<str>, StoreError> {
        let Some(database) = self.postgres().await? else {
            self.replica.id(&self.location, self.now())?;
            return Ok(self.replica.name());
        };
        database.presence.name().ok_or_else(|| self.unusable(&sqlx::Error::PoolTimedOut))
    }

    /// The name of this process, which need not be visible yet.
    pub(super) async fn current_name(&self) -> Result<Arc<str>, StoreError> {
        match self.postgres().await? {
            Some(_) => self.own_name().await,
            None => Ok(self.replica.name()),
        }
    }

    /// Whether the process of a name has ended.
    pub(super) async fn is_gone(&self, name: &str) -> Result<bool, StoreError> {
        let Some(database) = self.postgres().await? else {
            return Ok(self.replica.is_gone(&self.location, name));
        };
        let is_gone = database.presence.is_gone(&database.connections, name);
        self.explain(Box::pin(is_gone).await)
    }

    /// Whether a name is that of another live process.
    pub(super) async fn is_elsewhere(&self, name: &str) -> Result<bool, StoreError> {
        Ok(!self.is_own(name).await? && !self.is_gone(name).await?)
    }

    /// Whether a name is that of this process, or was while another connection showed it.
    pub(super) async fn is_own(&self, name: &str) -> Result<bool, StoreError> {
        Ok(match self.postgres().await? {
            Some(database) => database.presence.is_own(name),
            None => *name == *self.replica.name(),
        })
    }

    /// Those of some processes that have ended.
    pub(super) async fn ended(&self, names: Vec<String>) -> Result<Vec<String>, StoreError> {
        let mut ended = Vec::new();
        for name in names {
            if self.is_gone(&name).await? {
                ended.push(name);
            }
        }
        Ok(ended)
    }

    /// Number of other live processes of this state. If it cannot be determined, there may be one.
    pub(crate) async fn peers(&self) -> usize {
        match self.postgres().await {
            Ok(None) => self.replica.peers(&self.location),
            Ok(Some(database)) => Box::pin(database.presence.peers(&database.connections)).await.unwrap_or(1),
            Err(_) => 1,
        }
    }

    /// Removes what a process that has ended left of itself.
    pub(super) fn forget(&self, name: &str) {
        Replica::forget(&self.location, name);
    }

    /// The database, if it is PostgreSQL. A file is not opened for this.
    pub(super) async fn postgres(&self) -> Result<Option<&crate::postgres::Database>, StoreError> {
        if !matches!(self.location, super::Location::Postgres(_)) {
            return Ok(None);
        }
        match self.database().await? {
            Database::Postgres(database) => Ok(Some(database)),
            Database::Sqlite(_) => Ok(None),
        }
    }
}
