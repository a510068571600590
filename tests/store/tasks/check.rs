//! `toolwire state check`: a state that was used is as it must be, and whatever is damaged in it is named.

use std::{fs, path::Path};

use bytes::Bytes;
use sqlx::{Connection, SqliteConnection};
use toolwire::state::{
    backup::{BackupError, backup, check, restore},
    workspace::{Header, Workspace},
};

use super::{messages::say, *};

/// What is done to a state, and what the check says of it.
const HARMS: &[(&str, &str)] = &[
    ("UPDATE tasks SET state = 'running', reason = NULL WHERE state = 'blocked'", "its timeline says: state"),
    ("UPDATE tasks SET state = 'asleep'", "cannot be read"),
    ("UPDATE tasks SET next = next + 1", "its timeline says: next"),
    ("UPDATE tasks SET waiting_step = 7", "its timeline says: waits"),
    ("UPDATE tasks SET request = 'x'", "its timeline says: request"),
    ("UPDATE tasks SET result = '{}' WHERE result IS NOT NULL", "its timeline says: result"),
    ("UPDATE tasks SET message = 'x'", "its timeline says: message"),
    ("UPDATE tasks SET step = 9", "its timeline says: step"),
    ("UPDATE tasks SET tainted = 1", "its timeline says: tainted"),
    ("UPDATE tasks SET created_at = 1", "its timeline says: created_at"),
    ("UPDATE tasks SET updated_at = 1", "its timeline says: updated_at"),
    ("UPDATE tasks SET ended_at = 1 WHERE ended_at IS NOT NULL", "its timeline says: ended_at"),
    ("UPDATE tasks SET lease_token = 9, lease_holder = 'x'", "its timeline says: lease"),
    ("UPDATE tasks SET bytes = bytes + 1", "its timeline says: bytes"),
    ("DELETE FROM entries WHERE seq = 1", "entry 1 is missing"),
    ("UPDATE entries SET head = '{}' WHERE seq = 0", "entry 0 cannot be read"),
    ("UPDATE entries SET kind = 'message' WHERE kind = 'started'", "is not what its columns say"),
    ("UPDATE entries SET answers = 99 WHERE answers IS NOT NULL", "answers what was not asked"),
    ("UPDATE entry_parts SET text = text || 'x'", "has another input than was written"),
    ("DELETE FROM entry_parts", "has another input than was written"),
    ("DELETE FROM waits WHERE kind = 'child'", "is open, and its parent does not wait for it"),
    ("UPDATE waits SET thing = task WHERE kind = 'question'", "does not work for it"),
    ("INSERT INTO waits SELECT task, seq + 1, kind, thing FROM waits", "waits twice for the same"),
    ("UPDATE tasks SET ended_at = 1, state = 'failed' WHERE kind = 'question'", "which has ended"),
    ("UPDATE confirmations SET state = 'denied'", "which is not to be decided"),
    ("UPDATE confirmations SET state = 'denied'", "does not stand as its last change says"),
    ("DELETE FROM confirmation_events", "is open, and its last change is not there"),
    ("UPDATE confirmation_sequence SET last = last + 1", "confirmation_events have a gap"),
    ("UPDATE confirmation_positions SET last = 0", "confirmation_positions does not count what there is"),
    ("UPDATE timeline_usage SET last = 1", "timeline_usage does not count what there is"),
    ("UPDATE timeline_usage SET bytes = 1", "timeline_usage does not count what there is"),
    ("UPDATE tasks SET position = 1", "position 1 is that of several tasks"),
    (
        "UPDATE open_calls SET task = (SELECT id FROM tasks WHERE ended_at IS NOT NULL)",
        "is open after the end of its task",
    ),
    ("UPDATE open_calls SET task = 'task_0'", "an open call of task task_0 belongs to no task"),
    ("UPDATE entry_parts SET task = 'task_0'", "a text of task task_0 belongs to no task"),
    ("UPDATE tasks SET depth = 5 WHERE parent IS NOT NULL", "is not of the tree of its parent"),
    ("UPDATE tasks SET root = id", "is a root within a tree"),
    ("DELETE FROM versions WHERE version = 1", "lacks versions"),
    ("DELETE FROM versions WHERE version = 1", "does not count its documents"),
    ("UPDATE documents SET size = size + 1", "is not what its last version says"),
    ("UPDATE documents SET deleted = 1", "is not what its last version says"),
    ("DELETE FROM workspaces", "has no workspace"),
    ("UPDATE workspaces SET bytes = bytes + 1", "does not count its documents"),
    ("UPDATE workspaces SET documents = documents - 1", "does not count its documents"),
    ("UPDATE blobs SET uses = 7", "is not counted as often as it is used"),
    ("UPDATE blobs SET bytes = zeroblob(size) WHERE bytes IS NOT NULL", "are not those that its name says"),
    ("DELETE FROM blobs WHERE bytes IS NULL", "has no bytes of its size"),
    ("DELETE FROM postings WHERE document = 1", "cannot be found by its words"),
    ("INSERT INTO postings VALUES (1, 1, 99, ';x 1 0;')", "is found, and is not there"),
    ("UPDATE results_usage SET bytes = 7", "results_usage does not count what there is"),
];

