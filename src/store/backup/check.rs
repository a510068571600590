//! What must hold of a state directory, looked at: pages, references, sequences without a gap, counts, and the bytes
//! that are in files. Changes nothing.

use std::path::Path;

use data_encoding::HEXLOWER;
use sqlx::{Row, SqliteConnection};

use super::{BackupError, DATABASE, digest_of, failed, open, place_of};

/// Counts that are kept as rows come and go, each with what counts them again.
const COUNTS: &[(&str, &str)] = &[
    (
        "idempotency_total",
        "SELECT (SELECT bytes FROM idempotency_total) = (SELECT coalesce(SUM(bytes), 0) FROM idempotency)",
    ),
    (
        "idempotency_usage",
        "SELECT NOT EXISTS (SELECT user_id, count(*), SUM(bytes) FROM idempotency GROUP BY user_id \
      EXCEPT SELECT user_id, records, bytes FROM idempotency_usage)",
    ),
    (
        "confirmation_total",
        "SELECT (SELECT bytes FROM confirmation_total) = (SELECT coalesce(SUM(bytes), 0) FROM confirmations)",
    ),
    (
        "confirmation_usage",
        "SELECT NOT EXISTS (SELECT user_id, count(*), SUM(bytes) FROM confirmations GROUP BY user_id \
      EXCEPT SELECT user_id, records, bytes FROM confirmation_usage)",
    ),
    ("audit_total", "SELECT (SELECT records FROM audit_total) = (SELECT count(*) FROM audit)"),
    (
        "audit_usage",
        "SELECT NOT EXISTS (SELECT user_id, count(*) FROM audit GROUP BY user_id \
      EXCEPT SELECT user_id, records FROM audit_usage)",
    ),
];

/// Between its first and its last change, each position is there, and the last is the counter's.
const SEQUENCE: &str = "SELECT coalesce(max(sequence) - min(sequence) + 1 = count(*) AND max(sequence) = \
     (SELECT last FROM confirmation_sequence), 1) FROM confirmation_events";

/// A confirmation stands as its last change says, unless that is kept no longer.
const STATES: &str = "SELECT c.id FROM confirmations c JOIN confirmation_events e ON e.sequence = c.sequence \
     WHERE e.confirmation_id <> c.id OR e.state <> c.state LIMIT 10";

/// What was approved and used is used once, and its write is recorded.
const USED: &str = "SELECT confirmation_id FROM audit WHERE kind = 'write' AND confirmation_id <> '' \
     GROUP BY confirmation_id HAVING count(*) > 1 LIMIT 10";

/// What a look at a state directory came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What was looked at, in words.
    pub looked_at: Vec<String>,
    /// What is not as it must be.
    pub problems: Vec<String>,
}

/// Looks at a state directory.
pub async fn check(state: &Path) -> Result<Checked, BackupError> {
    let database = state.join(DATABASE);
    if !database.is_file() {
        return Err(BackupError::NoState(state.display().to_string()));
    }
    let mut connection = open(&database).await?;
    let mut checked = Checked::default();
    let looked = look(&mut connection, &mut checked).await;
    looked.map_err(|error| failed(&database, error))?;
    let files = files(&mut connection, state, &mut checked).await;
    files.map_err(|error| failed(&database, error))?;
    Ok(checked)
}

async fn look(connection: &mut SqliteConnection, checked: &mut Checked) -> Result<(), sqlx::Error> {
    let Checked { looked_at, problems } = checked;
    let pages: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check(10)").fetch_all(&mut *connection).await?;
    problems.extend(pages.into_iter().filter(|line| line != "ok").map(|line| format!("pages: {line}")));
    looked_at.push("every page and index".to_owned());
    for row in sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut *connection).await? {
        problems.push(format!("references: a row of {} names nothing", row.get::<String, _>(0)));
    }
    looked_at.push("references between tables".to_owned());
    for (table, query) in COUNTS {
        let is_right: bool = sqlx::query_scalar(*query).fetch_one(&mut *connection).await?;
        if !is_right {
            problems.push(format!("{table} does not count what there is"));
        }
    }
    looked_at.push(format!("{} counts", COUNTS.len()));
    let is_gapless: bool = sqlx::query_scalar(SEQUENCE).fetch_one(&mut *connection).await?;
    if !is_gapless {
        problems.push("the changes of confirmations have a gap".to_owned());
    }
    looked_at.push("the sequence of confirmations' changes".to_owned());
    for (query, what) in
        [(STATES, "does not stand as its last change says"), (USED, "was used more than once")]
    {
        let found: Vec<String> = sqlx::query_scalar(query).fetch_all(&mut *connection).await?;
        problems.extend(found.into_iter().map(|id| format!("confirmation {id} {what}")));
    }
    Ok(())
}

/// The bytes that are in files.
async fn files(
    connection: &mut SqliteConnection,
    state: &Path,
    checked: &mut Checked,
) -> Result<(), sqlx::Error> {
    let named = "SELECT digest, size FROM blobs WHERE bytes IS NULL ORDER BY digest";
    let rows: Vec<(Vec<u8>, i64)> = sqlx::query_as(named).fetch_all(&mut *connection).await?;
    for (digest, size) in &rows {
        let digest = HEXLOWER.encode(digest);
        let path = place_of(&digest);
        match digest_of(&state.join(&path)) {
            Ok((bytes, found)) if found == digest && i64::try_from(bytes) == Ok(*size) => {}
            Ok(_) => checked.problems.push(format!("{path} does not hold the bytes that its name says")),
            Err(error) => checked.problems.push(error.to_string()),
        }
    }
    checked.looked_at.push(format!("{} files of bytes", rows.len()));
    Ok(())
}
