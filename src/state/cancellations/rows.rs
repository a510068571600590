//! The table `cancellations`: requests to cancel work of other processes.

use std::time::SystemTime;

use crate::cancellations::{CancelRequest, Subject};
use toolwire_db::{
    Error,
    sql::{FromRow, Row, Statement, insert, select, sql},
};
use toolwire_tool::context::UserId;

/// A stored request. `request` is `None` if only a newer version can parse it.
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

/// Inserts a request of this process.
pub(crate) fn insert(
    (id, user, subject): (&str, &UserId, &Subject),
    replica: &str,
    now: SystemTime,
) -> Statement {
    insert! { cancellations:
        id, user_id = user, subject = subject.into_str(), subject_id = subject.name(), replica, asked_at = now,
    }
}

/// The requests of other processes from an instant on.
pub(crate) fn list(replica: &str, since: SystemTime) -> Statement<Request> {
    select!(Request, "FROM cancellations WHERE replica <> {replica} AND asked_at >= {since}")
}

/// Adds the answer of a process: whether it has cancelled the subject.
pub(crate) fn answer(id: &str, done: bool) -> Statement {
    let done = if done { ", done = 1" } else { "" };
    sql!("UPDATE cancellations SET answers = answers + 1{..done} WHERE id = {id}")
}

/// The number of answers to a request, and whether the subject is cancelled.
pub(crate) fn answers(id: &str) -> Statement<(usize, bool)> {
    sql!("SELECT answers, done FROM cancellations WHERE id = {id}")
}

pub(crate) fn delete(id: &str) -> Statement {
    sql!("DELETE FROM cancellations WHERE id = {id}")
}

/// Deletes the requests up to an instant.
pub(crate) fn delete_until(until: SystemTime) -> Statement {
    sql!("DELETE FROM cancellations WHERE asked_at <= {until}")
}

/// Deletes all requests of a user except the newest ones.
pub(crate) fn delete_beyond(user: &UserId, newest: u32) -> Statement {
    sql!(
        "DELETE FROM cancellations WHERE id IN (SELECT id FROM cancellations WHERE user_id = {user}
         ORDER BY asked_at DESC, id DESC LIMIT {i64::MAX} OFFSET {newest})"
    )
}
