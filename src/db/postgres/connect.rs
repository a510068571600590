//! Opens the database: checks that it can keep a state, migrates, and holds connections.

use std::{sync::Arc, time::Duration};

use sqlx::{AssertSqlSafe, Connection as _, FromRow, PgConnection};
use tokio::{sync::OwnedMutexGuard, time::timeout};

use super::{
    address::{Address, IS_DIRECT},
    clock::{Readings, TIME},
    connections::Connections,
    error::{self, STANDBY, read_only_remedy, refused},
    hints::Hints,
    lanes::{self, Lanes},
    migrate,
    presence::Presence,
};
use crate::{
    Durability, Error, Lane, Migrations, StoreError,
    clock::Clock,
    followers::Followers,
    last_error::LastError,
    reachability::{Reachability, unreachable_error},
    sql::Transaction,
};
use toolwire_base::clock;
use toolwire_telemetry::metric;

/// Maximum wait for the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum wait of a transaction for those of its process in the same lane.
const LANE_TIMEOUT: Duration = Duration::from_secs(10);

/// The earliest version of PostgreSQL, as `server_version_num` has it.
const MINIMUM: i32 = 150_000;

/// An opened database.
#[derive(Debug)]
pub(crate) struct Database {
    address: Arc<Address>,
    pub(crate) connections: Connections,
    lanes: Lanes,
    hints: Hints,
    readings: Readings,
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
    readings: Readings,
) -> Result<Database, StoreError> {
    let options = address.unbounded();
    let first = PgConnection::connect_with(&options);
    let mut first = match timeout(CONNECT_TIMEOUT, first).await {
        Ok(connected) => connected.map_err(|error| error::unusable(address, &error))?,
        Err(_) => return Err(error::unusable(address, &unreachable_error())),
    };
    check(address, &mut first, &readings).await?;
    migrate::migrate(address, &mut first, tables).await?;
    let _ = first.close().await;

    let (is_unreachable, reachability) = Reachability::new();
    let presence = Presence::begin(address, followers, is_unreachable, readings.clone()).await;
    let presence = presence.map_err(|error| error::unusable(address, &error))?;
    let connections = Connections::new(address, reachability);
    if address.is_pooled() {
        check_pooler(address, &presence, &connections).await?;
    }
    let hints = Hints::begin(&connections, presence.channel());
    Ok(Database {
        address: Arc::clone(address),
        connections,
        lanes: Lanes::default(),
        hints,
        readings,
        presence,
    })
}

/// Refuses a pooler of another database, which does not have the lock of this process.
async fn check_pooler(
    address: &Address,
    presence: &Presence,
    connections: &Connections,
) -> Result<(), StoreError> {
    match presence.is_seen(connections).await {
        Ok(true) => Ok(()),
        Ok(false) => {
            let cause = "the pooler of state.url leads to another database than state.direct_url";
            Err(refused(address, cause, "Name one database by both"))
        }
        Err(error) => Err(error::explain(address, error)),
    }
}

/// Refuses a database that cannot keep a state.
async fn check(address: &Address, db: &mut PgConnection, readings: &Readings) -> Result<(), StoreError> {
    let about = format!(
        "SELECT current_setting('server_version_num')::INTEGER, current_setting('server_encoding'), \
         pg_is_in_recovery(), {TIME}, \
         current_setting('{IS_DIRECT}', TRUE), current_setting('default_transaction_read_only')"
    );
    let asked = readings.clock.ask();
    // Not prepared: a pooler, which is to be named, may have it from another client.
    let about = sqlx::raw_sql(AssertSqlSafe(about)).fetch_one(db).await;
    let about = about.and_then(|row| <(i32, String, bool, i64, Option<String>, String)>::from_row(&row));
    let about = about.map_err(|error| error::unusable(address, &error))?;
    let (version, encoding, is_standby, now, is_direct, is_read_only) = about;
    if is_direct.is_none() {
        return Err(error::pooled(address, "a pooler is before it, which ignores the options of a session"));
    }
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
    if is_read_only == "on" {
        let cause = "default_transaction_read_only is on for its role or database";
        return Err(refused(address, cause, &read_only_remedy(address)));
    }
    readings.set(asked, now)
}

impl Database {
    pub(crate) fn address(&self) -> &Arc<Address> {
        &self.address
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.readings.clock
    }

    pub(super) fn last_error(&self) -> &LastError {
        &self.readings.last_error
    }

    /// Begins a transaction of a lane. One that decides by the clock is refused if the database shows another time: a
    /// machine that was paused as a whole does not notice it.
    pub(crate) async fn begin(
        &self,
        lane: Lane<'_>,
        durability: Durability,
        decides_by_clock: bool,
    ) -> Result<LaneTransaction, Error> {
        let begun_at = clock::now();
        let keys = lanes::keys(&self.address, lane);
        let waited = self.connections.reachability().run(async {
            let waited = timeout(LANE_TIMEOUT, self.lanes.wait(&keys)).await;
            waited.map_err(|_| {
                metric::state_lock_timed_out();
                sqlx::Error::PoolTimedOut
            })
        });
        let guards = waited.await?;
        let statement = || {
            let now = self.readings.clock.carried().filter(|_| decides_by_clock);
            lanes::begin(&self.address, lane, &keys, durability, now)
        };
        let connection = self.connections.acquire().await?;
        let begun = Transaction::begin(connection, statement()).await;
        let transaction = match begun {
            // The server has closed the connection since its last use; nothing was done on it.
            Err(error) if error::is_lost(&error) => {
                let connection = self.connections.acquire().await?;
                Transaction::begin(connection, statement()).await?
            }
            Err(error) if lanes::is_off_clock(&error) => {
                let cause = "its clock did not go on as that of this machine".to_owned();
                return Err(StoreError::Unreachable { place: self.address.to_string(), cause }.into());
            }
            begun => begun?,
        };
        metric::state_lane_waited(begun_at.elapsed());
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
