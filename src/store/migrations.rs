//! Migrations of the tables: those of the platform, and those of each domain, which are independent of each other. Each
//! database has steps of its own.
//!
//! Each owner has a migrations table of its own, since two migrators that share one would each report the other's
//! migrations as missing.

use std::{fmt, sync::Arc};

use sqlx::migrate::Migrator;

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
    "blob_uploads",
    "blob_chunks",
    "held_sessions",
];

/// The tables of one owner, and its migrations.
#[derive(Clone, Debug)]
pub struct Migrations {
    owner: Owner,
    tables: &'static [&'static str],
    on_sqlite: Arc<Migrator>,
    on_postgres: Option<Arc<Migrator>>,
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

impl Migrations {
    /// The migrations of a domain: its name, all tables that they create, and the migrator of SQLite, as
    /// `sqlx::migrate!("./migrations/<domain>")` embeds it.
    pub fn of_domain(domain: &'static str, tables: &'static [&'static str], steps: Migrator) -> Self {
        let on_sqlite = of_domain(domain, steps);
        Self { owner: Owner::Domain(domain), tables, on_sqlite, on_postgres: None }
    }

    /// Adds the migrator of PostgreSQL, as `sqlx::migrate!("./migrations/<domain>/postgres")` embeds it. Without it the
    /// domain cannot be served there. A step that programs without it must not go on after is named
    /// `<number>_breaking_<what>.sql`.
    #[must_use]
    pub fn with_postgres(mut self, mut steps: Migrator) -> Self {
        // While replicas are upgraded one after the other, those of the version before go on, and start again.
        steps.set_ignore_missing(true);
        self.on_postgres = Some(match self.owner {
            Owner::Platform => Arc::new(steps),
            Owner::Domain(domain) => of_domain(domain, steps),
        });
        self
    }

    pub(crate) fn of_platform() -> Self {
        let on_sqlite = Arc::new(sqlx::migrate!("./migrations"));
        let platform = Self { owner: Owner::Platform, tables: PLATFORM, on_sqlite, on_postgres: None };
        platform.with_postgres(sqlx::migrate!("./migrations/postgres"))
    }

    pub(crate) fn on_sqlite(&self) -> &Migrator {
        &self.on_sqlite
    }

    pub(crate) fn on_postgres(&self) -> Option<&Migrator> {
        self.on_postgres.as_deref()
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.tables.iter().copied()
    }

    /// Whether its owner may create a table. Early steps of the platform create tables that domains have adopted since.
    pub(crate) fn lists(&self, table: &str) -> bool {
        self.owner == Owner::Platform || self.tables.contains(&table)
    }

    /// The owner, as shown to operators.
    pub(crate) fn owner(&self) -> String {
        self.owner.to_string()
    }
}

/// The version of the platform's last migration.
pub(crate) fn newest() -> i64 {
    let steps = Migrations::of_platform().on_sqlite;
    steps.iter().map(|step| step.version).max().unwrap_or_default()
}

/// Gives the steps of a domain a table of their own.
fn of_domain(domain: &str, mut steps: Migrator) -> Arc<Migrator> {
    steps.dangerous_set_table_name(format!("\"_sqlx_migrations_{domain}\""));
    Arc::new(steps)
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

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Platform => f.write_str("the platform"),
            Self::Domain(name) => write!(f, "the domain {name}"),
        }
    }
}
