//! What only PostgreSQL does, and what a database is refused for. Without `TOOLWIRE_TEST_STATE` there is no
//! database, and only what needs none is tested.

use std::{net::TcpListener, time::Duration};

use futures_util::{FutureExt, poll};
use sqlx::raw_sql;
use tempfile::TempDir;
use tokio::sync::oneshot;
use toolwire::{
    base::clock,
    db::{
        Address, Durability, Error, Lane, Migrations, StoreError, scoped, sql,
        sql::{Connection, Statement},
    },
    state::{
        Store,
        backup::{self, BackupError},
        confirmations::{Scope, SequenceRange},
    },
    tool::context::RequestId,
};

use super::{earlier_state::unpack, in_sqlite, jobs::begun, user};
use crate::support::state;

/// A database of its own, unless there is none.
fn database() -> Option<(Store, TempDir)> {
    let directory = tempfile::tempdir().unwrap();
    state::address(directory.path()).map(|address| (Store::in_postgres(address), directory))
}

fn listening() -> (TcpListener, Address) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = Address::new(&format!("postgres://me:s3cret@127.0.0.1:{port}/tools"), "toolwire").unwrap();
    (listener, address)
}

async fn refusal(address: Address) -> String {
    let error = Store::in_postgres(address).open().await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_named_without_its_password() {
    let (listener, address) = listening();
    let place = address.to_string();
    drop(listener);
    let said = refusal(address).await;
    assert!(said.contains(&place) && said.contains("refused") && !said.contains("s3cret"), "{said}");
}

#[tokio::test]
async fn a_database_that_says_nothing_is_given_up_after_5_seconds() {
    let (_listener, address) = listening();
    tokio::time::pause();
    let begun = clock::now();
    let said = refusal(address).await;
    assert!(said.contains("does not answer") && !said.contains("s3cret"), "{said}");
    assert_eq!(begun.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn a_domain_without_steps_for_it_is_refused_by_name() {
    let Some((store, _directory)) = database() else { return };
    let notes = Migrations::of_domain("notes", &[], sqlx::migrate::Migrator::DEFAULT);
    let error = store.with_tables([notes]).unwrap().open().await.unwrap_err();
    assert!(error.to_string().contains("the domain notes has no migrations for PostgreSQL"), "{error}");
}

/// A statement that takes no lane is part of no transaction that would record it.
#[tokio::test]
async fn a_single_statement_that_fails_is_the_last_error_of_the_state() {
    let Some((store, _directory)) = database() else { return };
    state::run(&store, sql!("ALTER TABLE held_sessions RENAME TO missing_sessions")).await;
    let session = "s".parse().unwrap();
    let Err(error) = store.hold_session(&user("riley"), &session, RequestId::generate()).await else {
        panic!("there is no table")
    };
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
    assert_eq!(*store.last_error().borrow(), Some(error));
    store.probe().await.unwrap();
    assert_eq!(*store.last_error().borrow(), None);
}

#[tokio::test]
async fn tables_of_a_newer_program_are_used_unless_a_step_of_it_breaks_this_one() {
    let Some((store, directory)) = database() else { return };
    let add = async |version: i64, description: &str| {
        let insert = sql!(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES ({version}, {description}, TRUE, '', 0)"
        );
        state::run(&store, insert).await;
    };
    add(9998, "newer").await;
    state::at(directory.path()).open().await.unwrap();
    add(9999, "breaking newer").await;
    let error = state::at(directory.path()).open().await.unwrap_err().to_string();
    assert!(error.contains("the platform has schema 9999 of a newer toolwire"), "{error}");
}

#[tokio::test]
async fn a_user_who_may_not_make_the_tables_is_told_what_to_grant() {
    let Some((store, directory)) = database() else { return };
    let mut reader = store.reader().await.unwrap();
    let name = format!("limited_{}", std::process::id());
    let create = format!("CREATE ROLE {name} LOGIN");
    raw_sql(sqlx::AssertSqlSafe(create)).execute(reader.postgres().unwrap()).await.unwrap();
    let url = std::env::var("TOOLWIRE_TEST_STATE").unwrap().replace("toolwire@", &format!("{name}@"));
    let error = Store::in_postgres(Address::new(&url, "elsewhere").unwrap()).open().await.unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains(&format!("CREATE SCHEMA IF NOT EXISTS elsewhere AUTHORIZATION \"{name}\"")),
        "{said}"
    );
    drop(directory);
}

#[tokio::test]
async fn a_state_is_moved_from_a_directory_once_and_whole() {
    let Some((to, _directory)) = database() else { return };
    let state = unpack();
    let from = Store::at(state.path());
    let moved = backup::transfer(&from, &to).await.unwrap();
    assert!(moved.rows > 200 && moved.files == 1, "{moved:?}");
    let report = backup::check_opened(&to).await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    let checks = report.checks.join(", ");
    assert!(checks.contains("18 tasks and 72 entries") && checks.contains("1 in chunks"), "{checks}");
    // Positions go on where they were.
    let count: Statement<u64> = sql!("SELECT max(sequence) FROM audit");
    let last = state::rows(&from, count).await[0];
    let next: u64 = state::row(&to, "SELECT nextval(pg_get_serial_sequence('audit', 'sequence'))").await;
    assert_eq!(next, last + 1);
    let again = backup::transfer(&from, &to).await.unwrap_err();
    assert!(matches!(again, BackupError::HasRows { .. }), "{again}");
}

#[tokio::test]
async fn a_state_that_a_process_uses_is_not_moved() {
    let Some((to, _directory)) = database() else { return };
    let (store, directory) = in_sqlite();
    begun(&store, "riley").await;
    let refused = backup::transfer(&Store::at(directory.path()), &to).await.unwrap_err();
    assert!(matches!(refused, BackupError::InUse(_)), "{refused}");
}

/// A follower by one number sees no position before those below it are known, also if the transaction that has the
/// lower position has the higher number.
#[tokio::test]
async fn positions_over_all_users_have_no_gap_while_one_of_them_is_not_committed() {
    let Some((store, _directory)) = database() else { return };
    let range = async || store.confirmation_change_range(&Scope::All).await.unwrap();
    let run = async |on: &mut Connection, text: &'static str| {
        raw_sql(text).execute(on.postgres().unwrap()).await.unwrap();
    };
    let add = "INSERT INTO confirmation_events (sequence, confirmation_id, state, at, expires_at, reason, user_id, \
               position) \
               VALUES (next_confirmation_change(), 'c', 'pending', 0, 0, '', 'riley', 1)";
    let (mut slow, mut fast) = (store.reader().await.unwrap(), store.reader().await.unwrap());
    for (begins, ends) in
        [("SELECT 1", "COMMIT"), ("SELECT pg_current_xact_id()", "COMMIT"), ("SELECT 1", "ROLLBACK")]
    {
        let before = range().await.last;
        run(&mut fast, "BEGIN").await;
        run(&mut fast, begins).await;
        run(&mut slow, "BEGIN").await;
        run(&mut slow, add).await;
        run(&mut fast, add).await;
        run(&mut fast, "COMMIT").await;
        assert_eq!(range().await, SequenceRange { first: before + 1, last: before });
        run(&mut slow, ends).await;
        // Neither is of a confirmation that is still kept.
        assert_eq!(range().await, SequenceRange { first: before + 3, last: before + 2 });
    }
}

#[tokio::test]
async fn changes_of_one_user_wait_for_each_other_in_all_processes_and_others_do_not() {
    let Some((store, directory)) = database() else { return };
    let other = state::at(directory.path());
    other.open().await.unwrap();
    let (riley, sam) = (user("riley"), user("sam"));
    let (begun, has_begun) = oneshot::channel();
    let (end, ends) = oneshot::channel::<()>();
    let (mut begun, ends) = (Some(begun), ends.shared());
    let mut slow = Box::pin(store.transact::<_, Error>(Lane::User(&riley), Durability::Process, |_| {
        let (begun, ends) = (begun.take(), ends.clone());
        scoped(async move {
            let _ = begun.expect("it runs once").send(());
            let _ = ends.await;
            Ok(())
        })
    }));
    assert!(poll!(&mut slow).is_pending());
    tokio::select! {
        _ = &mut slow => panic!("it waits"),
        _ = has_begun => {}
    }
    let change = async |lane| {
        other.transact::<_, Error>(lane, Durability::Process, |_| scoped(async { Ok(()) })).await.unwrap();
    };
    change(Lane::User(&sam)).await;
    change(Lane::Platform).await;
    let mut same = Box::pin(change(Lane::User(&riley)));
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut same).await.is_err(), "it waits");
    end.send(()).unwrap();
    slow.await.unwrap();
    same.await;
}

