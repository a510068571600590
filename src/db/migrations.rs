//! Migrations of the tables: those of the platform, and those of each domain, which are independent of each other. Each
//! database has steps of its own.
//!
//! Each owner has a migrations table of its own, since two migrators that share one would each report the other's
//! migrations as missing.

use std::{fmt, sync::Arc};

use sqlx::migrate::Migrator;

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

    /// The migrations of the platform: all tables that domains have not adopted, and the migrators of either database.
    pub fn of_platform(tables: &'static [&'static str], on_sqlite: Migrator, on_postgres: Migrator) -> Self {
        let on_sqlite = Arc::new(on_sqlite);
        Self { owner: Owner::Platform, tables, on_sqlite, on_postgres: None }.with_postgres(on_postgres)
    }

    /// No tables.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self::of_platform(&[], Migrator::DEFAULT, Migrator::DEFAULT)
    }

    /// The version of the last migration on SQLite.
    pub fn newest(&self) -> i64 {
        self.on_sqlite.iter().map(|step| step.version).max().unwrap_or_default()
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
