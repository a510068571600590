//! Another program reads the state for a long time, and then no longer.

use std::{fs, path::Path};

use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::support::program::Program;

const FILL: &str = "INSERT OR REPLACE INTO probe (only, filler) VALUES (0, zeroblob(40 * 1024 * 1024))";

async fn connect(state: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(state.join("toolwire.db"));
    SqliteConnection::connect_with(&options).await.expect("opens")
}

#[tokio::test]
async fn a_log_that_cannot_shrink_is_one_warning_and_it_shrinks_when_it_can() {
    let state = tempfile::tempdir().expect("a directory");
    let variables = [("TOOLWIRE_STATE", state.path().to_str().expect("UTF-8"))];
    let mut program = Program::start(Path::new("."), &[], &variables).await;
    let (mut reader, mut writer) = (connect(state.path()).await, connect(state.path()).await);
    let mut reading = reader.begin().await.expect("begins");
    sqlx::query("SELECT * FROM probe").fetch_all(&mut *reading).await.expect("is read");
    sqlx::query(FILL).execute(&mut writer).await.expect("is written");

    let (warning, _) = program.wait_for_log("toolwire.db-wal grows and cannot be truncated").await;
    assert_eq!(warning["level"], "WARN");
    assert!(warning["bytes"].as_u64().expect("a number") > 40 << 20, "{warning}");
    reading.commit().await.expect("ends");
    let (_, between) = program.wait_for_log("toolwire.db-wal could be truncated again").await;
    assert!(!between.iter().any(|line| line["message"].as_str().is_some_and(|it| it.contains("wal"))));
    assert_eq!(fs::metadata(state.path().join("toolwire.db-wal")).expect("is there").len(), 0);
}
