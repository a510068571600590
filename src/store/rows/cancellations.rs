//! The table `cancellations`: requests to cancel what another process carries out.

use std::time::SystemTime;

use crate::{
    Error,
    cancellations::{CancelRequest, Subject},
    select, sql,
    sql::{Connection, FromRow, Row, Statement},
};
use toolwire_tool::context::UserId;

/// A request that was read: its name, and what it asks, unless only a newer program understands it.
pub(crate) struct Request {
    pub(crate) id: String,
    pub(crate) request: Option<CancelRequest>,
}

impl FromRow for Request {
    fn columns() -> Vec<&'static str> {
        vec!["id", "user_id", "subject", "subject_id"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        let (id, user): (String, String) = (row.get("id")?, row.get("user_id")?);
        let subject = Subject::parse(&row.get::<String>("subject")?, &row.get::<String>("subject_id")?);
        let request = user.parse().ok().zip(subject);
        let request = request.map(|(user, subject)| CancelRequest { id: id.clone(), user, subject });
        Ok(Self { id, request })
    }
}

/// Adds the request of a process.
pub(crate) async fn insert(
    connection: &mut Connection,
    (id, user, subject): (&str, &UserId, &Subject),
    replica: &str,
    now: SystemTime,
) -> Result<(), Error> {
    let columns = [
        ("id", id.into()),
        ("user_id", user.into()),
        ("subject", subject.into_str().into()),
        ("subject_id", subject.name().into()),
        ("replica", replica.into()),
        ("asked_at", now.into()),
    ];
    Statement::insert("cancellations", columns).execute(connection).await?;
    Ok(())
}

/// The requests of other processes since an instant.
pub(crate) async fn list(
    connection: &mut Connection,
    replica: &str,
    since: SystemTime,
) -> Result<Vec<Request>, Error> {
    let list = select! {
        Request, "FROM cancellations WHERE replica <> ", replica,
        " AND asked_at >= ", since
    };
    list.all(connection).await
}

/// Adds the answer of a process: whether it has cancelled what is meant.
pub(crate) async fn answer(connection: &mut Connection, id: &str, done: bool) -> Result<(), Error> {
    let mut answer = sql!("UPDATE cancellations SET answers = answers + 1");
    answer.push(if done { ", done = 1" } else { "" }).push(" WHERE id = ").bind(id);
    answer.execute(connection).await?;
    Ok(())
}

/// The number of answers to a request, and whether one says that it is done; `None` if the request is deleted.
pub(crate) async fn answers(connection: &mut Connection, id: &str) -> Result<Option<(usize, bool)>, Error> {
    sql!("SELECT answers, done FROM cancellations WHERE id = ", id).optional(connection).await
}

pub(crate) async fn delete(connection: &mut Connection, id: &str) -> Result<(), Error> {
    sql!("DELETE FROM cancellations WHERE id = ", id).execute(connection).await?;
    Ok(())
}

/// Deletes the requests until an instant.
pub(crate) async fn delete_until(connection: &mut Connection, until: SystemTime) -> Result<(), Error> {
    sql!("DELETE FROM cancellations WHERE asked_at <= ", until).execute(connection).await?;
    Ok(())
}

/// Deletes the requests of a user beyond the newest.
pub(crate) async fn delete_beyond(
    connection: &mut Connection,
    user: &UserId,
    newest: u32,
) -> Result<(), Error> {
    let delete = sql! {
        "DELETE FROM cancellations WHERE id IN (SELECT id FROM cancellations WHERE user_id = ", user,
        " ORDER BY asked_at DESC, id DESC LIMIT ", i64::MAX,
        " OFFSET ", newest,
        ")"
    };
    delete.execute(connection).await?;
    Ok(())
}
