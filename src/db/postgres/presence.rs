//! The connection by which other processes know that this one lives, which receives notifications of their commits, and
//! which reads the database's clock.
//!
//! It holds an advisory lock of the process' name, which the database releases when the connection ends, however it
//! ends. A process whose connection broke may be taken for dead: it records nothing until it holds the lock of a new
//! name. It holds those of its earlier names too, so that what it began under them is known to go on.

use std::{sync::Arc, time::Duration};

use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::{
    sync::watch,
    task::AbortHandle,
    time::{sleep, timeout, timeout_at},
};
use uuid::Uuid;

use super::{
    address::Address,
    clock::{Readings, TIME},
    connections::Connections,
    names::Names,
};
use crate::{
    Error,
    followers::Followers,
    reachability::unreachable_error,
    sql::{Statement, sql},
};
use toolwire_base::clock::now;
use toolwire_telemetry::metric;

/// Each follower looks by itself this often, so that a lost hint costs no more.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How often the connection is tested, and how long it may take before the database counts as unreachable.
const TEST_INTERVAL: Duration = Duration::from_millis(250);
const TEST_TIMEOUT: Duration = Duration::from_millis(500);

/// A connection that does not answer for this long is given up.
const LOST_AFTER: Duration = Duration::from_secs(15);

/// Between two attempts to connect again.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// This process among those that share the state.
#[derive(Debug)]
pub(crate) struct Presence {
    names: Arc<Names>,
    address: Arc<Address>,
    task: AbortHandle,
}

/// Keeps the connection with the locks, and passes on what it reads.
struct Keeper {
    address: Arc<Address>,
    names: Arc<Names>,
    followers: Followers,
    is_unreachable: watch::Sender<bool>,
    readings: Readings,
}

/// A connection with the lock of a name.
struct Held {
    listener: PgListener,
    name: Arc<str>,
    /// The server's process of the connection.
    pid: i32,
    /// Earlier names whose locks are still held by a connection that broke.
    missing: Vec<Arc<str>>,
}

impl Presence {
    pub(super) async fn begin(
        address: &Arc<Address>,
        followers: &Followers,
        is_unreachable: watch::Sender<bool>,
        readings: Readings,
    ) -> Result<Self, sqlx::Error> {
        let held = hold(address, &[]).await?;
        let names = Arc::new(Names::default());
        names.show(&held.name, held.pid);
        let keeper = Keeper {
            address: Arc::clone(address),
            names: Arc::clone(&names),
            followers: followers.clone(),
            is_unreachable,
            readings,
        };
        Ok(Self { task: tokio::spawn(keeper.run(held)).abort_handle(), address: Arc::clone(address), names })
    }

