//! A state directory that an earlier program wrote, with records of every kind, opens; everything in it is read back
//! and changed through the program.

mod confirmations;
mod documents;
mod server;
mod tasks;

use std::{
    fs::{self, File},
    io,
    path::Path,
    process::{Command, Output},
    time::{Duration, SystemTime},
};

use crate::support::state;
use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;
use toolwire::{
    db::sql::Statement,
    state::{
        Store,
        backup::{self, BackupError},
    },
};

/// The files of the state, which are compressed.
const FILES: [&str; 2] =
    ["toolwire.db", "blobs/c7/c7d795c8b2887b4d9d84ffb35df685fb2b159368f577ba3a65c9af2fd620f819"];

/// The tree that has ended, with most of the documents.
const REPORT: &str = "task_f68068e5475381852a1ef62ded7d4c8a";

/// The tree that waits for a child, an answer and a decision.
const WAITS: &str = "task_0a8ce297570eac47a0241aac8cdfb278";

/// The state in a directory of its own.
pub(super) fn unpack() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/state/toolwire-8ae9b0f");
    for name in FILES {
        let file = directory.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let compressed = File::open(kept.join(name).with_added_extension("gz")).unwrap();
        io::copy(&mut GzDecoder::new(compressed), &mut File::create(file).unwrap()).unwrap();
    }
    directory
}

/// Runs the program on the state.
fn output(state: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    let variables = [("TOOLWIRE_STATE", state.path().to_str().unwrap()), ("TOOLWIRE_DIAGNOSTICS", "true")];
    command.args(arguments).envs(variables).output().unwrap()
}

/// Runs the program, which must succeed, and returns what it prints.
fn run(state: &TempDir, arguments: &[&str]) -> String {
    let ended = output(state, arguments);
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

/// The same as lines of JSON.
fn lines(state: &TempDir, arguments: &[&str]) -> Vec<Value> {
    let printed = run(state, &[arguments, &["--json"]].concat());
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A field of each line.
fn each<'a>(lines: &'a [Value], field: &str) -> Vec<&'a str> {
    lines.iter().map(|line| line[field].as_str().unwrap()).collect()
}

/// The request identifiers in the state differ in their last two digits.
fn request_id(digits: u8) -> String {
    format!("00000000-0000-4000-8000-0000000000{digits:02}")
}

/// The check of the state finds nothing.
#[track_caller]
fn assert_sound(state: &TempDir) {
    let report = run(state, &["state", "check"]);
    assert!(report.starts_with("nothing is wrong"), "{report}");
}

/// The rows of a statement that selects one text.
async fn rows(store: &Store, sql: &'static str) -> Vec<String> {
    state::rows(store, Statement::new(sql, Vec::new())).await
}

#[tokio::test]
async fn a_state_of_an_earlier_program_is_upgraded_with_its_counts_and_sound() {
    let state = unpack();
    let earlier = backup::check(state.path()).await;
    assert!(matches!(earlier, Err(BackupError::Older { has: 17, .. })), "{earlier:?}");
    let store = Store::at(state.path());
    store.open().await.unwrap();
    let report = backup::check(state.path()).await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    let checks = report.checks.join(", ");
    assert!(checks.contains("18 tasks and 72 entries") && checks.contains("1 files among them"), "{checks}");
    let counts = "SELECT 'confirmations of ' || user_id || ': ' || records FROM confirmation_usage \
                  UNION ALL SELECT 'calls of ' || user_id || ': ' || records FROM idempotency_usage \
                  UNION ALL SELECT 'audit of ' || user_id || ': ' || records FROM audit_usage \
                  UNION ALL SELECT 'tasks of ' || user_id || ': ' || tasks || ', at ' || last FROM timeline_usage";
    let expected = [
        "confirmations of demo: 15",
        "confirmations of riley: 1",
        "calls of demo: 46",
        "calls of riley: 3",
        "audit of demo: 65",
        "audit of riley: 2",
        "tasks of demo: 18, at 72",
        "tasks of riley: 1, at 2",
    ];
    assert_eq!(rows(&store, counts).await, expected);
}

#[tokio::test]
async fn everything_in_an_earlier_state_is_forgotten_in_time_and_no_longer_counted() {
    let state = unpack();
    let store = Store::at(state.path());
    let year = Duration::from_hours(24 * 365);
    // The instants that expire were moved to the beginning of the year 2100.
    let late = SystemTime::UNIX_EPOCH + Duration::from_hours(1_139_568) + year;
    store.at_time(late).interrupt_jobs().await.unwrap();
    store.at_time(late).recover_tasks().await.unwrap();
    while store.at_time(late).expire_confirmations().await.unwrap() > 0 {}
    while !store.at_time(late).expire_tasks().await.unwrap().tasks.is_empty() {}
    assert_sound(&state);
    let later = late + year;
    store.at_time(later).sweep_confirmations().await.unwrap();
    store.at_time(later).sweep_audit_records().await.unwrap();
    while store.at_time(later).sweep_tasks(Duration::ZERO).await.unwrap() {}
    while store.at_time(later).sweep_documents().await.unwrap() {}
    while store.at_time(later).sweep_turns().await.unwrap()
        || store.at_time(later).sweep_jobs().await.unwrap()
    {}
    store.at_time(later).sweep_blobs().await.unwrap();
    assert_sound(&state);
    let left = "SELECT 'confirmations' FROM confirmations UNION ALL SELECT 'changes' FROM confirmation_events \
                UNION ALL SELECT 'audit' FROM audit UNION ALL SELECT 'audit usage' FROM audit_usage \
                UNION ALL SELECT 'tasks' FROM tasks UNION ALL SELECT 'entries' FROM entries \
                UNION ALL SELECT 'usage' FROM timeline_usage WHERE tasks + bytes > 0 \
                UNION ALL SELECT 'notes' FROM memories UNION ALL SELECT 'turns' FROM turns \
                UNION ALL SELECT 'jobs' FROM jobs UNION ALL SELECT 'postings' FROM postings \
                UNION ALL SELECT 'documents' FROM documents UNION ALL SELECT 'blobs' FROM blobs";
    assert_eq!(rows(&store, left).await, [""; 0]);
    assert!(!state.path().join(FILES[1]).exists());
}
