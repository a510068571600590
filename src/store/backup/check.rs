//! Consistency check of a state directory, in one snapshot: pages, references, counters, sequences, every task against
//! its timeline, waits, documents, and blobs against their digests. Changes nothing.

mod bytes;
mod counts;
mod invariants;
mod report;
mod schema;

use std::path::Path;

use sqlx::{Connection, Row, SqliteConnection};

use self::invariants::{INVARIANTS, Invariants};
pub use self::report::Report;
use super::{BackupError, database_in, failed, open};
use crate::{Error, engine::refold_all};

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

async fn check_all(
    connection: &mut SqliteConnection,
    state: &Path,
    report: &mut Report,
) -> Result<(), sqlx::Error> {
    // One transaction, so that concurrent changes do not appear as inconsistencies.
    let mut connection = connection.begin().await?;
    check_pages(&mut connection, report).await?;
    counts::check(&mut connection, report).await?;
    for invariants in INVARIANTS {
        check_invariants(&mut connection, invariants, report).await?;
    }
    let timelines = refold_all(&mut connection).await.map_err(into_database)?;
    report.problems.extend(timelines.problems);
    report.checks.push(format!("{} tasks and {} entries", timelines.tasks, timelines.entries));
    bytes::check(&mut connection, state, report).await
}

fn into_database(error: Error) -> sqlx::Error {
    match error {
        Error::Database(error) => error,
        Error::Store(error) => sqlx::Error::Decode(Box::new(error)),
        Error::Shared(error) => sqlx::Error::Decode(Box::new(error)),
    }
}

async fn check_pages(connection: &mut SqliteConnection, report: &mut Report) -> Result<(), sqlx::Error> {
    let pages: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check(10)").fetch_all(&mut *connection).await?;
    report
        .problems
        .extend(pages.into_iter().filter(|line| line != "ok").map(|line| format!("pages: {line}")));
    report.checks.push("every page and index".to_owned());
    for row in sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut *connection).await? {
        report.problems.push(format!("references: a row of {} names nothing", row.get::<String, _>(0)));
    }
    report.checks.push("references between tables".to_owned());
    Ok(())
}

async fn check_invariants(
    connection: &mut SqliteConnection,
    invariants: &Invariants,
    report: &mut Report,
) -> Result<(), sqlx::Error> {
    for (wrong, what) in invariants.violations {
        let names: Vec<String> = sqlx::query_scalar(*wrong).fetch_all(&mut *connection).await?;
        report.problems.extend(names.into_iter().map(|name| format!("{name} {what}")));
    }
    report.checks.push(invariants.description.to_owned());
    Ok(())
}
