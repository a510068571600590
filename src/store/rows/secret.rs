//! The table `task_secret`, which has one row.

use crate::{
    Error, sql,
    sql::{Connection, Scalar},
};

pub(crate) async fn get(connection: &mut Connection) -> Result<Vec<u8>, Error> {
    let Scalar(secret) = sql!("SELECT secret FROM task_secret").one(connection).await?;
    Ok(secret)
}
