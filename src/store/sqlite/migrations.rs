//! Whose tables are in the file, and what brings them up to date: the platform's, and those of each domain, which
//! follow each other and know nothing of each other.
//!
//! Each owner has a migrations table of its own, since two migrators in one table take each other's steps for missing.

use std::{collections::BTreeSet, fmt, sync::Arc};

use sqlx::{
    SqliteConnection,
    migrate::{Migrate, MigrateError, Migration, Migrator},
};

/// The platform's own. Its first step also makes tables that a domain has adopted since.
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
];

/// Shadow tables belong to a table that is listed itself.
const TABLES: &str = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' \
                      AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_sqlx\\_%' ESCAPE '\\'";

/// The tables of one owner, and the steps that bring them up to date.
#[derive(Clone, Debug)]
pub struct Migrations {
    owner: Owner,
    tables: &'static [&'static str],
    steps: Arc<Migrator>,
}

/// Who has tables in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Platform,
    Domain(&'static str),
}

/// Two owners have a table of the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{one} and {other} both have the table {table}: give one of them another name")]
pub struct TableTaken {
    table: &'static str,
    one: String,
    other: String,
}

/// Why the tables of an owner cannot be brought up to date.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MigrationError {
    #[error(transparent)]
    Failed(#[from] MigrateError),
    #[error("its steps make the table {0}, which it does not list; add it to `tables`")]
    Unlisted(String),
    /// An exclusive step is to be carried out, and another process uses the file.
    #[error("step {0} needs the file for itself")]
    InUse(i64),
}

impl Migrations {
    /// Those of a domain: its name, all tables that its steps make, and the steps, as
    /// `sqlx::migrate!("./migrations/<domain>")` embeds them.
    pub fn of_domain(domain: &'static str, tables: &'static [&'static str], mut steps: Migrator) -> Self {
        steps.dangerous_set_table_name(format!("\"_sqlx_migrations_{domain}\""));
        Self { owner: Owner::Domain(domain), tables, steps: Arc::new(steps) }
    }

    pub(crate) fn of_platform() -> Self {
        let steps = Arc::new(sqlx::migrate!("./migrations"));
        Self { owner: Owner::Platform, tables: PLATFORM, steps }
    }

    /// Whose they are, in words.
    pub(crate) fn owner(&self) -> String {
        self.owner.to_string()
    }

    /// Carries out the steps that the file has not seen. A file that has seen steps unknown here is refused, and so is
    /// one that needs an [exclusive](is_exclusive) step while `is_shared` says that another process uses it.
    pub(crate) async fn run(
        &self,
        change: &mut SqliteConnection,
        is_shared: impl Fn() -> bool,
    ) -> Result<(), MigrationError> {
        if let Some(version) = self.next_exclusive(change).await?
            && is_shared()
        {
            return Err(MigrationError::InUse(version));
        }
        let before = tables(change).await?;
        // What `run` does, which the compiler does not let into a future that can be sent.
        self.steps.run_direct(None, change, false).await?;
        let mut made = tables(change).await?.into_iter().filter(|table| !before.contains(table));
        match made.find(|table| self.owner != Owner::Platform && !self.tables.contains(&table.as_str())) {
            Some(unlisted) => Err(MigrationError::Unlisted(unlisted)),
            None => Ok(()),
        }
    }

    /// The first exclusive step that is to be carried out. A new file needs none: nobody has written to it.
    async fn next_exclusive(&self, change: &mut SqliteConnection) -> Result<Option<i64>, MigrateError> {
        change.ensure_migrations_table(&self.steps.table_name).await?;
        let applied = change.list_applied_migrations(&self.steps.table_name).await?;
        let is_new = |step: &&Migration| applied.iter().all(|it| it.version != step.version);
        let next = self.steps.iter().filter(is_new).find(|step| is_exclusive(step));
        Ok(next.filter(|_| !applied.is_empty()).map(|step| step.version))
    }
}

/// Whether no older process may use the file during a step and after it. Where a trigger goes, this program does in
/// Rust what the trigger did; an older one relies on it still, and what it writes would go uncounted.
fn is_exclusive(step: &Migration) -> bool {
    step.sql.as_str().contains("DROP TRIGGER")
}

/// The last step of the platform's tables.
pub(crate) fn newest() -> i64 {
    let steps = Migrations::of_platform().steps;
    steps.iter().map(|step| step.version).max().unwrap_or_default()
}

/// Refuses a table that two owners have.
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

async fn tables(change: &mut SqliteConnection) -> Result<BTreeSet<String>, MigrateError> {
    let names: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(change).await?;
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
