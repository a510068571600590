//! A store that fails at its n-th change of a row, for every n, and at its commit: nothing is acknowledged, and nothing
//! is stored by half. Then the same succeeds.
//!
//! The rows are failed by triggers of the writing connection alone, which count.

use std::{fmt::Debug, path::Path};

use bytes::Bytes;
use sqlx::{Connection, Row, SqliteConnection};
use toolwire::{
    contract::{DocumentRefusal, ErrorCode},
    db::Durability,
    state::{
        backup::check,
        tasks::{NewEnd, NewMessage, NewQuestion, Resolution, entry::Speaker},
        workspace::{Edit, Header, Workspace},
    },
};

use super::{
    confirmed::{begin, decide},
    *,
};

/// Without those that hold steps or are not the program's.
const TABLES: &str = "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
     AND name NOT LIKE '\\_sqlx\\_%' ESCAPE '\\' ORDER BY name";

async fn run(connection: &mut SqliteConnection, statement: String) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(connection).await.unwrap();
}

impl House {
    /// From now on changes of rows count down, and the one that comes to zero fails.
    async fn fail_by_turns(&self) {
        let mut change = self.store.change(Durability::Process).await.unwrap();
        run(change.sqlite().unwrap(), "CREATE TEMP TABLE left_over (n INTEGER)".to_owned()).await;
        run(change.sqlite().unwrap(), "INSERT INTO left_over VALUES (-1)".to_owned()).await;
        let tables: Vec<String> =
            sqlx::query_scalar(TABLES).fetch_all(change.sqlite().unwrap()).await.unwrap();
        for table in &tables {
            for event in ["INSERT", "UPDATE", "DELETE"] {
                let trigger = format!(
                    "CREATE TEMP TRIGGER fail_{event}_{table} BEFORE {event} ON main.{table} BEGIN \
                     UPDATE left_over SET n = n - 1; \
                     SELECT RAISE(ABORT, 'it fails') WHERE (SELECT n FROM left_over) = 0; END"
                );
                run(change.sqlite().unwrap(), trigger).await;
            }
        }
        change.commit().await.unwrap();
    }

    /// The n-th change of a row fails; none with -1.
    async fn fail_at(&self, n: i64) {
        let mut change = self.store.change(Durability::Process).await.unwrap();
        run(change.sqlite().unwrap(), format!("UPDATE left_over SET n = {n}")).await;
        change.commit().await.unwrap();
    }

    /// The next commit fails. Whatever comes after it has another connection.
    async fn fail_commit(&self) {
        let mut change = self.store.change(Durability::Process).await.unwrap();
        change.sqlite().unwrap().lock_handle().await.unwrap().set_commit_hook(|| false);
    }

    /// Does something that must not succeed until nothing fails any more, and changes nothing before.
    async fn survives<T: Debug, E: Debug>(&self, what: &str, done: impl AsyncFn() -> Result<T, E>) -> T {
        let before = dump(self.directory.path()).await;
        let mut n = 1;
        let succeeded = loop {
            self.fail_at(n).await;
            match done().await {
                Ok(succeeded) => break succeeded,
                Err(failed) => {
                    let said = format!("{failed:?}");
                    assert!(said.contains("it fails") || said.contains("Unavailable"), "{what}, {n}: {said}");
                }
            }
            assert_eq!(dump(self.directory.path()).await, before, "{what}: stored by half at {n}");
            n += 1;
        };
        assert!(n > 2, "{what} changes something");
        self.fail_at(-1).await;
        assert_ne!(dump(self.directory.path()).await, before, "{what} is stored once it is acknowledged");
        assert_eq!(check(self.directory.path()).await.unwrap().problems, Vec::<String>::new(), "{what}");
        succeeded
    }
}

