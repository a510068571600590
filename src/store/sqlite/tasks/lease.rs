//! Leases: a worker has a task for a while, under a token that only grows.

use std::time::SystemTime;

use super::{
    admit,
    entries::{Of, append},
    fault::Fault,
    open,
    rows::{self, Row, load, parsed, save},
};
use crate::{
    sqlite::{
        Change, Durability, Sqlite,
        time::{instant, millis},
    },
    tasks::{
        Lease, Leased, Refused, Wanted, Wish,
        entry::{Body, Started},
    },
};
use toolwire_tool::context::{TaskId, UserId};

const WANTING: &str = "SELECT id FROM tasks WHERE user_id = ?1 AND role IN (SELECT value FROM json_each(?2)) \
     AND state IN ('pending', 'running') AND lease_until <= ?3 AND deadline > ?3 AND deleted = 0 \
     ORDER BY position LIMIT 1";

impl Sqlite {
    pub(super) async fn lease_task(
        &self,
        user: &UserId,
        wish: &Wish,
        now: SystemTime,
    ) -> Result<Option<Leased>, Fault> {
        let (id, token) = match &wish.wanted {
            Wanted::Task(id, token) => (id.clone(), *token),
            Wanted::AnyOf(roles) => {
                // Most looks find nothing: they need not wait for their turn to write.
                if self.wanting(user, roles, now).await?.is_none() {
                    return Ok(None);
                }
                let mut change = self.change(Durability::Power).await?;
                let wanting = sqlx::query_scalar(WANTING).bind(user.as_str());
                let wanting = wanting.bind(rows::json(roles)).bind(millis(now));
                let Some(id) = wanting.fetch_optional(&mut *change).await? else { return Ok(None) };
                let id: String = id;
                let row = load(&mut change, user, &parsed(&id)?).await?;
                return self.take(change, row, wish, now).await.map(Some);
            }
        };
        // A lost renewal is a lease that ends early.
        let durability = if token.is_some() { Durability::Process } else { Durability::Power };
        let mut change = self.change(durability).await?;
        let mut row = load(&mut change, user, &id).await?;
        admit::in_time(&row.task, now)?;
        if row.task.state.is_final() {
            return Err(Refused::Ended(row.task.state).into());
        }
        admit::driver(&row.task, token.unwrap_or(0), now)?;
        let Some(token) = token else { return self.take(change, row, wish, now).await.map(Some) };
        // Renewed, where it is: nobody else need know.
        row.task.lease = Some(lease(wish, token, now));
        rows::write(&mut change, &mut row).await?;
        let open_calls = open::all(&mut change, &id).await?;
        change.commit().await?;
        Ok(Some(Leased { task: row.task, open_calls }))
    }

    async fn wanting(
        &self,
        user: &UserId,
        roles: &[String],
        now: SystemTime,
    ) -> Result<Option<String>, Fault> {
        let wanting = sqlx::query_scalar(WANTING).bind(user.as_str());
        let wanting = wanting.bind(rows::json(&roles)).bind(millis(now));
        Ok(wanting.fetch_optional(self.readers().await?).await?)
    }

    /// Gives a task to a new holder.
    async fn take(
        &self,
        mut change: Change,
        mut row: Row,
        wish: &Wish,
        now: SystemTime,
    ) -> Result<Leased, Fault> {
        let token = row.task.lease.as_ref().map_or(0, |lease| lease.token) + 1;
        row.task.lease = Some(lease(wish, token, now));
        let started = Body::Started(Started { holder: wish.holder.clone(), token });
        append(&mut change, &mut row, Of::default(), started, now).await?;
        let open_calls = open::all(&mut change, &row.task.id).await?;
        self.done(change, Leased { task: row.task, open_calls }).await
    }

    pub(super) async fn release_task(
        &self,
        user: &UserId,
        id: &TaskId,
        token: u64,
        now: SystemTime,
    ) -> Result<(), Fault> {
        let mut change = self.change(Durability::Process).await?;
        let mut row = load(&mut change, user, id).await?;
        match &mut row.task.lease {
            Some(lease) if lease.token == token && lease.expires_at > now => lease.expires_at = now,
            _ => return self.done(change, ()).await,
        }
        // Whoever waits for a task may have this one.
        save(&mut change, &mut row).await?;
        self.done(change, ()).await
    }
}

fn lease(wish: &Wish, token: u64, now: SystemTime) -> Lease {
    // As it will be read.
    let expires_at = instant(millis(now + wish.duration));
    Lease { holder: wish.holder.clone(), token, expires_at }
}
