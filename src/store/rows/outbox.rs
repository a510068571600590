//! The table `outbox`: messages to webhooks, each until it is delivered or given up.

use std::time::SystemTime;

use crate::{
    Error,
    outbox::Event,
    sql,
    sql::{Connection, Scalar, Statement, record, words},
};

words!(Event);

/// A message that was taken to be delivered.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) id: String,
    pub(crate) event: Event,
    /// The position of the change of a confirmation that it reports.
    pub(crate) sequence: u64,
    /// Attempts, this one included.
    pub(crate) attempts: u32,
    pub(crate) expires_at: SystemTime,
}

record!(Taken, "message", { id, event, sequence, attempts, expires_at });

/// A message to be added.
#[derive(Debug)]
pub(crate) struct NewMessage<'a> {
    pub(crate) id: String,
    pub(crate) url: &'a str,
    pub(crate) event: Event,
    pub(crate) sequence: u64,
    pub(crate) at: SystemTime,
    pub(crate) expires_at: SystemTime,
}

/// Adds a message that is due at once.
pub(crate) async fn insert(connection: &mut Connection, new: NewMessage<'_>) -> Result<(), Error> {
    let columns = [
        ("id", new.id.into()),
        ("url", new.url.into()),
        ("event", new.event.into()),
        ("sequence", new.sequence.into()),
        ("at", new.at.into()),
        ("expires_at", new.expires_at.into()),
        ("due_at", new.at.into()),
    ];
    Statement::insert("outbox", columns).execute(connection).await?;
    Ok(())
}

/// Deletes the messages to addresses that are no webhook any more.
pub(crate) async fn delete_unsubscribed(connection: &mut Connection) -> Result<(), Error> {
    sql!("DELETE FROM outbox WHERE url NOT IN (SELECT url FROM webhooks)").execute(connection).await?;
    Ok(())
}

pub(crate) async fn has_due(connection: &mut Connection, url: &str, now: SystemTime) -> Result<bool, Error> {
    let due = sql!("SELECT EXISTS (SELECT 1 FROM outbox WHERE url = ", url, " AND due_at <= ", now, ")");
    Ok(due.one::<Scalar<bool>>(connection).await?.0)
}

/// Takes messages that are due, which are due again at `until`.
pub(crate) async fn take(
    connection: &mut Connection,
    url: &str,
    now: SystemTime,
    until: SystemTime,
    limit: u32,
) -> Result<Vec<Taken>, Error> {
    sql! {
        "UPDATE outbox SET attempts = attempts + 1, due_at = ", until,
        " WHERE id IN (SELECT id FROM outbox WHERE url = ", url,
        " AND due_at <= ", now,
        " ORDER BY due_at, sequence LIMIT ", limit,
        ") RETURNING id, event, sequence, attempts, expires_at"
    }
    .all(connection)
    .await
}

pub(crate) async fn delete(connection: &mut Connection, id: &str) -> Result<(), Error> {
    sql!("DELETE FROM outbox WHERE id = ", id).execute(connection).await?;
    Ok(())
}

pub(crate) async fn postpone(connection: &mut Connection, id: &str, until: SystemTime) -> Result<(), Error> {
    sql!("UPDATE outbox SET due_at = ", until, " WHERE id = ", id).execute(connection).await?;
    Ok(())
}
