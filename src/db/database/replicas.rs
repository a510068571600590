//! The processes that share the state: which of them own recorded work, and which have ended.

use std::{sync::Arc, time::SystemTime};

use super::Database;
use crate::{StoreError, backend::Backend, location::Location, postgres, sqlite::replica::Replica};

impl Database {
    /// The name of this process, after it is visible to others: what it records from then on has a live owner.
    pub async fn own_name(&self) -> Result<Arc<str>, StoreError> {
        let Some(database) = self.postgres().await? else {
            self.replica.id(&self.location, self.now())?;
            return Ok(self.replica.name());
        };
        database.presence.name().ok_or_else(|| self.unusable(&sqlx::Error::PoolTimedOut))
    }

    /// The name of this process, which need not be visible yet.
    pub async fn current_name(&self) -> Result<Arc<str>, StoreError> {
        match self.postgres().await? {
            Some(_) => self.own_name().await,
            None => Ok(self.replica.name()),
        }
    }

    /// Whether the process of a name has ended.
    pub async fn is_gone(&self, name: &str) -> Result<bool, StoreError> {
        let Some(database) = self.postgres().await? else {
            return Ok(self.replica.is_gone(&self.location, name));
        };
        let is_gone = database.presence.is_gone(&database.connections, name);
        self.explain(Box::pin(is_gone).await)
    }

    /// Whether a name is that of another live process.
    pub async fn is_elsewhere(&self, name: &str) -> Result<bool, StoreError> {
        Ok(!self.is_own(name).await? && !self.is_gone(name).await?)
    }

    /// Whether a name is that of this process, or was while another connection showed it.
    pub async fn is_own(&self, name: &str) -> Result<bool, StoreError> {
        Ok(match self.postgres().await? {
            Some(database) => database.presence.is_own(name),
            None => *name == *self.replica.name(),
        })
    }

    /// Those of some processes that have ended.
    pub async fn find_ended(&self, names: Vec<String>) -> Result<Vec<String>, StoreError> {
        let mut ended = Vec::new();
        for name in names {
            if self.is_gone(&name).await? {
                ended.push(name);
            }
        }
        Ok(ended)
    }

    /// Waits until this process is visible to others. Before that it owns nothing that is recorded.
    pub async fn wait_until_seen(&self) {
        self.replica.wait_until_seen().await;
    }

    /// Since when this process is visible to others; `None` if it is not yet.
    pub fn seen_since(&self) -> Option<SystemTime> {
        self.replica.seen_since()
    }

    /// Number of other live processes of this state. If it cannot be determined, there may be one.
    pub async fn peers(&self) -> usize {
        match self.postgres().await {
            Ok(None) => self.replica.peers(&self.location),
            Ok(Some(database)) => Box::pin(database.presence.peers(&database.connections)).await.unwrap_or(1),
            Err(_) => 1,
        }
    }

    /// Removes what a process that has ended left of itself.
    pub fn forget(&self, name: &str) {
        Replica::forget(&self.location, name);
    }

    /// The database, if it is PostgreSQL. A file is not opened for this.
    pub(super) async fn postgres(&self) -> Result<Option<&postgres::Database>, StoreError> {
        if !matches!(self.location, Location::Postgres(_)) {
            return Ok(None);
        }
        match self.backend().await? {
            Backend::Postgres(database) => Ok(Some(database)),
            Backend::Sqlite(_) => Ok(None),
        }
    }
}
