//! Migrations of the tables in the file: those of the platform, and those of each domain, which are independent of each
//! other.
//!
//! Each owner has a migrations table of its own, since two migrators that share one would each report the other's
//! migrations as missing.

use std::{collections::BTreeSet, fmt, sync::Arc};

use sqlx::{
    SqliteConnection,
    migrate::{Migrate, MigrateError, Migration, Migrator},
};

/// The tables of the platform. Its first migration also creates tables that domains have adopted since.
const PLATFORM: &[&str] = &[
    "cool_downs",
    "idempotency",
    "idempotency_usage",
    "idempotency_total",
    "results",
    "results_usage",
    "probe",
    "reservations",
    "hold_offs",
    "confirmations",
    "confirmation_events",
    "confirmation_sequence",
    "confirmation_positions",
    "tasks",
    "entries",
    "entry_parts",
    "waits",
    "open_calls",
    "mutations",
    "confirmation_usage",
    "confirmation_total",
    "webhooks",
    "outbox",
    "audit",
    "audit_usage",
    "audit_total",
    "blobs",
    "workspaces",
    "documents",
    "versions",
    "postings",
    "turns",
    "memories",
    "jobs",
    "job_events",
    "timeline_usage",
    "cancellations",
    "accepted_tools",
    "kept_results",
    "kept_results_usage",
    "kept_results_total",
    "equal_writes",
];

/// Shadow tables are omitted, since they belong to a listed table.
const TABLES: &str = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' \
                      AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_sqlx\\_%' ESCAPE '\\'";

/// The tables of one owner, and its migrations.
#[derive(Clone, Debug)]
pub struct Migrations {
    owner: Owner,
    tables: &'static [&'static str],
    steps: Arc<Migrator>,
}

/// The owner of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Platform,
    Domain(&'static str),
}

/// Two owners list the same table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{one} and {other} both have the table {table}: give one of them another name")]
pub struct TableTaken {
    table: &'static str,
    one: String,
    other: String,
}

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

impl Migrations {
    /// The migrations of a domain: its name, all tables that they create, and the migrator, as
    /// `sqlx::migrate!("./migrations/<domain>")` embeds it.
    pub fn of_domain(domain: &'static str, tables: &'static [&'static str], mut steps: Migrator) -> Self {
        steps.dangerous_set_table_name(format!("\"_sqlx_migrations_{domain}\""));
        Self { owner: Owner::Domain(domain), tables, steps: Arc::new(steps) }
    }

    pub(crate) fn of_platform() -> Self {
        let steps = Arc::new(sqlx::migrate!("./migrations"));
        Self { owner: Owner::Platform, tables: PLATFORM, steps }
    }

    /// The owner, as shown to operators.
    pub(crate) fn owner(&self) -> String {
        self.owner.to_string()
    }

    /// Applies pending migrations. Refuses a file to which unknown migrations were applied, and one with a pending
    /// [exclusive](is_exclusive) migration while another process uses it, as `is_shared` reports.
    pub(crate) async fn run(
        &self,
        db: &mut SqliteConnection,
        is_shared: impl Fn() -> bool,
    ) -> Result<(), MigrationError> {
        // Before anything is applied: an older process may be writing.
        if let Some(version) = self.next_exclusive(db).await?
            && is_shared()
        {
            return Err(MigrationError::InUse(version));
        }
        let before = tables(db).await?;
        // Equivalent to `run`, whose future is not `Send` here.
        self.steps.run_direct(None, db, false).await?;
        let mut created = tables(db).await?.into_iter().filter(|table| !before.contains(table));
        match created.find(|table| self.owner != Owner::Platform && !self.tables.contains(&table.as_str())) {
            Some(unlisted) => Err(MigrationError::Unlisted(unlisted)),
            None => Ok(()),
        }
    }

    /// The first pending exclusive migration. A new file has none, since no older process has written to it.
    async fn next_exclusive(&self, db: &mut SqliteConnection) -> Result<Option<i64>, MigrateError> {
        db.ensure_migrations_table(&self.steps.table_name).await?;
        let applied = db.list_applied_migrations(&self.steps.table_name).await?;
        let is_new = |step: &&Migration| applied.iter().all(|it| it.version != step.version);
        let next = self.steps.iter().filter(is_new).find(|step| is_exclusive(step));
        Ok(next.filter(|_| !applied.is_empty()).map(|step| step.version))
    }
}

/// Whether a migration excludes older processes from then on. If it drops a trigger, this program does in Rust what the
/// trigger did; an older one still relies on the trigger, so its writes would be left out of the counts.
fn is_exclusive(step: &Migration) -> bool {
    step.sql.as_str().contains("DROP TRIGGER")
}

/// The version of the platform's last migration.
pub(crate) fn newest() -> i64 {
    let steps = Migrations::of_platform().steps;
    steps.iter().map(|step| step.version).max().unwrap_or_default()
}

/// Refuses migrations of which two list the same table.
pub(crate) fn refuse_taken(all: &[Migrations]) -> Result<(), TableTaken> {
    for (index, later) in all.iter().enumerate() {
        for earlier in &all[..index] {
            let taken = later.tables.iter().find(|table| earlier.tables.contains(table));
            if let Some(table) = taken {
                return Err(TableTaken { table, one: earlier.owner(), other: later.owner() });
            }
        }
    }
    Ok(())
}

async fn tables(db: &mut SqliteConnection) -> Result<BTreeSet<String>, MigrateError> {
    let names: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(db).await?;
    Ok(names.into_iter().collect())
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Platform => f.write_str("the platform"),
            Self::Domain(name) => write!(f, "the domain {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{AssertSqlSafe, Connection, SqlSafeStr, migrate::MigrationType};

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
        first(1).run(&mut old, || true).await.unwrap();
        first(2).run(&mut old, || true).await.unwrap();
        let refused = first(3).run(&mut old, || true).await.unwrap_err();
        assert!(matches!(refused, MigrationError::InUse(3)), "{refused:?}");
        first(3).run(&mut old, || false).await.unwrap();
        first(3).run(&mut old, || true).await.unwrap();

        let mut new = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        first(3).run(&mut new, || true).await.unwrap();
    }
}
