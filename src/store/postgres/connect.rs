//! Opens the database: checks that it can keep a state, migrates, and holds connections.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use sqlx::{Connection as _, PgConnection, PgPool, pool::PoolConnectionMetadata, postgres::PgPoolOptions};
use tokio::{sync::OwnedMutexGuard, time::timeout};

use super::{
    address::Address,
    error::{self, STANDBY, refused},
    hints::Hints,
    lanes::{self, Lanes},
    migrate,
    presence::Presence,
};
use crate::{
    Durability, Error, Lane, Migrations, StoreError,
    away::{Away, silent},
    followers::Followers,
    sql::{Connection, Transaction},
};
use toolwire_base::clock;

/// Maximum wait for the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connections of the pool. Two more listen and migrate.
const CONNECTIONS: u32 = 16;

/// Maximum wait for a connection of the pool, and for its first answer.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum wait of a transaction for those of its process in the same lane.
const LANE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that was used within this time is not tested before its next use.
const TESTED_FOR: Duration = Duration::from_millis(250);

/// The earliest version of PostgreSQL, as `server_version_num` has it.
const MINIMUM: i32 = 150_000;

/// The clocks of processes say when leases end. One that differs by more from the database's is refused.
const MAX_SKEW: Duration = Duration::from_secs(10);
const WARN_SKEW: Duration = Duration::from_secs(1);

/// An opened database.
#[derive(Debug)]
pub(crate) struct Database {
    address: Arc<Address>,
    pool: PgPool,
    lanes: Lanes,
    away: Away,
    hints: Hints,
    pub(crate) presence: Presence,
}

#[derive(Debug)]
pub(crate) struct LaneTransaction {
    pub(crate) transaction: Transaction,
    hints: Hints,
    /// Released after the transaction.
    _lane: Vec<OwnedMutexGuard<()>>,
}

/// Opens the database and migrates its tables.
pub(crate) async fn connect(
    address: &Arc<Address>,
    tables: &[Migrations],
    followers: &Followers,
) -> Result<Database, StoreError> {
    let options = address.unbounded();
    let first = PgConnection::connect_with(&options);
    let mut first = match timeout(CONNECT_TIMEOUT, first).await {
        Ok(connected) => connected.map_err(|error| error::unusable(address, &error))?,
        Err(_) => return Err(error::unusable(address, &silent())),
    };
    check(address, &mut first).await?;
    migrate::migrate(address, &mut first, tables).await?;
    let _ = first.close().await;

    let (is_away, away) = Away::new();
    let presence = Presence::begin(address, followers, is_away).await;
    let presence = presence.map_err(|error| error::unusable(address, &error))?;
    let pool = pool().connect_lazy_with(address.bounded());
    let hints = Hints::begin(&pool, presence.channel());
    Ok(Database { address: Arc::clone(address), pool, lanes: Lanes::default(), away, hints, presence })
}

fn pool() -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection, PoolConnectionMetadata { idle_for, .. }| {
            Box::pin(async move {
                // A server that was restarted has closed them all.
                Ok(idle_for < TESTED_FOR || connection.ping().await.is_ok())
            })
        })
}

/// Refuses a database that cannot keep a state.
async fn check(address: &Address, db: &mut PgConnection) -> Result<(), StoreError> {
    let about = "SELECT current_setting('server_version_num')::INTEGER, current_setting('server_encoding'), \
                 pg_is_in_recovery(), (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";
    let asked_at = clock::wall();
    let about = sqlx::query_as::<_, (i32, String, bool, i64)>(about).fetch_one(db).await;
    let (version, encoding, is_standby, now) = about.map_err(|error| error::unusable(address, &error))?;
    if version < MINIMUM {
        let cause = format!("it is PostgreSQL {}, and toolwire needs 15 or later", version / 10_000);
        return Err(refused(address, &cause, "Upgrade it"));
    }
    if encoding != "UTF8" {
        let cause = format!("its encoding is {encoding}, and toolwire needs UTF8");
        return Err(refused(address, &cause, "Create a database WITH ENCODING 'UTF8' TEMPLATE template0"));
    }
    if is_standby {
        return Err(refused(address, "it is a standby, which cannot be written", STANDBY));
    }
    check_clock(address, asked_at, crate::time::instant(now))
}

fn check_clock(address: &Address, asked_at: SystemTime, databases: SystemTime) -> Result<(), StoreError> {
    let off = |one: SystemTime, other: SystemTime| one.duration_since(other).unwrap_or_default();
    // It read its clock between the question and the answer.
    let skew = off(asked_at, databases).max(off(databases, clock::wall()));
    if skew > MAX_SKEW {
        let cause = format!("its clock and this machine's differ by {} s", skew.as_secs());
        return Err(refused(address, &cause, "Set the clocks, such as by NTP"));
    }
    if skew > WARN_SKEW {
        let skew = skew.as_millis();
        tracing::warn!(%address, skew_ms = %skew, "the clocks of the database and of this machine differ");
    }
    Ok(())
}

impl Database {
    pub(crate) fn address(&self) -> &Arc<Address> {
        &self.address
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub(crate) fn away(&self) -> &Away {
        &self.away
    }

    pub(crate) async fn connection(&self) -> Result<Connection, Error> {
        if self.away.is_away() {
            return Err(silent().into());
        }
        let acquired = self.away.or(self.pool.acquire()).await?;
        Ok(Connection::of_postgres(acquired, self.away.clone()))
    }

    pub(crate) async fn begin(
        &self,
        lane: Lane<'_>,
        durability: Durability,
    ) -> Result<LaneTransaction, Error> {
        let keys = lanes::keys(&self.address, lane);
        let waited = self.away.or(async {
            let waited = timeout(LANE_TIMEOUT, self.lanes.wait(&keys)).await;
            waited.map_err(|_| sqlx::Error::PoolTimedOut)
        });
        let guards = waited.await?;
        let statement = lanes::begin(&self.address, lane, &keys, durability);
        let connection = self.connection().await?;
        let begun = self.away.or(Transaction::begin(connection, statement.clone())).await;
        let transaction = match begun {
            // The server has closed the connection since its last use; nothing was done on it.
            Err(error) if error::is_lost(&error) => {
                let connection = self.connection().await?;
                self.away.or(Transaction::begin(connection, statement)).await?
            }
            begun => begun?,
        };
        Ok(LaneTransaction { transaction, hints: self.hints.clone(), _lane: guards })
    }
}

impl LaneTransaction {
    /// Commits, and tells the other processes to look.
    pub(crate) async fn commit(self) -> Result<(), Error> {
        let Self { transaction, hints, _lane } = self;
        transaction.commit().await?;
        hints.send();
        Ok(())
    }
}