/// Every row of every table, as text.
async fn dump(directory: &Path) -> Vec<String> {
    let file = format!("sqlite://{}", directory.join("toolwire.db").display());
    let mut connection = SqliteConnection::connect(&file).await.unwrap();
    let mut all = Vec::new();
    let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(&mut connection).await.unwrap();
    for table in &tables {
        let columns = format!("SELECT name FROM pragma_table_info('{table}')");
        let columns = sqlx::query(sqlx::AssertSqlSafe(columns)).fetch_all(&mut connection).await.unwrap();
        let columns: Vec<_> =
            columns.iter().map(|it| format!("quote(\"{}\")", it.get::<String, _>(0))).collect();
        let rows = format!("SELECT {} FROM {table}", columns.join(" || ', ' || "));
        let rows = sqlx::query(sqlx::AssertSqlSafe(rows)).fetch_all(&mut connection).await.unwrap();
        all.extend(rows.iter().map(|it| format!("{table}: {}", it.get::<String, _>(0))));
    }
    all
}

async fn failing() -> House {
    let house = House::of_sqlite();
    house.store.open().await.unwrap();
    house.fail_by_turns().await;
    house
}

fn said() -> NewMessage {
    let text = "long ".repeat(10_000);
    NewMessage { speaker: Speaker::User, text, opaque: None, step_ref: StepRef::default() }
}

#[tokio::test]
async fn what_agents_do_to_tasks_is_stored_whole_or_not_at_all() {
    let house = failing().await;
    let (new, created) = (NewRoot { role: "lead".to_owned(), ..new_root() }, mutation("CreateTask", "1"));
    let create = async || house.tasks().create_root_task(&new, created).await;
    let root = house.survives("a root", create).await;
    let leased = async || house.lease(&root.id, "worker", None, now()).await;
    let token = house.survives("a lease", leased).await.task.lease.unwrap().token;
    let step_ref = StepRef { lease_token: token, ..StepRef::default() };
    let of =
        |task: &Task, tool: &str, kind| TaskCall { step_ref: step_ref.clone(), ..call(task, tool, kind) };
    let thinks = of(&root, "stop_and_think", CallType::NonFunction);
    house.survives("a thought", async || house.tasks().log_task_call(&thinks).await).await;
    let writes = of(&root, "write_file", CallType::Function);
    house.survives("a call", async || house.tasks().begin_task_call(&writes, None).await).await;
    let outcome = result(&writes, Ok(json!({"text": "x".repeat(20_000)})));
    house.survives("its end", async || house.tasks().end_task_call(&writes, ended(&outcome)).await).await;
    let delegates = of(&root, "route_to_analyst", CallType::AgentAsTool);
    let action = house
        .survives("a delegation", async || house.tasks().delegate_task(&delegates, &child()).await)
        .await;
    let child = house.task(action.task_id.as_ref().unwrap()).await;
    let asks = call(&child, "ask_master", CallType::AskMaster);
    let question = NewQuestion { question: "Right?".to_owned(), documents: Vec::new(), timeout: 20 * MINUTE };
    let action =
        house.survives("a question", async || house.tasks().ask_question(&asks, &question).await).await;
    let question = house.task(action.task_id.as_ref().unwrap()).await;
    let answers = async || house.tasks().answer_question(&riley(), &question.id, "yes", &[]).await;
    house.survives("an answer", answers).await;
    let last = call(&child, "handoff", CallType::Handoff);
    let value = object(&json!({"charts": 1}));
    let hand_off = async || house.tasks().hand_off_task(&last, &value, &[]).await;
    house.survives("a hand-off", hand_off).await;
    assert_eq!(house.assert_folds(&root.id).await.state, State::Running, "its parent goes on");
    let (end, by) = (NewEnd::Failed("no".to_owned()), mutation("EndTask", "1"));
    let ends = async || house.tasks().end_task(&riley(), &root.id, &end, token, by).await;
    house.survives("an end", ends).await;
}