    /// The name of this process; `None` while others may take it for dead.
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        self.names.current()
    }

    /// Whether a name is, or was, that of this process.
    pub(crate) fn is_own(&self, name: &str) -> bool {
        self.names.is_own(name)
    }

    /// Whether the process of a name has ended. One whose connection broke has a while to show itself again.
    pub(crate) async fn is_gone(&self, connections: &Connections, name: &str) -> Result<bool, Error> {
        if self.is_own(name) || self.is_held(connections, name).await? {
            return Ok(false);
        }
        Ok(self.names.is_missed(key(&self.address, name).1))
    }

    /// Whether these connections lead to the database where this process shows that it lives.
    pub(super) async fn is_seen(&self, connections: &Connections) -> Result<bool, Error> {
        match self.name() {
            Some(name) => self.is_held(connections, &name).await,
            None => Err(unreachable_error().into()),
        }
    }

    async fn is_held(&self, connections: &Connections, name: &str) -> Result<bool, Error> {
        let (kind, name) = key(&self.address, name);
        let (held, name) = (held(kind), unsigned(name));
        let is_held: Statement<bool> =
            sql!("SELECT EXISTS (SELECT 1 FROM ({..held}) AS held WHERE objid::BIGINT = {name})");
        is_held.one(&mut connections.acquire().await?).await
    }

    /// Number of other live processes.
    pub(crate) async fn peers(&self, connections: &Connections) -> Result<usize, Error> {
        let (held, own) = (held(key(&self.address, "").0), i64::from(self.names.pid()));
        // By connections, since a process may have several names.
        let others: Statement<i64> =
            sql!("SELECT count(DISTINCT pid) FROM ({..held}) AS held WHERE pid::BIGINT <> {own}");
        let count = others.one(&mut connections.acquire().await?).await?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// The channel of hints, which is one a schema.
    pub(super) fn channel(&self) -> String {
        channel(&self.address)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The locks of processes that live.
fn held(kind: i32) -> Statement {
    let kind = unsigned(kind);
    sql!(
        "SELECT objid, pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid::BIGINT = {kind}
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
}

fn key(address: &Address, name: &str) -> (i32, i32) {
    address.lock_key("process", name)
}

/// A key as `pg_locks` shows it.
fn unsigned(key: i32) -> i64 {
    i64::from(key.cast_unsigned())
}

fn channel(address: &Address) -> String {
    format!("toolwire {}", address.schema())
}

/// Connects, listens, and acquires the lock of a new name and those of earlier ones.
async fn hold(address: &Address, earlier: &[Arc<str>]) -> Result<Held, sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(Duration::from_secs(2));
    let mut listener = PgListener::connect_with(&pool.connect_with(address.unbounded()).await?).await?;
    listener.eager_reconnect(false);
    listener.listen(&channel(address)).await?;
    let name: Arc<str> = Uuid::new_v4().simple().to_string().into();
    let (kind, key) = key(address, &name);
    let pid = sqlx::query_scalar("SELECT pg_backend_pid() FROM pg_advisory_lock($1, $2)");
    let pid = pid.bind(kind).bind(key).fetch_one(&mut listener).await?;
    let mut held = Held { listener, name, pid, missing: earlier.to_vec() };
    held.lock_missing(address).await?;
    Ok(held)
}

impl Held {
    /// Acquires the locks of earlier names that are free by now: the server may not have noticed yet that the
    /// connection which held them is gone, and meanwhile shows them.
    async fn lock_missing(&mut self, address: &Address) -> Result<(), sqlx::Error> {
        for name in std::mem::take(&mut self.missing) {
            let (kind, key) = key(address, &name);
            let lock = sqlx::query_scalar("SELECT pg_try_advisory_lock($1, $2)").bind(kind).bind(key);
            if !lock.fetch_one(&mut self.listener).await? {
                self.missing.push(name);
            }
        }
        Ok(())
    }
}

impl Keeper {
    /// Keeps a connection with the locks, for as long as it is polled.
    async fn run(self, mut held: Held) {
        let Self { address, names, followers, is_unreachable, .. } = &self;
        metric::state_available(true);
        let looking = async {
            loop {
                metric::state_listeners(followers.count());
                sleep(LOOK_INTERVAL).await;
                followers.notify_all();
            }
        };
        let keeping = async {
            loop {
                self.until_lost(&mut held).await;
                is_unreachable.send_replace(true);
                metric::state_available(false);
                names.hide();
                tracing::warn!(%address, "the connection that shows others that this process lives is lost");
                held = loop {
                    match hold(address, &names.own()).await {
                        Ok(held) => break held,
                        Err(error) => {
                            self.readings.note_unreachable(&error);
                            sleep(RETRY_DELAY).await;
                        }
                    }
                };
                names.show(&held.name, held.pid);
                is_unreachable.send_replace(false);
                metric::state_available(true);
                tracing::info!(%address, "connected again, under a new name besides the earlier ones");
                followers.notify_all();
            }
        };
        tokio::join!(looking, keeping);
    }

    /// Notifies followers of commits of other processes, and tests the connection, until it is lost.
    async fn until_lost(&self, held: &mut Held) {
        let mut next_test = now();
        loop {
            if now() >= next_test {
                if !self.test(held).await {
                    return;
                }
                next_test = now() + TEST_INTERVAL;
            }
            match timeout_at(next_test, held.listener.try_recv()).await {
                Ok(Ok(Some(_))) => {
                    while held.listener.next_buffered().is_some() {}
                    self.followers.notify_all();
                }
                Ok(Ok(None) | Err(_)) => return,
                Err(_) => {}
            }
        }
    }

    /// Tests the connection, and reads by it the clock and which processes live; `false` if it is lost.
    async fn test(&self, held: &mut Held) -> bool {
        let asked = self.readings.clock.ask();
        let mut test = Box::pin(timeout(LOST_AFTER, self.look(held)));
        let tested = if let Ok(tested) = timeout(TEST_TIMEOUT, &mut test).await {
            tested
        } else {
            // Others still see the lock: the process keeps its name, and only waits.
            self.is_unreachable.send_replace(true);
            metric::state_available(false);
            test.await
        };
        let Ok(Ok((time, alive))) = tested else { return false };
        self.readings.watch(asked, time);
        self.names.see(alive);
        if self.is_unreachable.send_if_modified(std::mem::take) {
            metric::state_available(true);
        }
        true
    }

    /// The database's clock, and the keys of the names of processes that live.
    async fn look(&self, held: &mut Held) -> Result<(i64, Vec<i32>), sqlx::Error> {
        let look = format!(
            "SELECT {TIME}, ARRAY(SELECT objid::BIGINT FROM pg_locks WHERE locktype = 'advisory' AND granted
              AND classid::BIGINT = $1
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
        );
        let kind = unsigned(key(&self.address, "").0);
        let look = sqlx::query_as(sqlx::AssertSqlSafe(look)).bind(kind);
        let (time, alive): (i64, Vec<i64>) = look.fetch_one(&mut held.listener).await?;
        held.lock_missing(&self.address).await?;
        Ok((time, alive.into_iter().filter_map(|key| Some(u32::try_from(key).ok()?.cast_signed())).collect()))
    }
}