/// A state in which there is something of everything.
async fn used() -> House {
    let house = House::of_sqlite();
    let root = house.root_of("lead").await;
    house.lease(&root.id, "worker", None, now()).await.unwrap();
    let blocked = house.root().await;
    let (_, done) = house.delegate(&blocked, 1).await;
    house.hand_off(&done).await.unwrap();
    house.delegate(&blocked, 2).await;
    house.ask(&house.root().await).await;
    let confirms = house.root().await;
    let asked = call(&confirms, "write_file", CallType::Function);
    super::confirmed::begin(&house, &asked, now()).await.unwrap();
    let open = call(&house.root().await, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&open, None).await);
    let talks = house.root().await;
    say(&house, "riley", &talks.id, &"long ".repeat(10_000), RequestId::generate()).await.unwrap();
    let cancelled = house.root().await;
    let (_, child) = house.delegate(&cancelled, 1).await;
    house.delegate(&child, 1).await;
    house.tasks().cancel_task(&riley(), &cancelled.id, "no more").await.unwrap();
    let user = toolwire::tool::context::User::new(riley());
    let workspace = Workspace::new(&house.store).of_task(&user, &talks.id).await.unwrap();
    for (path, size) in [("small.txt", 10), ("small.txt", 20), ("large.txt", 100_000)] {
        let header = Header { path: path.to_owned(), ..Header::default() };
        workspace.put(header, Bytes::from(vec![b'x'; size])).await.unwrap();
    }
    house
}

async fn harm(state: &Path, statement: &'static str) {
    let file = format!("sqlite://{}", state.join("toolwire.db").display());
    let mut raw = SqliteConnection::connect(&file).await.unwrap();
    sqlx::query("PRAGMA foreign_keys = OFF").execute(&mut raw).await.unwrap();
    let done = sqlx::query(statement).execute(&mut raw).await.unwrap();
    assert!(done.rows_affected() > 0, "nothing was harmed by {statement}");
    raw.close().await.unwrap();
}

#[tokio::test]
async fn whatever_is_damaged_is_named() {
    let house = used().await;
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("copy");
    let checked = check(house.directory.path()).await.unwrap();
    assert_eq!(checked.problems, Vec::<String>::new());
    assert!(checked.checks.iter().any(|it| it == "12 tasks and 26 entries"), "{:?}", checked.checks);
    backup(house.directory.path(), &copy).await.unwrap();
    for (number, (statement, finding)) in HARMS.iter().enumerate() {
        let state = place.path().join(number.to_string());
        restore(&copy, &state).unwrap();
        harm(&state, statement).await;
        let problems = check(&state).await.unwrap().problems.join("\n");
        assert!(problems.contains(finding), "{statement}: {problems}");
    }
}

