//! The table `outbox`: messages to webhooks, each retained until it is delivered or given up.

pub(crate) mod webhooks;

use std::time::SystemTime;

use crate::outbox::Event;
use toolwire_db::sql::{Statement, insert, record, sql, words};

words!(Event);

/// A message that is claimed for delivery.
#[derive(Debug)]
pub(crate) struct ClaimedMessage {
    pub(crate) id: String,
    pub(crate) event: Event,
    /// The position of the change of a confirmation that it reports.
    pub(crate) sequence: u64,
    /// Number of attempts, including this one.
    pub(crate) attempts: u32,
    pub(crate) expires_at: SystemTime,
}

record!(ClaimedMessage, "message", { id, event, sequence, attempts, expires_at });

/// A message to be inserted.
#[derive(Debug)]
pub(crate) struct NewMessage<'a> {
    pub(crate) id: String,
    pub(crate) url: &'a str,
    pub(crate) event: Event,
    pub(crate) sequence: u64,
    pub(crate) at: SystemTime,
    pub(crate) expires_at: SystemTime,
}

/// Inserts a message that is due at once.
pub(crate) fn insert(new: NewMessage<'_>) -> Statement {
    let NewMessage { id, url, event, sequence, at, expires_at } = new;
    insert! { outbox: id, url, event, sequence, at, expires_at, due_at = at }
}

/// Deletes the messages to addresses that are no longer webhooks.
pub(crate) fn delete_unsubscribed() -> Statement {
    sql!("DELETE FROM outbox WHERE url NOT IN (SELECT url FROM webhooks)")
}

pub(crate) fn has_due(url: &str, now: SystemTime) -> Statement<bool> {
    sql!("SELECT EXISTS (SELECT 1 FROM outbox WHERE url = {url} AND due_at <= {now})")
}

/// Claims due messages, which are due again at `until`.
pub(crate) fn claim(url: &str, now: SystemTime, until: SystemTime, limit: u32) -> Statement<ClaimedMessage> {
    sql!(
        "UPDATE outbox SET attempts = attempts + 1, due_at = {until}
         WHERE id IN (SELECT id FROM outbox WHERE url = {url} AND due_at <= {now}
                      ORDER BY due_at, sequence LIMIT {limit})
         RETURNING id, event, sequence, attempts, expires_at"
    )
}

pub(crate) fn delete(id: &str) -> Statement {
    sql!("DELETE FROM outbox WHERE id = {id}")
}

pub(crate) fn postpone(id: &str, until: SystemTime) -> Statement {
    sql!("UPDATE outbox SET due_at = {until} WHERE id = {id}")
}
