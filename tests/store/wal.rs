//! The write-ahead log: it grows while somebody reads an old state, and not for good.

use std::{fs, path::Path};

use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use toolwire::db::{Durability, Wal};

use super::in_sqlite;

const MIB: u64 = 1 << 20;

/// More than the limit, and two pages of them in the end.
const GROW: &str = "INSERT OR REPLACE INTO probe (only, filler) VALUES (0, zeroblob(20 * 1024 * 1024))";
const SHRINK: &str = "INSERT OR REPLACE INTO probe (only, filler) VALUES (0, zeroblob(1))";

async fn another_program(directory: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(directory.join("toolwire.db"));
    SqliteConnection::connect_with(&options).await.unwrap()
}

fn log_bytes(directory: &Path) -> u64 {
    fs::metadata(directory.join("toolwire.db-wal")).unwrap().len()
}

#[tokio::test]
async fn the_log_is_truncated_as_soon_as_nobody_reads_an_old_state() {
    let (store, directory) = in_sqlite();
    store.open().await.unwrap();
    assert!(matches!(store.truncate_wal().await.unwrap(), Wal::Short(_)));
    let mut other = another_program(directory.path()).await;
    let mut reading = other.begin().await.unwrap();
    let _: i64 = sqlx::query_scalar("SELECT count(*) FROM probe").fetch_one(&mut *reading).await.unwrap();
    for statement in [GROW, SHRINK, GROW, SHRINK] {
        let mut change = store.change(Durability::Process).await.unwrap();
        sqlx::query(statement).execute(change.sqlite().unwrap()).await.unwrap();
        change.commit().await.unwrap();
    }
    let grown = log_bytes(directory.path());
    assert!(grown > 40 * MIB, "{grown}");
    assert_eq!(store.truncate_wal().await.unwrap(), Wal::Held(grown));
    // Writers go on meanwhile.
    store.probe().await.unwrap();
    reading.commit().await.unwrap();
    assert!(matches!(store.truncate_wal().await.unwrap(), Wal::Truncated(0)));
    assert_eq!(log_bytes(directory.path()), 0);
    store.probe().await.unwrap();
    assert!(matches!(store.truncate_wal().await.unwrap(), Wal::Short(1..)));
}

#[tokio::test]
async fn a_log_that_is_begun_anew_is_cut_to_its_limit() {
    let (store, directory) = in_sqlite();
    store.open().await.unwrap();
    for statement in [GROW, SHRINK, SHRINK] {
        let mut change = store.change(Durability::Process).await.unwrap();
        sqlx::query(statement).execute(change.sqlite().unwrap()).await.unwrap();
        change.commit().await.unwrap();
    }
    let left = log_bytes(directory.path());
    assert!(left <= 16 * MIB, "{left}");
}
