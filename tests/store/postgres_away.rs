//! A database that is stopped, paused, full of connections, without room or replaced by its standby while calls are
//! made: they are refused in time, work when it is back, and write once. Without PostgreSQL nothing is tested.

mod failover;
mod full_disk;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use toolwire::{
    base::{clock, digest::Digest},
    contract::{Refusal, Terminal, ToolResult},
    db::{Address, StoreError, sql},
    state::{
        Store,
        tasks::{Mutation, NewRoot, Recovered},
    },
    tool::context::{RequestId, TaskId, TaskLabel},
};

use super::cluster::Cluster;
use crate::support::{Bench, state, user_id};

/// The longest that a call waits for the database, and a moment more on a machine that is busy.
const IN_TIME: Duration = Duration::from_secs(3);

/// How soon the database is used again once it is back.
const BACK: Duration = Duration::from_secs(30);

/// A pipeline over a state in the database.
struct World {
    bench: Bench,
    store: Arc<Store>,
}

impl World {
    /// The database, and a pipeline that has written once. `None` if the tests run without PostgreSQL.
    async fn start(connections: u32) -> Option<(Cluster, Self)> {
        let cluster = Cluster::start(connections)?;
        let world = Self::over(cluster.address()).await;
        assert_eq!(world.count().await, 1);
        Some((cluster, world))
    }

    async fn over(address: Address) -> Self {
        let store = Arc::new(Store::in_postgres(address));
        store.open().await.unwrap();
        Self { bench: Bench::recording_in(&store), store }
    }

    async fn write(&self, id: RequestId, duration: &str) -> Result<ToolResult, Refusal> {
        self.write_in(None, id, duration).await
    }

    async fn write_in(
        &self,
        task: Option<&TaskId>,
        id: RequestId,
        duration: &str,
    ) -> Result<ToolResult, Refusal> {
        let mut call = Bench::call("debug_write", json!({"value": "x", "duration": duration}));
        call.request_id = Some(id);
        call.context.task_id = task.cloned().map(TaskLabel::from);
        match self.bench.run(call).await? {
            Terminal::Result(result) => Ok(result),
            Terminal::ConfirmationRequired(it) => panic!("awaits {it:?}"),
        }
    }

    async fn task(&self) -> TaskId {
        let root = NewRoot {
            id: TaskId::generate(),
            user: user_id(),
            tool: "start_task".to_owned(),
            request: "Write".to_owned(),
            role: String::new(),
            documents: Vec::new(),
            timeout: Duration::from_hours(1),
            labels: BTreeMap::new(),
        };
        let digest = Digest::of_bytes(b"root");
        let create = Mutation { method: "CreateTask", request_id: RequestId::generate(), digest };
        self.store.create_root_task(&root, create).await.unwrap().id
    }

    /// The number of writes, counting a new one.
    async fn count(&self) -> i64 {
        let answer = self.write(RequestId::generate(), "0s").await.unwrap();
        answer.outcome.unwrap().json()["writes"].as_i64().unwrap()
    }

    /// Asserts that a write is refused in time and told when to try again.
    async fn is_refused(&self, id: RequestId) {
        let begun = clock::now();
        let refused = self.write(id, "0s").await.unwrap_err();
        assert!(matches!(refused, Refusal::StateUnavailable { retry_after } if !retry_after.is_zero()));
        assert!(refused.to_string().contains("try again"), "{refused}");
        assert!(begun.elapsed() < IN_TIME, "{:?}", begun.elapsed());
    }

