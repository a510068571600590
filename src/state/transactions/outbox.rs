//! The outbox: messages to webhooks, inserted in the transaction of the change that they report, and claimed by the
//! process that delivers them.

use std::time::{Duration, SystemTime};

use uuid::Uuid;

use crate::{
    Store,
    confirmations::{life::State, rows::events as confirmation_events},
    outbox::{
        Event, Message, Subscription,
        rows::{self, ClaimedMessage, NewMessage, webhooks},
    },
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};

impl Store {
    /// Replaces the set of webhooks. Messages to other webhooks are deleted.
    pub async fn subscribe_webhooks(&self, all: &[Subscription]) -> Result<(), StoreError> {
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            webhooks::replace(tx, all).await?;
            rows::delete_unsubscribed().run(tx).await
        })
    }

    /// Claims due messages, which no other process can claim for a while.
    pub async fn take_messages(
        &self,
        url: &str,
        hold: Duration,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError> {
        // Nearly always there is none, and then no write transaction is needed.
        if !self.fetch_one(rows::has_due(url, self.now())).await? {
            return Ok(Vec::new());
        }
        let claimed = self.transact(Lane::Platform, Durability::Process, |tx| {
            let now = tx.now();
            scoped(rows::claim(url, now, now + hold, limit).all(tx))
        });
        let mut messages = Vec::new();
        for ClaimedMessage { id, event, sequence, attempts, expires_at } in claimed.await? {
            let change = self.fetch_optional(confirmation_events::find(sequence)).await?;
            messages.push(Message { id, event, change, attempts, expires_at });
        }
        Ok(messages)
    }

    /// Deletes a message that is delivered or given up.
    pub async fn delete_message(&self, id: &str) -> Result<(), StoreError> {
        self.transact(Lane::Platform, Durability::Process, |tx| scoped(rows::delete(id).run(tx))).await
    }

    /// Postpones the next attempt to deliver a message.
    pub async fn postpone_message(&self, id: &str, pause: Duration) -> Result<(), StoreError> {
        self.transact(Lane::Platform, Durability::Process, |tx| {
            let until = tx.now() + pause;
            scoped(rows::postpone(id, until).run(tx))
        })
        .await
    }
}

/// Enqueues the messages about a change of a confirmation, in its transaction.
pub(super) async fn enqueue(
    tx: &mut Tx,
    state: State,
    sequence: u64,
    (at, expires_at): (SystemTime, SystemTime),
) -> Result<(), Error> {
    let Some(event) = Event::of(state) else { return Ok(()) };
    for url in webhooks::subscribers(event).all(tx).await? {
        let id = format!("msg_{}", Uuid::new_v4().simple());
        rows::insert(NewMessage { id, url: &url, event, sequence, at, expires_at }).run(tx).await?;
    }
    Ok(())
}
