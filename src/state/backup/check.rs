//! Consistency check of a state directory, in one snapshot: pages, references, counters, sequences, every task against
//! its timeline, waits, documents, and blobs against their digests. Changes nothing.

mod bytes;
mod counts;
mod invariants;
mod report;
mod schema;

use std::path::Path;

use self::invariants::{INVARIANTS, Invariants};
pub use self::report::Report;
use super::{BackupError, database_in, failed, open};
use crate::{Store, dialect, transactions::refold_all};
use toolwire_db::{
    Error, StoreError,
    sql::{self, Connection, Statement},
};

/// Checks a state directory, which may be in use.
pub async fn check(state: &Path) -> Result<Report, BackupError> {
    let database = database_in(state)?;
    let mut connection = open(&database).await?;
    schema::refuse_other(&mut connection, &database).await?;
    let mut report = Report::default();
    let checked = check_all(&mut connection, state, &mut report).await;
    checked.map_err(|error| failed(&database, error))?;
    Ok(report)
}

async fn check_all(connection: &mut Connection, state: &Path, report: &mut Report) -> Result<(), Error> {
    // One transaction, so that concurrent changes do not appear as inconsistencies.
    let mut connection = sql::view(connection).await?;
    check_pages(&mut connection, report).await?;
    check_rows(&mut connection, report).await?;
    bytes::check_files(&mut connection, state, report).await
}

/// Checks a state that is opened, which may be in use. Pages are the database's own to check.
pub async fn check_opened(store: &Store) -> Result<Report, StoreError> {
    let mut connection = store.reader().await?;
    let mut report = Report::default();
    let checked = async {
        let mut connection = sql::view(&mut connection).await?;
        check_rows(&mut connection, &mut report).await?;
        bytes::check_chunks(&mut connection, store, &mut report).await
    };
    store.explain(checked.await)?;
    Ok(report)
}

async fn check_rows(connection: &mut Connection, report: &mut Report) -> Result<(), Error> {
    counts::check(connection, report).await?;
    for invariants in INVARIANTS {
        check_invariants(connection, invariants, report).await?;
    }
    let timelines = refold_all(connection).await?;
    report.problems.extend(timelines.problems);
    report.checks.push(format!("{} tasks and {} entries", timelines.tasks, timelines.entries));
    bytes::check_rows(connection, report).await
}

async fn check_pages(connection: &mut Connection, report: &mut Report) -> Result<(), Error> {
    let pages: Statement<String> = Statement::new(dialect::CHECK_PAGES, Vec::new());
    let pages = pages.all(connection).await?;
    report
        .problems
        .extend(pages.into_iter().filter(|line| line != "ok").map(|line| format!("pages: {line}")));
    report.checks.push("every page and index".to_owned());
    let references: Statement<String> = Statement::new(dialect::CHECK_REFERENCES, Vec::new());
    for table in references.all(connection).await? {
        report.problems.push(format!("references: a row of {table} names nothing"));
    }
    report.checks.push("references between tables".to_owned());
    Ok(())
}

async fn check_invariants(
    connection: &mut Connection,
    invariants: &Invariants,
    report: &mut Report,
) -> Result<(), Error> {
    for (wrong, what) in invariants.violations {
        let names = Statement::<String>::new(wrong, Vec::new()).all(connection).await?;
        report.problems.extend(names.into_iter().map(|name| format!("{name} {what}")));
    }
    report.checks.push(invariants.description.to_owned());
    Ok(())
}