    /// Repeats a write until it is not refused.
    async fn writes_again(&self, id: RequestId) {
        let again = state::until(async || {
            !matches!(self.write(id, "0s").await, Err(Refusal::StateUnavailable { .. }))
        });
        tokio::time::timeout(BACK, again).await.expect("the database is used again");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_stopped_during_a_write_is_used_when_it_is_back_and_nothing_is_written_twice() {
    let Some((mut cluster, world)) = World::start(40).await else { return };
    let (during, in_task, after) = (RequestId::generate(), RequestId::generate(), RequestId::generate());
    let task = world.task().await;
    let slow = async { tokio::join!(world.write(during, "1s"), world.write_in(Some(&task), in_task, "1s")) };
    let stopping = async {
        let begun = async || {
            let open = sql!("SELECT count(*) FROM idempotency WHERE ended_at IS NULL");
            state::rows::<u64>(&world.store, open).await == [2]
        };
        state::until(begun).await;
        cluster.stop();
        world.is_refused(after).await;
    };
    let ((wrote, wrote_in_task), ()) = tokio::join!(slow, stopping);
    // Both were written; only their records are missing.
    let (wrote, wrote_in_task) = (wrote.unwrap().outcome.unwrap(), wrote_in_task.unwrap().outcome.unwrap());
    cluster.start_again();
    world.writes_again(after).await;
    state::until(async || world.bench.pipeline.in_flight().is_empty()).await;
    assert_eq!(world.write(during, "1s").await.unwrap().outcome.unwrap().json(), wrote.json());
    let again = world.write_in(Some(&task), in_task, "1s").await.unwrap();
    assert_eq!(again.outcome.unwrap().json(), wrote_in_task.json());
    let results = sql!("SELECT count(*) FROM entries WHERE kind = 'tool_call' AND result IS NOT NULL");
    assert_eq!(state::rows::<u64>(&world.store, results).await, [1]);
    let _ = world.write(after, "0s").await;
    assert_eq!(world.count().await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_paused_refuses_writes_in_time_and_is_used_when_it_goes_on() {
    let Some((cluster, world)) = World::start(40).await else { return };
    cluster.pause();
    let id = RequestId::generate();
    world.is_refused(id).await;
    world.is_refused(id).await;
    cluster.go_on();
    world.writes_again(id).await;
    assert_eq!(world.count().await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_without_a_free_connection_refuses_writes_in_time_until_there_is_one() {
    let Some((cluster, world)) = World::start(12).await else { return };
    let (mut others, mut readers) = (Vec::new(), Vec::new());
    while let Ok(other) = PgConnection::connect(&cluster.url()).await {
        others.push(other);
    }
    // Those that this process has.
    let error = loop {
        match world.store.reader().await {
            Ok(reader) => readers.push(reader),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    let id = RequestId::generate();
    world.is_refused(id).await;
    let late = Store::in_postgres(cluster.address()).open().await.unwrap_err().to_string();
    assert!(late.contains("too many clients"), "{late}");
    drop((others, readers));
    world.writes_again(id).await;
    assert_eq!(world.count().await, 3);
}

/// The server ends the connection by which others know that a process lives, while the process writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_whose_connection_broke_shows_its_calls_again_and_nobody_takes_them_over() {
    let Some((cluster, world)) = World::start(60).await else { return };
    let task = world.task().await;
    let holders = sql!("SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory'");
    let holders = state::rows::<i64>(&world.store, holders).await;
    let other = World::over(cluster.address()).await;
    let (free, in_task) = (RequestId::generate(), RequestId::generate());
    // Longer than a process that shows itself no more is waited for.
    let writing = async { tokio::join!(world.write(free, "8s"), world.write_in(Some(&task), in_task, "8s")) };
    let repeating = async {
        let begun = async || {
            let open = sql!("SELECT count(*) FROM idempotency WHERE ended_at IS NULL");
            state::rows::<u64>(&other.store, open).await == [2]
        };
        state::until(begun).await;
        let mut plain = PgConnection::connect(&cluster.url()).await.unwrap();
        for pid in &holders {
            let ended = sqlx::query("SELECT pg_terminate_backend($1::INTEGER)").bind(pid);
            ended.execute(&mut plain).await.unwrap();
        }
        let recovering = state::until(async || {
            assert_eq!(other.store.recover_tasks().await.unwrap(), Recovered::default());
            world.bench.pipeline.in_flight().is_empty()
        });
        tokio::join!(other.write(free, "8s"), other.write_in(Some(&task), in_task, "8s"), recovering)
    };
    let ((wrote, wrote_in_task), (again, again_in_task, ())) = tokio::join!(writing, repeating);
    let json = |result: Result<ToolResult, Refusal>| result.unwrap().outcome.unwrap().json().clone();
    assert_eq!(json(again), json(wrote));
    assert_eq!(json(again_in_task), json(wrote_in_task));
    assert_eq!(world.count().await, 4);
}
