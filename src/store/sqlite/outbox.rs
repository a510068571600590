//! Messages to webhooks. A trigger makes them, in the change that they tell of.

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::Row;

use super::{
    Durability, Failed, Sqlite,
    time::{instant, millis},
};
use crate::{
    StoreError,
    confirmations::{Among, Confirmations},
    outbox::{Message, Outbox, Subscription},
};

const SUBSCRIBE: &str = "INSERT INTO webhooks (url, requested, decided, expired) VALUES (?, ?, ?, ?)";

const DROP: &str = "DELETE FROM outbox WHERE url NOT IN (SELECT url FROM webhooks)";

const DUE: &str = "SELECT count(*) FROM outbox WHERE url = ? AND due_at <= ?";

const TAKE: &str = "UPDATE outbox SET due_at = ?1, attempts = attempts + 1 WHERE id IN \
     (SELECT id FROM outbox WHERE url = ?2 AND due_at <= ?3 ORDER BY due_at, sequence LIMIT ?4) \
     RETURNING id, event, sequence, attempts, expires_at";

const AGAIN: &str = "UPDATE outbox SET due_at = ? WHERE id = ?";

impl Outbox for Sqlite {
    fn subscribe<'a>(&'a self, all: &'a [Subscription]) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.subscribe_webhooks(all).await) })
    }

    fn take<'a>(
        &'a self,
        url: &'a str,
        now: SystemTime,
        until: SystemTime,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Message>, StoreError>> {
        Box::pin(async move {
            let taken = self.explain(self.take_messages(url, now, until, limit).await)?;
            let mut messages = Vec::new();
            for (mut message, sequence) in taken {
                let change =
                    self.changes(&Among::All, sequence.saturating_sub(1), 1).await?.into_iter().next();
                message.change = change.filter(|change| change.confirmation.sequence == sequence);
                messages.push(message);
            }
            Ok(messages)
        })
    }

    fn done<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.message_done(id).await) })
    }

    fn again<'a>(&'a self, id: &'a str, at: SystemTime) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.message_again(id, at).await) })
    }
}

impl Sqlite {
    async fn subscribe_webhooks(&self, all: &[Subscription]) -> Result<(), Failed> {
        let mut change = self.change(Durability::Process).await?;
        sqlx::query("DELETE FROM webhooks").execute(&mut *change).await?;
        for it in all {
            let subscribe = sqlx::query(SUBSCRIBE).bind(&it.url).bind(it.requested);
            subscribe.bind(it.decided).bind(it.expired).execute(&mut *change).await?;
        }
        sqlx::query(DROP).execute(&mut *change).await?;
        change.commit().await
    }

    async fn take_messages(
        &self,
        url: &str,
        now: SystemTime,
        until: SystemTime,
        limit: u32,
    ) -> Result<Vec<(Message, u64)>, Failed> {
        let now = millis(now);
        // Nearly always there is none, and then nobody has to wait for a turn to write.
        let due: i64 = sqlx::query_scalar(DUE).bind(url).bind(now).fetch_one(self.readers().await?).await?;
        if due == 0 {
            return Ok(Vec::new());
        }
        let mut change = self.change(Durability::Process).await?;
        let take = sqlx::query(TAKE).bind(millis(until)).bind(url).bind(now).bind(limit);
        let rows = take.fetch_all(&mut *change).await?;
        change.commit().await?;
        let message = |row: sqlx::sqlite::SqliteRow| -> Result<_, Failed> {
            let (sequence, attempts): (i64, i64) = (row.try_get("sequence")?, row.try_get("attempts")?);
            let message = Message {
                id: row.try_get("id")?,
                event: row.try_get("event")?,
                change: None,
                attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
                expires_at: instant(row.try_get("expires_at")?),
            };
            Ok((message, u64::try_from(sequence).unwrap_or_default()))
        };
        rows.into_iter().map(message).collect()
    }

    async fn message_done(&self, id: &str) -> Result<(), Failed> {
        let mut change = self.change(Durability::Process).await?;
        sqlx::query("DELETE FROM outbox WHERE id = ?").bind(id).execute(&mut *change).await?;
        change.commit().await
    }

    async fn message_again(&self, id: &str, at: SystemTime) -> Result<(), Failed> {
        let mut change = self.change(Durability::Process).await?;
        sqlx::query(AGAIN).bind(millis(at)).bind(id).execute(&mut *change).await?;
        change.commit().await
    }
}
