//! The table `reservations`. Instants are nanoseconds since the Unix epoch.

use crate::{
    Error,
    reservations::{Nanos, Reservation},
    select, sql,
    sql::{Connection, Scalar, Statement, record},
};
use toolwire_tool::context::UserId;

record!(Reservation, "reservation", { user: "user_id", at });

/// The reservations of a source from an instant on, in order of time.
pub(crate) async fn list(
    connection: &mut Connection,
    source: &str,
    since: Nanos,
) -> Result<Vec<Reservation>, Error> {
    let list = select! {
        Reservation, "FROM reservations WHERE source = ", source,
        " AND at >= ", since,
        " ORDER BY at"
    };
    list.all(connection).await
}

/// Adds one and returns its number.
pub(crate) async fn insert(
    connection: &mut Connection,
    source: &str,
    user: &UserId,
    at: Nanos,
) -> Result<i64, Error> {
    let columns = [("source", source.into()), ("user_id", user.into()), ("at", at.into())];
    let mut insert = Statement::insert("reservations", columns);
    insert.push(" RETURNING id");
    let Scalar(id) = insert.one(connection).await?;
    Ok(id)
}

pub(crate) async fn delete(connection: &mut Connection, id: i64) -> Result<(), Error> {
    sql!("DELETE FROM reservations WHERE id = ", id).execute(connection).await?;
    Ok(())
}

pub(crate) async fn delete_before(
    connection: &mut Connection,
    source: &str,
    before: Nanos,
) -> Result<(), Error> {
    sql!("DELETE FROM reservations WHERE source = ", source, " AND at < ", before)
        .execute(connection)
        .await?;
    Ok(())
}