/// Two changes that wait for each other's rows: the database ends one, which runs again.
#[tokio::test]
async fn a_change_that_the_database_rolls_back_because_of_another_runs_again() {
    let Some((store, _directory)) = database() else { return };
    for name in ["a", "b"] {
        state::run(&store, sql!("INSERT INTO hold_offs (name, reason, until) VALUES ({name}, '', 0)")).await;
    }
    let both = tokio::sync::Barrier::new(2);
    let runs = std::sync::atomic::AtomicUsize::new(0);
    let change = async |lane, names: [&'static str; 2]| {
        store
            .transact::<_, Error>(lane, Durability::Process, |tx| {
                let (both, runs) = (&both, &runs);
                scoped(async move {
                    let run = runs.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    let [first, second] = names;
                    sql!("UPDATE hold_offs SET until = until + 1 WHERE name = {first}").run(tx).await?;
                    if run < 2 {
                        both.wait().await;
                    }
                    sql!("UPDATE hold_offs SET until = until + 1 WHERE name = {second}").run(tx).await
                })
            })
            .await
            .unwrap();
    };
    tokio::join!(change(Lane::Source("x"), ["a", "b"]), change(Lane::Source("y"), ["b", "a"]));
    // The one that runs again may take its first row before the other one wakes, and is ended once more.
    assert!(runs.into_inner() >= 3);
    let counts: Vec<i64> = state::rows(&store, sql!("SELECT until FROM hold_offs ORDER BY name")).await;
    assert_eq!(counts, [2, 2]);
}