#[tokio::test]
async fn what_people_do_to_tasks_is_stored_whole_or_not_at_all() {
    let house = failing().await;
    let root = house.root().await;
    let (message, by) = (said(), mutation("AppendMessage", "1"));
    let say = async || house.tasks().append_message(&riley(), &root.id, &message, by).await;
    house.survives("a message", say).await;
    let confirms = call(&root, "write_file", CallType::Function);
    let opened = house.survives("a confirmation", async || begin(&house, &confirms, now()).await).await;
    let Admission::Asks(confirmation) = opened else { panic!("{opened:?}") };
    decide(&house, &confirmation.id, true).await;
    house.survives("its use", async || begin(&house, &confirms, now()).await).await;
    // As if the process that carries it out had ended.
    let lost = result(&confirms, Err(ToolError::new(ErrorCode::OutcomeUnknown, "lost")));
    let loses = async || house.tasks().end_task_call(&confirms, ended(&lost)).await;
    house.survives("an unknown outcome", loses).await;
    let (call_id, done) = (confirms.call_id(), Resolution::Done(object(&json!({"found": 1}))));
    let resolves =
        async || house.tasks().resolve_unknown_call(&riley(), &root.id, call_id, &done, "seen").await;
    house.survives("its resolution", resolves).await;
    let (_, child) = house.delegate(&root, 1).await;
    house.delegate(&child, 1).await;
    house.ask(&house.root().await).await;
    let cancels = async || house.tasks().cancel_task(&riley(), &root.id, "no more").await;
    assert_eq!(house.survives("a cancellation", cancels).await.stopped.tasks.len(), 3);
    // That of the question alone has passed.
    let late = now() + 30 * MINUTE;
    house.survives("a deadline", async || house.tasks().at_time(late).expire_tasks().await).await;
}

#[tokio::test]
async fn what_is_written_to_documents_is_stored_whole_or_not_at_all() {
    let house = failing().await;
    let root = house.root().await;
    let user = toolwire::tool::context::User::new(riley());
    let workspace = Workspace::new(&house.store).of_task(&user, &root.id).await.unwrap();
    let put = async |path: &str, size: usize, etag: &str| -> Result<_, DocumentRefusal> {
        let header = Header { path: path.to_owned(), etag: etag.to_owned(), ..Header::default() };
        workspace.put(header, Bytes::from(vec![b'x'; size])).await
    };
    let small = house.survives("a document", async || put("a.txt", 10, "*").await).await;
    house.survives("a large one", async || put("b.txt", 100_000, "*").await).await;
    let next = house.survives("a version", async || put("a.txt", 20, &small.etag).await).await;
    let edit = async || {
        let edit = Edit { description: Some("words".to_owned()), ..Edit::default() };
        workspace.update("a.txt", &next.etag, edit).await
    };
    house.survives("what is said of it", edit).await;
    house.survives("a deletion", async || workspace.delete("a.txt", "").await).await;
}

/// The commit itself fails, as on a disk that is full then.
#[tokio::test]
async fn nothing_is_acknowledged_whose_commit_failed() {
    let house = House::of_sqlite();
    let root = house.root().await;
    let before = dump(house.directory.path()).await;
    house.fail_commit().await;
    let thinks = call(&root, "stop_and_think", CallType::NonFunction);
    house.tasks().log_task_call(&thinks).await.unwrap_err();
    house.fail_commit().await;
    let (message, by) = (said(), mutation("AppendMessage", "1"));
    house.tasks().append_message(&riley(), &root.id, &message, by).await.unwrap_err();
    house.fail_commit().await;
    house.tasks().cancel_task(&riley(), &root.id, "").await.unwrap_err();
    assert_eq!(dump(house.directory.path()).await, before);
    // Writes go on by themselves.
    house.tasks().log_task_call(&thinks).await.unwrap();
    assert_eq!(house.tasks().append_message(&riley(), &root.id, &message, by).await.unwrap(), 2);
}
