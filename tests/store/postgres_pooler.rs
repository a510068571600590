//! A state behind a transaction pooler, which is `PgBouncer`. Without PostgreSQL nothing is tested.

use std::{sync::Arc, time::Duration};

use sqlx::{Connection as _, PgConnection, postgres::PgListener, raw_sql};
use tempfile::TempDir;
use toolwire::{
    db::{Address, Durability, Lane, StoreError, sql, sql::Statement},
    state::Store,
};

use super::user;
use crate::support::{pooler::Pooler, state};

/// The settings that a transaction has, in one text.
const SETTINGS: &str = "SELECT current_setting('search_path') || ' ' || current_setting('statement_timeout') || ' ' \
                        || current_setting('lock_timeout')";

/// Settings that let a pooler swallow the options of a session.
const IGNORING: &str = "ignore_startup_parameters = extra_float_digits, options";

async fn opened(pooler: &Pooler) -> (Arc<Store>, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::in_postgres(pooler.address(directory.path())));
    store.open().await.unwrap();
    (store, directory)
}

async fn refusal(address: Address) -> String {
    let error = Store::in_postgres(address).open().await.unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn values_of_each_type_pass_through_a_pooler_as_they_are() {
    let Some(pooler) = Pooler::start("") else { return };
    let (store, _directory) = opened(&pooler).await;
    let text = "it's \\ \\' \"x\"; DROP TABLE tasks; -- $1 ? naïve ₹ 日本\r\n\t";
    let bytes: Vec<u8> = (0..=255).collect();
    let read = || -> Statement<(i64, String, Vec<u8>)> {
        let none = None::<i64>;
        sql!("SELECT {i64::MIN}, {text}, {&*bytes} WHERE {text} = {text} AND {none}::BIGINT IS NULL")
    };
    let expected = (i64::MIN, text.to_owned(), bytes.clone());
    let mut reader = store.reader().await.unwrap();
    assert_eq!(read().one(&mut reader).await.unwrap(), expected);
    assert_eq!(read().all(&mut reader).await.unwrap(), std::slice::from_ref(&expected));
    let mut view = sql::view(&mut reader).await.unwrap();
    assert_eq!(read().optional(&mut view).await.unwrap(), Some(expected));
    drop(view);
    let fraction = 0.1 + 0.2;
    let numbers: Statement<(f64, bool)> = sql!("SELECT {fraction}, {1} = 1");
    assert_eq!(numbers.one(&mut reader).await.unwrap(), (fraction, true));
}

#[tokio::test]
async fn each_transaction_through_a_pooler_has_its_bounds_and_leaves_none_behind() {
    let Some(pooler) = Pooler::start("default_pool_size = 1") else { return };
    let (store, directory) = opened(&pooler).await;
    let expected = format!("{} 5s 2s", state::schema(directory.path()));
    let settings = || Statement::<String>::new(SETTINGS, Vec::new());
    let mut reader = store.reader().await.unwrap();
    assert_eq!(settings().one(&mut reader).await.unwrap(), expected);
    let mut view = sql::view(&mut reader).await.unwrap();
    assert_eq!(settings().one(&mut view).await.unwrap(), expected);
    drop(view);
    drop(reader);
    let mut change = store.change(Durability::Process).await.unwrap();
    assert_eq!(settings().one(&mut change).await.unwrap(), expected);
    change.commit().await.unwrap();
    // Another client, on the same connection to the server.
    let mut client = plain(&pooler).await;
    let row = raw_sql(SETTINGS).fetch_one(&mut client).await.unwrap();
    assert_eq!(sqlx::Row::get::<String, _>(&row, 0), "\"$user\", public 0 0");
}

/// A client that sends no options.
async fn plain(pooler: &Pooler) -> PgConnection {
    let options = pooler.url("postgres").parse::<sqlx::postgres::PgConnectOptions>().unwrap();
    PgConnection::connect_with(&options.extra_float_digits(None)).await.unwrap()
}

#[tokio::test]
async fn transactions_of_one_lane_wait_for_each_other_and_tell_followers_through_a_pooler() {
    let Some(pooler) = Pooler::start("") else { return };
    let (store, directory) = opened(&pooler).await;
    let other = Arc::new(Store::in_postgres(pooler.address(directory.path())));
    let channel = format!("toolwire {}", state::schema(directory.path()));
    let mut hints = PgListener::connect(&state::url().unwrap()).await.unwrap();
    hints.listen(&channel).await.unwrap();
    state::run(&store, sql!("INSERT INTO hold_offs (name, reason, until) VALUES ('a', '', 0)")).await;
    tokio::time::timeout(Duration::from_secs(10), hints.recv()).await.expect("a hint").unwrap();

    let riley = user("riley");
    let add = async |store: Arc<Store>| {
        for _ in 0..20 {
            let added =
                store.transact::<_, toolwire::db::Error>(Lane::User(&riley), Durability::Process, |tx| {
                    toolwire::db::scoped(async move {
                        let read: Statement<i64> = sql!("SELECT until FROM hold_offs WHERE name = 'a'");
                        let next = read.one(tx).await? + 1;
                        sql!("UPDATE hold_offs SET until = {next} WHERE name = 'a'").run(tx).await
                    })
                });
            added.await.unwrap();
        }
    };
    tokio::join!(add(Arc::clone(&store)), add(other));
    assert_eq!(state::rows::<i64>(&store, sql!("SELECT until FROM hold_offs")).await, [40]);
}

#[tokio::test]
async fn a_pooler_that_was_restarted_is_used_again() {
    let Some(mut pooler) = Pooler::start("") else { return };
    let (store, _directory) = opened(&pooler).await;
    store.probe().await.unwrap();
    pooler.restart();
    store.probe().await.unwrap();
    assert_eq!(state::row::<i64>(&store, "SELECT 1").await, 1);
}

#[tokio::test]
async fn a_pooler_that_is_not_configured_is_named_with_what_to_set() {
    for lines in ["", IGNORING] {
        let Some(pooler) = Pooler::start(lines) else { return };
        let said = refusal(Address::new(&pooler.url("postgres"), "toolwire").unwrap()).await;
        assert!(said.contains("Set state.pooled = true, and state.direct_url"), "{said}");
        assert!(said.contains("pooler") || said.contains("startup parameter"), "{said}");
        let twice = Address::new(&pooler.url("postgres"), "toolwire").unwrap();
        let said = refusal(twice.behind_pooler(&pooler.url("postgres")).unwrap()).await;
        assert!(said.contains("Name the database itself in state.direct_url"), "{said}");
    }
}

#[tokio::test]
async fn a_pooler_of_another_database_is_refused() {
    let Some(pooler) = Pooler::start("") else { return };
    let directory = tempfile::tempdir().unwrap();
    let address = state::address(directory.path()).unwrap();
    let said = refusal(address.behind_pooler(&pooler.url("template1")).unwrap()).await;
    assert!(said.contains("another database than state.direct_url"), "{said}");
}
