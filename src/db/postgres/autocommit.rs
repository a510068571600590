//! Single statements, each a transaction of its own: what many of them write takes no lane, and is not undone together.

use std::{sync::Arc, time::SystemTime};

use super::{address::Address, connect::Database, connections::Connections, error};
use crate::{Error, StoreError, clock::Clock, sql::Connection};

/// Connections on which statements take effect one by one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Autocommit {
    connections: Connections,
    address: Arc<Address>,
    clock: Clock,
}

impl Autocommit {
    pub(crate) fn of(database: &Database) -> Self {
        Self {
            connections: database.connections.clone(),
            address: Arc::clone(database.address()),
            clock: database.clock().clone(),
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

    /// Converts an error for operators.
    pub fn explain<T>(&self, result: Result<T, Error>) -> Result<T, StoreError> {
        result.map_err(|error| error::explain(&self.address, error))
    }
}
