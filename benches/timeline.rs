//! What a timeline costs: appends beside a bare loop of grouped inserts into the same database with the same
//! durability, how soon a follower sees an entry, the last page of a long one, and what a model is shown of it. Prints
//! what is promised and what was seen. The database is SQLite, or PostgreSQL where `TOOLWIRE_TEST_STATE` has its
//! address: `.ci/postgres.sh cargo bench --bench timeline`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints figures")]
#![allow(clippy::cast_precision_loss, reason = "figures are printed with three digits")]

use std::{collections::BTreeMap, env, path::Path, sync::Arc, time::Duration};

use futures_util::future::join_all;
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection, raw_sql};
use toolwire::{
    base::{clock, digest::Digest},
    db::Address,
    engine::tasks::render::read::{RenderOptions, render_task},
    state::{
        Store,
        tasks::{Mutation, NewMessage, NewRoot, PageRequest, StepRef, entry::Speaker},
        workspace::Workspace,
    },
    tool::context::{RequestId, TaskId, User, UserId},
};

/// How many entries each way is timed with.
const ENTRIES: usize = 16_384;
const WRITERS: [usize; 3] = [1, 64, 256];
const TASKS: usize = 8;
const TEXT: usize = 200;
/// The variable with the address of a PostgreSQL.
const POSTGRES: &str = "TOOLWIRE_TEST_STATE";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        for writers in WRITERS {
            appends(writers).await;
        }
        followers().await;
        last_page().await;
        render().await;
    });
}

/// Entries a second, ours and bare.
async fn appends(writers: usize) {
    let entries = if writers == 1 { ENTRIES / 16 } else { ENTRIES };
    let directory = tempfile::tempdir().unwrap();
    let bare = bare(directory.path(), entries, writers).await;
    let house = House::open().await;
    let ours = house.append(entries, writers).await;
    let (bare, ours) = (entries as f64 / bare.as_secs_f64(), entries as f64 / ours.as_secs_f64());
    println!(
        "appends, {writers:>3} at once: {ours:>8.0} a second, bare {bare:>8.0}: {:.2} of it (wanted: 0.50)",
        ours / bare
    );
}

/// One row an entry, so many a transaction.
async fn bare(directory: &Path, entries: usize, group: usize) -> Duration {
    let mut connection = Bare::connect(directory).await;
    let (task, text) = (format!("task_{:032x}", 1), "x".repeat(TEXT));
    let begun = clock::now();
    for first in (0..entries).step_by(group) {
        connection.run("BEGIN").await;
        for seq in first..(first + group).min(entries) {
            connection.insert(&task, i64::try_from(seq).unwrap(), &text).await;
        }
        connection.run("COMMIT").await;
    }
    begun.elapsed()
}

/// A connection with an empty table.
enum Bare {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Bare {
    async fn connect(directory: &Path) -> Self {
        let columns = "(task TEXT NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL, kind TEXT NOT NULL, \
                       body TEXT NOT NULL, UNIQUE (task, seq))";
        let (mut connection, before) = if let Ok(url) = env::var(POSTGRES) {
            (
                Self::Postgres(PgConnection::connect(&url).await.unwrap()),
                "DROP TABLE IF EXISTS bare_entries; CREATE",
            )
        } else {
            let url = format!("sqlite:{}?mode=rwc", directory.join("bare.db").display());
            let mut connection = Self::Sqlite(SqliteConnection::connect(&url).await.unwrap());
            connection.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").await;
            (connection, "CREATE")
        };
        connection.run(&format!("{before} TABLE bare_entries {columns}")).await;
        connection
    }

    async fn run(&mut self, statement: &str) {
        let statement = raw_sql(AssertSqlSafe(statement));
        match self {
            Self::Sqlite(connection) => drop(statement.execute(connection).await.unwrap()),
            Self::Postgres(connection) => drop(statement.execute(connection).await.unwrap()),
        }
    }

