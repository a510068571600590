//! What must hold of a state directory, looked at as of one instant: pages, references, counts, sequences, every task
//! against its timeline, what is waited for, documents, and bytes against their digests. Changes nothing.

mod bytes;
mod checked;
mod counts;
mod looks;
mod schema;

use std::path::Path;

use sqlx::{Connection, Row, SqliteConnection};

pub use self::checked::Checked;
use self::looks::{LOOKS, Look};
use super::{BackupError, database_in, failed, open};
use crate::{Error, engine::refold_all};

/// Looks at a state directory, which may be in use.
pub async fn check(state: &Path) -> Result<Checked, BackupError> {
    let database = database_in(state)?;
    let mut connection = open(&database).await?;
    schema::refuse_other(&mut connection, &database).await?;
    let mut checked = Checked::default();
    let looked = look(&mut connection, state, &mut checked).await;
    looked.map_err(|error| failed(&database, error))?;
    Ok(checked)
}

async fn look(
    connection: &mut SqliteConnection,
    state: &Path,
    checked: &mut Checked,
) -> Result<(), sqlx::Error> {
    // Whatever is changed meanwhile.
    let mut connection = connection.begin().await?;
    pages(&mut connection, checked).await?;
    counts::look(&mut connection, checked).await?;
    for look in LOOKS {
        found(&mut connection, look, checked).await?;
    }
    let timelines = refold_all(&mut connection).await.map_err(into_database)?;
    checked.problems.extend(timelines.problems);
    checked.looked_at.push(format!("{} tasks and {} entries", timelines.tasks, timelines.entries));
    bytes::look(&mut connection, state, checked).await
}

fn into_database(error: Error) -> sqlx::Error {
    match error {
        Error::Database(error) => error,
        Error::Store(error) => sqlx::Error::Decode(Box::new(error)),
        Error::Shared(error) => sqlx::Error::Decode(Box::new(error)),
    }
}

async fn pages(connection: &mut SqliteConnection, checked: &mut Checked) -> Result<(), sqlx::Error> {
    let pages: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check(10)").fetch_all(&mut *connection).await?;
    checked
        .problems
        .extend(pages.into_iter().filter(|line| line != "ok").map(|line| format!("pages: {line}")));
    checked.looked_at.push("every page and index".to_owned());
    for row in sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut *connection).await? {
        checked.problems.push(format!("references: a row of {} names nothing", row.get::<String, _>(0)));
    }
    checked.looked_at.push("references between tables".to_owned());
    Ok(())
}

async fn found(
    connection: &mut SqliteConnection,
    look: &Look,
    checked: &mut Checked,
) -> Result<(), sqlx::Error> {
    for (wrong, what) in look.wrong {
        let names: Vec<String> = sqlx::query_scalar(*wrong).fetch_all(&mut *connection).await?;
        checked.problems.extend(names.into_iter().map(|name| format!("{name} {what}")));
    }
    checked.looked_at.push(look.at.to_owned());
    Ok(())
}
