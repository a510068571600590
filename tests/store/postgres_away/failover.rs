//! A failover: the address of a state leads to the standby of its database, which is promoted.

use std::sync::{
    Mutex,
    atomic::{AtomicU16, Ordering::SeqCst},
};

use sqlx::raw_sql;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use super::*;

/// An address that leads to one port and then to another, such as that of a proxy before two servers.
struct Proxy {
    port: u16,
    to: Arc<AtomicU16>,
    /// What it does, which ends with it.
    _tasks: Arc<Mutex<JoinSet<()>>>,
}

impl Proxy {
    async fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (to, tasks) = (Arc::new(AtomicU16::new(to)), Arc::new(Mutex::new(JoinSet::new())));
        let (leads, accepted) = (Arc::clone(&to), Arc::downgrade(&tasks));
        tasks.lock().unwrap().spawn(async move {
            while let (Ok((mut client, _)), Some(tasks)) = (listener.accept().await, accepted.upgrade()) {
                let port = leads.load(SeqCst);
                tasks.lock().unwrap().spawn(async move {
                    if let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self { port, to, _tasks: tasks }
    }

    fn address(&self) -> Address {
        let url = format!("postgres://toolwire@127.0.0.1:{}/postgres", self.port);
        Address::new(&url, "toolwire").unwrap()
    }
}

/// A position in the log of a server.
async fn position(of: &Cluster, function: &'static str) -> i64 {
    let mut db = PgConnection::connect(&of.url()).await.unwrap();
    let row = raw_sql(function).fetch_one(&mut db).await.unwrap();
    sqlx::Row::get(&row, 0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_refused_until_it_is_promoted_and_then_used_without_a_restart() {
    let Some(mut primary) = Cluster::start(40) else { return };
    let proxy = Proxy::start(primary.port()).await;
    let world = World::over(proxy.address()).await;
    let standby = primary.standby();
    let before = RequestId::generate();
    world.write(before, "0s").await.unwrap().outcome.unwrap();
    let written = position(&primary, "SELECT (pg_current_wal_flush_lsn() - '0/0')::BIGINT").await;
    let has =
        async || position(&standby, "SELECT (pg_last_wal_replay_lsn() - '0/0')::BIGINT").await >= written;
    state::until(has).await;

    primary.stop();
    proxy.to.store(standby.port(), SeqCst);
    let during = RequestId::generate();
    world.is_refused(during).await;
    let refused = Store::in_postgres(proxy.address()).open().await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused:?}");
    assert!(
        refused.to_string().contains("it is a standby") && refused.to_string().contains("primary"),
        "{refused}"
    );

    standby.promote();
    world.writes_again(during).await;
    // What was written before is known.
    let again = world.write(before, "0s").await.unwrap().outcome.unwrap();
    assert_eq!(again.json()["writes"], 1);
    assert_eq!(world.count().await, 3);
}
