//! Single statements, each a transaction of its own: what many of them write takes no lane, and is not undone together.

use std::{sync::Arc, time::SystemTime};

use super::{address::Address, connect::Database, connections::Connections, error::unusable};
use crate::{Error, StoreError, clock::Clock, last_error::LastError, sql::Connection};

/// Connections on which statements take effect one by one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Autocommit {
    connections: Connections,
    address: Arc<Address>,
    clock: Clock,
    last_error: LastError,
}

impl Autocommit {
    pub(crate) fn of(database: &Database) -> Self {
        Self {
            connections: database.connections.clone(),
            address: Arc::clone(database.address()),
            clock: database.clock().clone(),
            last_error: database.last_error().clone(),
        }
    }

    /// Acquires a connection, for one statement.
    pub async fn connection(&self) -> Result<Connection, Error> {
        Ok(self.connections.acquire().await?)
    }

    /// The time by the clock of the database.
    pub fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// Converts an error for operators, and records that the database cannot be used.
    pub fn explain<T>(&self, result: Result<T, Error>) -> Result<T, StoreError> {
        let unusable = |error: &sqlx::Error| self.last_error.explain(error, |it| unusable(&self.address, it));
        result.map_err(|error| match error {
            Error::Store(error) => error,
            Error::Database(error) => unusable(&error),
            Error::Shared(error) => unusable(&error),
        })
    }
}
