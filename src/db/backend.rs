//! The opened database: connections that read, and transactions.

use std::sync::Arc;

use crate::{
    Durability, Error, Lane, Tx, clock::Clock, postgres, sql::Connection, sqlite::connect::Pools, tx::Inner,
};

#[derive(Debug)]
pub(crate) enum Backend {
    Sqlite(Pools),
    Postgres(postgres::Database),
}

impl Backend {
    /// Acquires a connection that reads concurrently with transactions. Statements that must see one snapshot belong in
    /// one [`view`](crate::sql::view).
    pub(crate) async fn reader(&self) -> Result<Connection, Error> {
        match self {
            Self::Sqlite(pools) => {
                let turn = pools.turns.wait().await?;
                Ok(Connection::from(pools.readers.acquire().await?).in_turn(turn))
            }
            Self::Postgres(database) => Ok(Box::pin(database.connections.acquire()).await?),
        }
    }

    /// Begins a transaction of a lane, by the replica of a name.
    pub(crate) async fn begin(
        &self,
        (lane, durability): (Lane<'_>, Durability),
        decides_by_clock: bool,
        replica: Arc<str>,
        clock: &Clock,
    ) -> Result<Tx, Error> {
        let tx = match self {
            Self::Sqlite(pools) => Inner::Member(pools.writer.begin(durability).await?),
            Self::Postgres(database) => {
                Inner::Lane(Box::pin(database.begin(lane, durability, decides_by_clock)).await?)
            }
        };
        // Only now, since others were waited for.
        Ok(Tx::new(tx, replica, clock.now()))
    }
}
