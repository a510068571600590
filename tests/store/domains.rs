//! The tables of domains: beside the platform's in one file, each domain's apart; and what two of them may not share.

use std::{fs, path::Path};

use super::opening::execute;
use crate::support::state;
use include_dir::{Dir, include_dir};
use sqlx::{
    SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
};
use tempfile::TempDir;
use toolwire::{
    base::files::Embedded,
    config::Config,
    db::{Migrations, StoreError, TableTaken, sql::Statement},
    server::{app::App, domain::Domain},
    state::Store,
};

const NOTES: &str = "CREATE TABLE notes (text TEXT NOT NULL) STRICT";
const WORDS: &str = "CREATE TABLE words (text TEXT NOT NULL) STRICT";

/// A domain with one table, made by the given steps.
fn domain(name: &'static str, table: &'static [&'static str], steps: &[&'static str]) -> Migrations {
    let step = |(version, sql): (i64, &&'static str)| {
        Migration::new(version, "a step".into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    let steps = (1..).zip(steps).map(step).collect();
    Migrations::of_domain(name, table, Migrator::with_migrations(steps))
}

fn notes(steps: &[&'static str]) -> Migrations {
    domain("notes", &["notes"], steps)
}

fn words() -> Migrations {
    domain("words", &["words"], &[WORDS])
}

fn at(directory: &Path, tables: impl IntoIterator<Item = Migrations>) -> Store {
    Store::at(directory).with_tables(tables).unwrap()
}

async fn write(store: &Store, statement: &'static str) {
    state::run(store, Statement::new(statement, Vec::new())).await;
}

async fn count(store: &Store, statement: &'static str) -> i64 {
    state::row(store, statement).await
}

fn bytes(directory: &TempDir) -> Vec<u8> {
    fs::read(directory.path().join("toolwire.db")).unwrap()
}

#[tokio::test]
async fn a_domain_that_comes_later_finds_the_rows_of_the_others_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let store = at(directory.path(), [notes(&[NOTES])]);
    write(&store, "INSERT INTO notes VALUES ('kept')").await;
    drop(store);
    let longer = notes(&[NOTES, "ALTER TABLE notes ADD COLUMN author TEXT"]);
    let store = at(directory.path(), [words(), longer]);
    write(&store, "INSERT INTO words VALUES ('new')").await;
    assert_eq!(count(&store, "SELECT COUNT(*) FROM notes WHERE author IS NULL").await, 1);
    assert_eq!(count(&store, "SELECT COUNT(*) FROM words").await, 1);
    drop(store);
    // A program without the domain leaves its tables alone.
    let store = at(directory.path(), [words()]);
    assert_eq!(count(&store, "SELECT COUNT(*) FROM notes").await, 1);
}

#[tokio::test]
async fn the_tables_of_a_newer_domain_are_refused_and_nothing_is_touched() {
    let directory = tempfile::tempdir().unwrap();
    let newer = notes(&[NOTES, "ALTER TABLE notes ADD COLUMN author TEXT"]);
    let store = at(directory.path(), [newer]);
    store.open().await.unwrap();
    drop(store);
    execute(directory.path(), "PRAGMA wal_checkpoint(TRUNCATE)").await;
    let before = bytes(&directory);
    let store = at(directory.path(), [words(), notes(&[NOTES])]);
    let error = store.open().await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { version: 2, .. }), "{error:?}");
    let said = error.to_string();
    assert!(said.contains("newer toolwire: the domain notes has schema 2"), "{said}");
    assert!(before == bytes(&directory), "the file was changed");
}

#[tokio::test]
async fn steps_that_were_changed_since_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    at(directory.path(), [notes(&[NOTES])]).open().await.unwrap();
    let other = notes(&["CREATE TABLE notes (text TEXT) STRICT"]);
    let error = at(directory.path(), [other]).open().await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { version: 1, .. }), "{error:?}");
    let said = error.to_string();
    assert!(
        said.contains("another version of migration 1 of the domain notes. Restore the migration file"),
        "{said}"
    );
    assert!(said.ends_with("in development, delete the state file"), "{said}");
}

#[tokio::test]
async fn a_table_that_a_domain_does_not_list_is_refused() {
    let unlisted = domain("notes", &["notes"], &[NOTES, WORDS]);
    let error = Store::in_memory().with_tables([unlisted]).unwrap().open().await.unwrap_err();
    assert!(error.to_string().contains("the domain notes: its steps make the table words"), "{error}");
}

#[test]
fn a_table_that_another_has_is_refused_and_both_are_named() {
    let said = |taken: Result<Store, TableTaken>| taken.unwrap_err().to_string();
    let other = domain("diary", &["notes"], &[NOTES]);
    let two = said(Store::in_memory().with_tables([notes(&[NOTES]), words(), other]));
    assert!(two.starts_with("the domain notes and the domain diary both have the table notes"), "{two}");
    let of_platform = domain("diary", &["results"], &[]);
    let two = said(Store::in_memory().with_tables([of_platform]));
    assert!(two.starts_with("the platform and the domain diary both have the table results"), "{two}");
}

#[test]
fn the_service_does_not_start_with_a_table_that_two_domains_have() {
    let having = |name, migrations| Domain { migrations: Some(migrations), ..Domain::new(name) };
    let diary = having("diary", domain("diary", &["notes"], &[NOTES]));
    let error = App::build(&Config::default(), &[having("notes", notes(&[NOTES])), diary]).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("the domain notes and the domain diary both have the table notes"), "{said}");
}

#[test]
fn the_service_does_not_start_with_a_data_file_that_two_domains_have() {
    static FOLDER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/migrations/research");
    let having = |name| Domain { data: Embedded::folder("sales", &FOLDER), ..Domain::new(name) };
    let said = App::build(&Config::default(), &[having("notes"), having("diary")]).unwrap_err().to_string();
    assert!(
        said.starts_with("the domain notes and the domain diary both have the data file sales/0001"),
        "{said}"
    );
}
