//! The opened database: connections that read, and transactions.

use std::sync::Arc;

use crate::{
    Durability, Error, Lane, Tx,
    postgres::{self, Chunks},
    sql::Connection,
    sqlite::connect::Pools,
};

#[derive(Debug)]
pub(crate) enum Database {
    Sqlite(Pools),
    Postgres(postgres::Database),
}

impl Database {
    /// Acquires a connection that reads concurrently with transactions. Statements that must see one snapshot belong in
    /// one [`view`](crate::sql::view).
    pub(crate) async fn reader(&self) -> Result<Connection, Error> {
        match self {
            Self::Sqlite(pools) => Ok(pools.readers.acquire().await?.into()),
            Self::Postgres(database) => Ok(Box::pin(database.connections.acquire()).await?),
        }
    }

    /// Begins a transaction of a lane, by the replica of a name.
    pub(crate) async fn begin(
        &self,
        lane: Lane<'_>,
        durability: Durability,
        replica: Arc<str>,
    ) -> Result<Tx, Error> {
        match self {
            Self::Sqlite(pools) => Ok(Tx::of_sqlite(pools.writer.begin(durability).await?, replica)),
            Self::Postgres(database) => {
                let begun = Box::pin(database.begin(lane, durability)).await?;
                Ok(Tx::of_postgres(begun, replica))
            }
        }
    }

    /// The table of large blobs, if there is one.
    pub(crate) fn chunks(&self) -> Option<Chunks> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(database) => Some(Chunks::of(database)),
        }
    }
}
