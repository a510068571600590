//! The pool of connections, to the database or to the pooler before it.

use std::{sync::Arc, time::Duration};

use sqlx::{Connection as _, PgPool, pool::PoolConnectionMetadata, postgres::PgPoolOptions};

use super::address::Address;
use crate::{
    reachability::{Reachability, unreachable_error},
    sql::{Connection, Link},
    turns::Turns,
};
use toolwire_base::clock;
use toolwire_telemetry::metric;

/// Connections of the pool. Two more listen and migrate.
const MAX: u32 = 16;

/// Maximum wait for a connection of the pool, and for its first answer.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection that was used within this time is not tested before its next use.
const TESTED_FOR: Duration = Duration::from_millis(250);

/// The pool. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    pool: PgPool,
    turns: Turns,
    link: Arc<Link>,
}

impl Connections {
    /// None is made yet.
    pub(super) fn new(address: &Address, reachability: Reachability) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(MAX)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire(|connection, PoolConnectionMetadata { idle_for, .. }| {
                Box::pin(async move {
                    // A server that was restarted has closed them all.
                    Ok(idle_for < TESTED_FOR || connection.ping().await.is_ok())
                })
            });
        let link = Link::new(reachability, address.transaction_settings());
        let pool = pool.connect_lazy_with(address.bounded());
        Self { pool, turns: Turns::new(MAX, ACQUIRE_TIMEOUT), link: Arc::new(link) }
    }

    pub(crate) async fn acquire(&self) -> Result<Connection, sqlx::Error> {
        if self.link.reachability().is_unreachable() {
            return Err(unreachable_error());
        }
        let begun_at = clock::now();
        let acquiring =
            async { Ok::<_, sqlx::Error>((self.turns.wait().await?, self.pool.acquire().await?)) };
        let (turn, acquired) = self.link.reachability().run(acquiring).await?;
        metric::state_acquired(begun_at.elapsed());
        Ok(Connection::of_postgres(acquired, Arc::clone(&self.link)).in_turn(turn))
    }

    pub(super) fn reachability(&self) -> &Reachability {
        self.link.reachability()
    }
}
