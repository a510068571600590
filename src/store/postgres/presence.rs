//! The connection by which other processes know that this one lives, and which receives notifications of their commits.
//!
//! It holds an advisory lock of the process' name, which the database releases when the connection ends, however it
//! ends. A process whose connection broke may be taken for dead: it records nothing until it holds the lock of a new
//! name.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::{
    sync::watch,
    task::AbortHandle,
    time::{sleep, timeout, timeout_at},
};
use uuid::Uuid;

use super::{
    address::Address,
    clock::{self, Clock},
    connections::Connections,
};
use crate::{
    Error,
    away::silent,
    followers::Followers,
    sql::{Statement, sql},
    time::instant,
};
use toolwire_base::clock::now;
use toolwire_telemetry::metric;

/// Each follower looks by itself this often, so that a lost hint costs no more.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How often the connection is tested, and how long it may take before the database counts as away.
const TEST_INTERVAL: Duration = Duration::from_millis(250);
const TEST_TIMEOUT: Duration = Duration::from_millis(500);

/// A connection that does not answer for this long is given up.
const LOST_AFTER: Duration = Duration::from_secs(15);

/// Between two attempts to connect again.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// This process among those that share the state.
#[derive(Debug)]
pub(crate) struct Presence {
    shared: Arc<Shared>,
    address: Arc<Address>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    /// `None` while it holds no lock.
    name: Mutex<Option<Arc<str>>>,
}

/// The connection with the lock, and its name.
struct Held {
    listener: PgListener,
    name: Arc<str>,
}

impl Presence {
    pub(super) async fn begin(
        address: &Arc<Address>,
        followers: &Followers,
        is_away: watch::Sender<bool>,
        clock: Clock,
    ) -> Result<Self, sqlx::Error> {
        let held = hold(address).await?;
        let shared = Arc::new(Shared { name: Mutex::new(Some(Arc::clone(&held.name))) });
        let keep = keep(Arc::clone(address), Arc::clone(&shared), followers.clone(), (is_away, clock), held);
        Ok(Self { task: tokio::spawn(keep).abort_handle(), address: Arc::clone(address), shared })
    }

    /// The name of this process; `None` while others may take it for dead.
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        self.shared.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the process of a name has ended.
    pub(crate) async fn is_gone(&self, connections: &Connections, name: &str) -> Result<bool, Error> {
        if self.name().is_some_and(|own| *own == *name) {
            return Ok(false);
        }
        Ok(!self.is_held(connections, name).await?)
    }

    /// Whether these connections lead to the database where this process shows that it lives.
    pub(super) async fn is_seen(&self, connections: &Connections) -> Result<bool, Error> {
        match self.name() {
            Some(name) => self.is_held(connections, &name).await,
            None => Err(silent().into()),
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
        let own = self.name().map_or(0, |name| key(&self.address, &name).1);
        let (held, own) = (held(key(&self.address, "").0), unsigned(own));
        let others: Statement<i64> =
            sql!("SELECT count(*) FROM ({..held}) AS held WHERE objid::BIGINT <> {own}");
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
        "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid::BIGINT = {kind}
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

/// Connects, listens, and acquires the lock of a new name.
async fn hold(address: &Address) -> Result<Held, sqlx::Error> {
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(Duration::from_secs(2));
    let mut listener = PgListener::connect_with(&pool.connect_with(address.unbounded()).await?).await?;
    listener.eager_reconnect(false);
    listener.listen(&channel(address)).await?;
    let name: Arc<str> = Uuid::new_v4().simple().to_string().into();
    let (kind, key) = key(address, &name);
    sqlx::query("SELECT pg_advisory_lock($1, $2)").bind(kind).bind(key).execute(&mut listener).await?;
    Ok(Held { listener, name })
}

/// Keeps a connection with a lock, for as long as it is polled.
async fn keep(
    address: Arc<Address>,
    shared: Arc<Shared>,
    followers: Followers,
    (is_away, clock): (watch::Sender<bool>, Clock),
    mut held: Held,
) {
    let set = |name| *shared.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
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
            until_lost(&mut held.listener, &followers, &is_away, &clock).await;
            is_away.send_replace(true);
            metric::state_available(false);
            set(None);
            tracing::warn!(%address, "the connection that shows others that this process lives is lost");
            held = loop {
                match hold(&address).await {
                    Ok(held) => break held,
                    Err(_) => sleep(RETRY_DELAY).await,
                }
            };
            set(Some(Arc::clone(&held.name)));
            is_away.send_replace(false);
            metric::state_available(true);
            tracing::info!(%address, "connected again, under a new name");
            followers.notify_all();
        }
    };
    tokio::join!(looking, keeping);
}

/// Notifies followers of commits of other processes, and tests the connection, until it is lost.
async fn until_lost(
    listener: &mut PgListener,
    followers: &Followers,
    is_away: &watch::Sender<bool>,
    clock: &Clock,
) {
    let mut next_test = now() + TEST_INTERVAL;
    loop {
        match timeout_at(next_test, listener.try_recv()).await {
            Ok(Ok(Some(_))) => {
                while listener.next_buffered().is_some() {}
                followers.notify_all();
            }
            Ok(Ok(None) | Err(_)) => return,
            Err(_) => {
                if !test(listener, is_away, clock).await {
                    return;
                }
                next_test = now() + TEST_INTERVAL;
            }
        }
    }
}

/// Tests the connection and the clock; `false` if it is lost.
async fn test(listener: &mut PgListener, is_away: &watch::Sender<bool>, clock: &Clock) -> bool {
    let asked_at = clock.machine();
    let read = sqlx::query_scalar::<_, i64>(clock::READ).fetch_one(&mut *listener);
    let mut test = Box::pin(timeout(LOST_AFTER, read));
    let tested = if let Ok(tested) = timeout(TEST_TIMEOUT, &mut test).await {
        tested
    } else {
        // Others still see the lock: the process keeps its name, and only waits.
        is_away.send_replace(true);
        metric::state_available(false);
        test.await
    };
    let Ok(Ok(of_database)) = tested else { return false };
    clock.watch(asked_at, instant(of_database));
    if is_away.send_if_modified(std::mem::take) {
        metric::state_available(true);
    }
    true
}