#[tokio::test]
async fn bytes_in_a_file_that_are_not_those_of_its_name_are_named() {
    let house = used().await;
    let name = Digest::of_bytes(&vec![b'x'; 100_000]).to_string();
    let file = house.directory.path().join("blobs").join(&name[..2]).join(&name);
    fs::write(&file, "others").unwrap();
    let problems = async || check(house.directory.path()).await.unwrap().problems.join("\n");
    assert!(problems().await.contains("does not hold the bytes that its name says"));
    fs::remove_file(&file).unwrap();
    assert!(problems().await.contains(&name));
}

/// A task that is being deleted lacks what went first, and nothing is wrong with that.
#[tokio::test]
async fn a_tree_that_is_being_deleted_is_no_damage() {
    let house = House::of_sqlite();
    let root = house.root().await;
    let user = toolwire::tool::context::User::new(riley());
    let workspace = Workspace::new(&house.store).of_task(&user, &root.id).await.unwrap();
    let header = Header { path: "a.txt".to_owned(), ..Header::default() };
    workspace.put(header, Bytes::from_static(b"x")).await.unwrap();
    house.hand_off(&root).await.unwrap();
    house.tasks().delete_task_tree(&riley(), &root.id).await.unwrap();
    harm(house.directory.path(), "DELETE FROM entries").await;
    assert_eq!(check(house.directory.path()).await.unwrap().problems, Vec::<String>::new());
    while house.tasks().sweep_tasks(MINUTE).await.unwrap() {}
    assert_eq!(check(house.directory.path()).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_state_of_another_program_is_not_looked_at_and_left_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("toolwire.db");
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/state/toolwire-0.1.db");
    let old = fs::read(kept).unwrap();
    fs::write(&file, &old).unwrap();
    let error = check(place.path()).await.unwrap_err();
    assert!(matches!(error, BackupError::Older { has: 1, .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("earlier toolwire") && said.contains("brings it up to date"), "{said}");
    // It can be copied before.
    let made = backup(place.path(), &place.path().join("copy")).await.unwrap();
    assert_eq!(made.files.len(), 1);
    assert_eq!(fs::read(&file).unwrap(), old);

    Store::at(place.path()).open().await.unwrap();
    assert_eq!(check(place.path()).await.unwrap().problems, Vec::<String>::new(), "brought up to date");
    harm(place.path(), "UPDATE _sqlx_migrations SET version = 9999 WHERE version = 3").await;
    let error = check(place.path()).await.unwrap_err();
    assert!(matches!(error, BackupError::Newer { has: 9999, .. }), "{error:?}");

    let foreign = tempfile::tempdir().unwrap();
    let file = format!("sqlite://{}?mode=rwc", foreign.path().join("toolwire.db").display());
    let mut raw = SqliteConnection::connect(&file).await.unwrap();
    sqlx::query("CREATE TABLE another (program TEXT)").execute(&mut raw).await.unwrap();
    raw.close().await.unwrap();
    let error = check(foreign.path()).await.unwrap_err();
    assert!(error.to_string().ends_with("is not a state of toolwire"), "{error}");
}

/// The outcome of what was under way when its task ended stands after the end, and answers what the end left.
#[tokio::test]
async fn an_outcome_that_came_after_its_task_is_no_damage_and_one_that_answers_nothing_is() {
    let house = House::of_sqlite();
    let root = house.root().await;
    let call = call(&root, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&call, None).await);
    house.tasks().cancel_task(&riley(), &root.id, "enough").await.unwrap();
    let done = result(&call, Ok(json!({"path": "a.md"})));
    house.tasks().end_task_call(&call, ended(&done)).await.unwrap();
    let problems = async || check(house.directory.path()).await.unwrap().problems.join("\n");
    assert_eq!(problems().await, "");
    harm(house.directory.path(), "UPDATE entries SET answers = 0 WHERE answers IS NOT NULL").await;
    let found = problems().await;
    assert!(
        found.contains("answers what was not asked") && found.contains("is not what its columns say"),
        "{found}"
    );
}
