//! Refuses to check tables of another version of the schema.

use std::path::Path;

use super::super::{BackupError, failed};
use crate::tables;
use toolwire_db::sql::{Connection, Statement};

const STEPS: &str = "SELECT count(*) FROM sqlite_master WHERE name = '_sqlx_migrations'";

const LAST: &str = "SELECT coalesce(max(version), 0) FROM _sqlx_migrations WHERE success";

/// Refuses a file whose schema is older or newer, or that is not a state.
pub(super) async fn refuse_other(connection: &mut Connection, database: &Path) -> Result<(), BackupError> {
    let read = async |connection: &mut Connection| match Statement::<i64>::new(STEPS, Vec::new())
        .one(connection)
        .await?
    {
        0 => Ok(0),
        _ => Statement::<i64>::new(LAST, Vec::new()).one(connection).await,
    };
    let has = read(connection).await.map_err(|error| failed(database, error))?;
    let (place, knows) = (database.display().to_string(), tables::of_platform().newest());
    match has {
        0 => Err(BackupError::Foreign(place)),
        has if has < knows => Err(BackupError::Older { place, has, knows }),
        has if has > knows => Err(BackupError::Newer { place, has, knows }),
        _ => Ok(()),
    }
}
