//! Opening the state: lazily, by several at once, and with a clear word on what is wrong.

use std::{
    fs::{self, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use futures_util::future::join_all;
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use toolwire::{
    contract::ErrorCode,
    db::StoreError,
    state::{
        Store, backup,
        cool_downs::{CoolDown, CoolDowns},
    },
};

use super::{SECOND, in_sqlite, now};

pub(super) async fn execute(directory: &Path, statement: &'static str) {
    let options = SqliteConnectOptions::new().filename(directory.join("toolwire.db"));
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[track_caller]
fn assert_says(error: impl std::fmt::Display, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text:?}");
    }
}

#[tokio::test]
async fn nothing_is_touched_before_it_is_needed_and_then_it_is_the_users_own() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("a/b");
    let store = Store::at(&state);
    assert!(!state.exists());
    store.of_sources(now()).await.unwrap();
    let database = state.join("toolwire.db");
    assert!(database.exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&state), mode(&database)), (0o700, 0o600));
        assert_eq!(mode(&state.join("toolwire.db-wal")), 0o600);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_processes_can_open_a_new_state_at_once() {
    for _ in 0..5 {
        let directory = tempfile::tempdir().unwrap();
        let handles: Vec<_> = (0..8).map(|_| Store::at(directory.path())).collect();
        for opened in join_all(handles.iter().map(|handle| handle.open())).await {
            opened.unwrap();
        }
    }
}

#[tokio::test]
async fn a_state_of_a_newer_program_is_refused() {
    let (store, directory) = in_sqlite();
    store.open().await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (9999, 'of tomorrow', TRUE, x'00', 0)";
    execute(directory.path(), newer).await;
    let error = Store::at(directory.path()).open().await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { version: 9999, .. }), "{error:?}");
    assert_says(error, &["toolwire.db", "newer toolwire", "the platform has schema 9999", "--state DIR"]);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("toolwire.db");
    let text = "not a database, but somebody's notes\n".repeat(100);
    fs::write(&file, &text).unwrap();
    let error = Store::at(directory.path()).open().await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert_says(error, &[file.to_str().unwrap(), "cannot be used", "not a database", "Restore a copy"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test]
async fn a_file_that_lost_its_content_is_refused_and_what_is_beside_it_is_left_alone() {
    let (store, directory) = in_sqlite();
    store.of_sources(now()).await.unwrap();
    // As a process leaves it that is killed: the log holds what is not in the file yet.
    let copy = tempfile::tempdir().unwrap();
    for name in ["toolwire.db", "toolwire.db-wal"] {
        fs::copy(directory.path().join(name), copy.path().join(name)).unwrap();
    }
    let (file, log) = (copy.path().join("toolwire.db"), copy.path().join("toolwire.db-wal"));
    let bytes = fs::read(&log).unwrap();
    fs::write(&file, "").unwrap();
    for cause in ["0 bytes", "missing"] {
        let error = Store::at(copy.path()).open().await.unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        assert_says(error, &[file.to_str().unwrap(), cause, "Restore a copy"]);
        for words in [backup::check(copy.path()).await.unwrap_err(), copied(copy.path()).await] {
            assert_says(words, &[file.to_str().unwrap(), cause]);
        }
        assert_eq!(fs::read(&log).unwrap(), bytes, "it may be all that is left");
        let _ = fs::remove_file(&file);
    }
}

/// Why a state is not copied.
async fn copied(state: &Path) -> backup::BackupError {
    let to = tempfile::tempdir().unwrap();
    backup::backup(state, to.path()).await.unwrap_err()
}

#[tokio::test]
async fn an_empty_file_alone_becomes_a_state_and_is_none_until_then() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("toolwire.db"), "").unwrap();
    assert_says(backup::check(directory.path()).await.unwrap_err(), &["there is no state in"]);
    assert_says(copied(directory.path()).await, &["there is no state in"]);
    Store::at(directory.path()).open().await.unwrap();
}

#[tokio::test]
async fn a_damaged_file_is_found_when_it_is_opened() {
    let (store, directory) = in_sqlite();
    for number in 0..500 {
        let reason = "n".repeat(200);
        let cool_down = CoolDown { code: ErrorCode::Blocked, reason, until: now() + SECOND };
        CoolDowns::begin(&*store, &format!("s{number}"), None, &cool_down).await.unwrap();
    }
    drop(store);
    execute(directory.path(), "PRAGMA wal_checkpoint(TRUNCATE)").await;
    let mut file = OpenOptions::new().write(true).open(directory.path().join("toolwire.db")).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(length / 2)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(length / 4).unwrap()]).unwrap();
    drop(file);
    let error = Store::at(directory.path()).open().await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert_says(error, &["toolwire.db", "cannot be used", "Restore a copy"]);
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_is_named_and_tried_again_at_the_next_use() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    fs::write(&state, "a file").unwrap();
    let store = Store::at(&state);
    let error = store.open().await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    assert_says(error, &[state.to_str().unwrap(), "--state DIR"]);
    fs::remove_file(&state).unwrap();
    store.open().await.unwrap();
}
