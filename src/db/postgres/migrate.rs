//! Migrations, of all owners in one transaction under a lock: a concurrent process waits and then finds nothing to do.

use sqlx::{
    AssertSqlSafe, Connection, Executor, PgConnection,
    migrate::{MigrateError, Migrator},
};

use super::{
    address::Address,
    error::{self, refused},
};
use crate::{Migrations, StoreError};

const HAS_SCHEMA: &str = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)";

const TABLES: &str = "SELECT c.relname::TEXT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                      WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm') AND c.relname NOT LIKE '\\_sqlx\\_%'";

pub(super) async fn migrate(
    address: &Address,
    db: &mut PgConnection,
    tables: &[Migrations],
) -> Result<(), StoreError> {
    if let Some(domain) = tables.iter().find(|it| it.on_postgres().is_none()) {
        let cause = format!("{} has no migrations for PostgreSQL", domain.owner());
        let remedy =
            "Add them, as CONTRIBUTING.md says, serve without the domain, or keep the state in a directory";
        return Err(refused(address, &cause, remedy));
    }
    let unusable = |error: sqlx::Error| error::unusable(address, &error);
    let mut tx = db.begin().await.map_err(unusable)?;
    let (kind, name) = address.lock_key("migrations", "");
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1, $2)").bind(kind).bind(name);
    lock.execute(&mut *tx).await.map_err(unusable)?;
    let has_schema = sqlx::query_scalar::<_, bool>(HAS_SCHEMA).bind(address.schema());
    if !has_schema.fetch_one(&mut *tx).await.map_err(unusable)? {
        let create = format!("CREATE SCHEMA {}", address.schema());
        tx.execute(AssertSqlSafe(create)).await.map_err(unusable)?;
    }
    for migrations in tables {
        run(address, &mut tx, migrations).await?;
    }
    tx.commit().await.map_err(unusable)
}

async fn run(address: &Address, db: &mut PgConnection, migrations: &Migrations) -> Result<(), StoreError> {
    let steps = migrations.on_postgres().expect("looked for above");
    let owner = migrations.owner();
    let before = list_tables(address, db).await?;
    // Equivalent to `run`, whose future is not `Send` here.
    let applied = steps.run_direct(None, db, false).await;
    let applied = match applied {
        Ok(()) => refuse_breaking(db, steps).await,
        failed => failed,
    };
    applied.map_err(|error| error::migration_failed(address, &owner, error))?;
    let mut created = list_tables(address, db).await?.into_iter().filter(|table| !before.contains(table));
    match created.find(|table| !migrations.lists(table)) {
        Some(unlisted) => {
            let cause = format!("{owner}: its steps make the table {unlisted}, which it does not list");
            Err(refused(address, &cause, "Add it to `tables`"))
        }
        None => Ok(()),
    }
}

/// Refuses a schema with a step of a newer program that this one must not go on after, which the step's name says.
async fn refuse_breaking(db: &mut PgConnection, steps: &Migrator) -> Result<(), MigrateError> {
    let known: Vec<i64> = steps.iter().map(|step| step.version).collect();
    let find = format!(
        "SELECT min(version) FROM {} WHERE version <> ALL($1) AND starts_with(description, 'breaking ')",
        steps.table_name
    );
    let breaking =
        sqlx::query_scalar::<_, Option<i64>>(AssertSqlSafe(find)).bind(known).fetch_one(db).await?;
    breaking.map_or(Ok(()), |version| Err(MigrateError::VersionMissing(version)))
}

async fn list_tables(address: &Address, db: &mut PgConnection) -> Result<Vec<String>, StoreError> {
    let tables = sqlx::query_scalar(TABLES).bind(address.schema()).fetch_all(db).await;
    tables.map_err(|error| error::unusable(address, &error))
}