    async fn insert(&mut self, task: &str, seq: i64, text: &str) {
        let statement = "INSERT INTO bare_entries VALUES ($1, $2, 0, 'message', $3)";
        match self {
            Self::Sqlite(connection) => {
                let insert = sqlx::query(statement).bind(task).bind(seq).bind(text);
                insert.execute(connection).await.unwrap();
            }
            Self::Postgres(connection) => {
                let insert = sqlx::query(statement).bind(task).bind(seq).bind(text);
                insert.execute(connection).await.unwrap();
            }
        }
    }
}

/// How long after its commit an entry is with a follower.
async fn followers() {
    let house = House::open().await;
    let mut seen = Vec::new();
    for _ in 0..1_000 {
        let mut followed = house.state.follow_tasks().await.unwrap();
        let (task, state, user) = (house.tasks[0].clone(), Arc::clone(&house.state), house.user.clone());
        let last = state.task(&user, &task).await.unwrap().next_sequence;
        let reading = tokio::spawn(async move {
            loop {
                let from = PageRequest { from: Some(last), backwards: false, limit: 500 };
                if !state.timeline_page(&user, &task, from).await.unwrap().entries.is_empty() {
                    return clock::now();
                }
                followed.changed().await.unwrap();
            }
        });
        house.message(0).await;
        let committed = clock::now();
        seen.push(reading.await.unwrap().saturating_duration_since(committed));
    }
    seen.sort();
    println!(
        "a follower sees an entry after its commit: p50 {:?}, p99 {:?} (wanted: 20 ms)",
        seen[500], seen[990]
    );
}

async fn last_page() {
    let house = House::open().await;
    house.append(100_096, 256).await;
    let mut times = Vec::new();
    for _ in 0..200 {
        let begun = clock::now();
        let page = PageRequest { from: None, backwards: true, limit: 100 };
        assert_eq!(
            house.state.timeline_page(&house.user, &house.tasks[0], page).await.unwrap().entries.len(),
            100
        );
        times.push(begun.elapsed());
    }
    times.sort();
    println!("the last page of a long timeline: p50 {:?}, p99 {:?} (wanted: 5 ms)", times[100], times[198]);
}

/// A render of as many tokens as is usual, of a timeline that is as long as may be.
async fn render() {
    let house = House::open().await;
    join_all((0..256).map(|_| async {
        for _ in 0..99_000 / 256 {
            house
                .say(0, "Revenue of the third quarter rose by 15% to 1,204,500 in the north. ".repeat(3))
                .await;
        }
    }))
    .await;
    let (user, id) = (User::new(house.user.clone()), &house.tasks[0]);
    let room = Workspace::new(&house.state).of_task(&user, id).await.unwrap();
    let task = house.state.task(&house.user, id).await.unwrap();
    let mut times = Vec::new();
    for _ in 0..50 {
        let wish = RenderOptions { budget: 60_000, secret: b"secret".to_vec(), ..RenderOptions::default() };
        let begun = clock::now();
        let shown = render_task(&house.state, &room, (&house.user, &task), wish).await.unwrap();
        times.push(begun.elapsed());
        assert!((50_000..=60_000).contains(&shown.tokens), "{}", shown.tokens);
    }
    times.sort();
    println!(
        "60,000 tokens of {} entries: p50 {:?}, the slowest {:?} (wanted: 20 ms)",
        task.next_sequence, times[25], times[49]
    );
}

/// A state with a few roots.
struct House {
    state: Arc<Store>,
    user: UserId,
    tasks: Vec<TaskId>,
    _directory: tempfile::TempDir,
}

impl House {
    async fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let user: UserId = "riley".parse().unwrap();
        let state = Arc::new(match env::var(POSTGRES) {
            Ok(url) => {
                // A schema of its own.
                let schema = TaskId::generate().to_string();
                Store::in_postgres(Address::new(&url, &schema).unwrap())
            }
            Err(_) => Store::at(directory.path()),
        });
        let mut tasks = Vec::new();
        for _ in 0..TASKS {
            let root = NewRoot {
                id: TaskId::generate(),
                user: user.clone(),
                tool: "start_task".to_owned(),
                request: "Append".to_owned(),
                role: String::new(),
                documents: Vec::new(),
                timeout: Duration::from_hours(24),
                labels: BTreeMap::new(),
            };
            tasks.push(state.create_root_task(&root, mutation("CreateTask")).await.unwrap().id);
        }
        Self { state, user, tasks, _directory: directory }
    }

    async fn append(&self, entries: usize, writers: usize) -> Duration {
        let begun = clock::now();
        join_all((0..writers).map(|writer| async move {
            for _ in 0..entries / writers {
                self.message(writer % TASKS).await;
            }
        }))
        .await;
        begun.elapsed()
    }

    async fn message(&self, task: usize) {
        self.say(task, "x".repeat(TEXT)).await;
    }

    async fn say(&self, task: usize, text: String) {
        let message = NewMessage {
            speaker: Speaker::Assistant,
            text,
            opaque: None,
            step_ref: StepRef { step: 0, position: 0, tool_call_id: String::new(), lease_token: 0 },
        };
        let appended =
            self.state.append_message(&self.user, &self.tasks[task], &message, mutation("AppendMessage"));
        appended.await.unwrap();
    }
}

fn mutation(method: &'static str) -> Mutation {
    Mutation { method, request_id: RequestId::generate(), digest: Digest::of_bytes(b"bench") }
}
