//! Applies migrations to the file.

use std::collections::BTreeSet;

use sqlx::{
    SqliteConnection,
    migrate::{Migrate, MigrateError, Migration},
};

use crate::Migrations;

/// Shadow tables are omitted, since they belong to a listed table.
const TABLES: &str = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' \
                      AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_sqlx\\_%' ESCAPE '\\'";

#[derive(Debug, thiserror::Error)]
pub(crate) enum MigrationError {
    #[error(transparent)]
    Failed(#[from] MigrateError),
    #[error("its steps make the table {0}, which it does not list; add it to `tables`")]
    Unlisted(String),
    /// An exclusive migration is pending, and another process uses the file.
    #[error("step {0} needs the file for itself")]
    InUse(i64),
}

/// Applies pending migrations. Refuses a file to which unknown migrations were applied, and one with a pending
/// [exclusive](is_exclusive) migration while another process uses it, as `is_shared` reports.
pub(super) async fn run(
    migrations: &Migrations,
    db: &mut SqliteConnection,
    is_shared: impl Fn() -> bool,
) -> Result<(), MigrationError> {
    // Before anything is applied: an older process may be writing.
    if let Some(version) = next_exclusive(migrations, db).await?
        && is_shared()
    {
        return Err(MigrationError::InUse(version));
    }
    let before = tables(db).await?;
    // Equivalent to `run`, whose future is not `Send` here.
    migrations.on_sqlite().run_direct(None, db, false).await?;
    let mut created = tables(db).await?.into_iter().filter(|table| !before.contains(table));
    match created.find(|table| !migrations.lists(table)) {
        Some(unlisted) => Err(MigrationError::Unlisted(unlisted)),
        None => Ok(()),
    }
}

/// The first pending exclusive migration. A new file has none, since no older process has written to it.
async fn next_exclusive(
    migrations: &Migrations,
    db: &mut SqliteConnection,
) -> Result<Option<i64>, MigrateError> {
    let steps = migrations.on_sqlite();
    db.ensure_migrations_table(&steps.table_name).await?;
    let applied = db.list_applied_migrations(&steps.table_name).await?;
    let is_new = |step: &&Migration| applied.iter().all(|it| it.version != step.version);
    let next = steps.iter().filter(is_new).find(|step| is_exclusive(step));
    Ok(next.filter(|_| !applied.is_empty()).map(|step| step.version))
}

/// Whether a migration excludes older processes from then on. If it drops a trigger, this program does in Rust what the
/// trigger did; an older one still relies on the trigger, so its writes would be left out of the counts.
fn is_exclusive(step: &Migration) -> bool {
    step.sql.as_str().contains("DROP TRIGGER")
}

async fn tables(db: &mut SqliteConnection) -> Result<BTreeSet<String>, MigrateError> {
    let names: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(db).await?;
    Ok(names.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use sqlx::{
        AssertSqlSafe, Connection, SqlSafeStr,
        migrate::{MigrationType, Migrator},
    };

    use super::*;

    const STEPS: [&str; 3] = [
        "CREATE TABLE t (a INTEGER); CREATE TABLE n (a INTEGER)",
        "CREATE TRIGGER counted AFTER INSERT ON t BEGIN UPDATE n SET a = a + 1; END",
        "DROP TRIGGER counted",
    ];

    /// The first steps, of a domain.
    fn first(steps: usize) -> Migrations {
        let step = |(version, sql): (i64, &'static str)| {
            let sql = AssertSqlSafe(sql).into_sql_str();
            Migration::new(version, "step".into(), MigrationType::Simple, sql, false)
        };
        let migrations = (1_i64..).zip(STEPS).take(steps).map(step).collect::<Vec<_>>();
        Migrations::of_domain(
            "d",
            &["t", "n"],
            Migrator { migrations: migrations.into(), ..Migrator::DEFAULT },
        )
    }

    #[tokio::test]
    async fn a_step_that_drops_a_trigger_waits_until_no_other_process_uses_the_file() {
        let mut old = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        run(&first(1), &mut old, || true).await.unwrap();
        run(&first(2), &mut old, || true).await.unwrap();
        let refused = run(&first(3), &mut old, || true).await.unwrap_err();
        assert!(matches!(refused, MigrationError::InUse(3)), "{refused:?}");
        run(&first(3), &mut old, || false).await.unwrap();
        run(&first(3), &mut old, || true).await.unwrap();

        let mut new = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        run(&first(3), &mut new, || true).await.unwrap();
    }
}
