//! Where tests keep states: in SQLite or, if `TOOLWIRE_TEST_STATE` is the address of a PostgreSQL database, in a
//! schema of it for each directory. `.ci/postgres.sh` runs a command with such a database.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{collections::HashMap, ffi::OsString, fs, path::Path, sync::LazyLock, thread, time::Duration};

use sqlx::{AssertSqlSafe, Connection, SqliteConnection, raw_sql};
use tokio::runtime::Runtime;

use toolwire::{
    base::digest::Digest,
    config,
    db::{
        Address, Durability,
        sql::{FromRow, Statement},
    },
    state::{Store, backup},
};

/// The database that has the states, unless they are in SQLite.
const VARIABLE: &str = "TOOLWIRE_TEST_STATE";

/// The state of a directory.
pub fn at(directory: &Path) -> Store {
    address(directory).map_or_else(|| Store::at(directory), Store::in_postgres)
}

/// A new state, which no other handle opens.
pub fn fresh() -> Store {
    if std::env::var_os(VARIABLE).is_none() {
        return Store::in_memory();
    }
    // Its name is of no other one, also after it is deleted.
    at(tempfile::tempdir().unwrap().path())
}

/// Puts a state without rows into a new directory, as its first use would. All steps of migrations take longer than
/// most tests, so that they are carried out once a process.
pub fn put_empty(directory: &Path) {
    static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        // Beside the runtime of the test, which may be the only thread of it.
        let made = thread::spawn(|| Runtime::new().unwrap().block_on(empty()));
        made.join().unwrap()
    });
    fs::write(directory.join("toolwire.db"), &*FILE).unwrap();
}

async fn empty() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let [state, copy] = ["toolwire.db", "copy"].map(|name| directory.path().join(name));
    let tables = toolwire::domains::bundled().into_iter().filter_map(|domain| domain.migrations);
    let store = Store::at(directory.path()).with_tables(tables).unwrap();
    drop(store.reader().await.unwrap());
    let mut file = SqliteConnection::connect(state.to_str().unwrap()).await.unwrap();
    raw_sql(AssertSqlSafe(format!("VACUUM INTO '{}'", copy.display()))).execute(&mut file).await.unwrap();
    fs::read(copy).unwrap()
}

/// Lets a server keep its state in a directory. A test that is about files calls `Store::at` and sets `dir` instead.
pub fn keep_in(state: &mut config::State, directory: &Path) {
    state.dir = Some(directory.to_owned());
    state.database = address(directory);
}

/// The variables of a program, of which `TOOLWIRE_STATE` names the directory of its state, or `directory` if it is not
/// among them.
pub fn variables<'a>(
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    directory: &Path,
) -> HashMap<String, OsString> {
    let given = variables.into_iter().map(|(name, value)| (name.to_owned(), OsString::from(value)));
    let mut all: HashMap<String, OsString> = given.collect();
    let directory = all.remove("TOOLWIRE_STATE").unwrap_or_else(|| directory.as_os_str().to_owned());
    match std::env::var_os(VARIABLE) {
        Some(url) => all.extend([
            ("TOOLWIRE_STATE_URL".to_owned(), url),
            ("TOOLWIRE_STATE_SCHEMA".to_owned(), schema(Path::new(&directory)).into()),
        ]),
        None => _ = all.insert("TOOLWIRE_STATE".to_owned(), directory),
    }
    all
}

/// What is wrong with the state of a directory.
pub async fn problems(directory: &Path) -> Vec<String> {
    let report = match address(directory) {
        Some(address) => backup::check_opened(&Store::in_postgres(address)).await.unwrap(),
        None => backup::check(directory).await.unwrap(),
    };
    report.problems
}

/// The rows of a statement.
pub async fn rows<T: FromRow>(store: &Store, statement: Statement<T>) -> Vec<T> {
    statement.all(&mut store.reader().await.unwrap()).await.unwrap()
}

/// The one row of a text.
pub async fn row<T: FromRow>(store: &Store, text: &'static str) -> T {
    Statement::<T>::new(text, Vec::new()).one(&mut store.reader().await.unwrap()).await.unwrap()
}

/// Executes a statement, and commits it.
pub async fn run(store: &Store, statement: Statement) {
    let mut change = store.change(Durability::Process).await.unwrap();
    statement.run(&mut change).await.unwrap();
    change.commit().await.unwrap();
}

/// Waits until a condition holds. On SQLite it holds at once; PostgreSQL learns a moment later that a process has
/// ended.
pub async fn until(holds: impl AsyncFn() -> bool) {
    if std::env::var_os(VARIABLE).is_none() {
        assert!(holds().await, "it holds at once");
        return;
    }
    let waits = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waits).await.expect("it holds in the end");
}

/// Its address, if the states are in PostgreSQL.
pub fn address(directory: &Path) -> Option<Address> {
    Some(Address::new(&url()?, &schema(directory)).unwrap())
}

/// The address of the database, if the states are in PostgreSQL.
pub fn url() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

/// The schema of the state of a directory.
pub fn schema(directory: &Path) -> String {
    let digest = Digest::of_bytes(directory.as_os_str().as_encoded_bytes()).to_string();
    format!("test_{}", &digest[..24])
}
