//! Leases: a worker drives a task for a limited time, under a monotonic fencing token.

use std::time::SystemTime;

use super::{
    admit,
    entries::{EntryMeta, append},
    error::TxError,
    load::{LoadedTask, load, save},
    open_calls,
};
use crate::{
    Store,
    tasks::{
        Lease, LeaseRequest, LeaseTarget, Leased, Refused, TaskError,
        entry::{Body, Started},
        rows,
    },
};
use toolwire_db::{
    Durability, Tx, scoped,
    time::{instant, millis},
};
use toolwire_tool::context::{TaskId, UserId};

impl Store {
    /// Acquires or renews a lease. `None` if no task of the roles is available. An expired lease can be renewed by its
    /// token until another worker has acquired the task.
    pub async fn lease_task(
        &self,
        user: &UserId,
        request: &LeaseRequest,
    ) -> Result<Option<Leased>, TaskError> {
        match &request.target {
            LeaseTarget::Task(id, token) => {
                // A renewal that is lost with the power only lets the lease expire earlier.
                let durability = if token.is_some() { Durability::Process } else { Durability::Power };
                let done = self.transact_tasks(user, durability, |tx| {
                    let now = tx.now();
                    scoped(lease(tx, user, (id, *token), request, now))
                });
                done.await.map(Some)
            }
            LeaseTarget::AnyOf(roles) => {
                // Most polls find nothing, and then no write transaction is needed.
                let available = self.fetch_optional(rows::find_for_worker(user, roles, self.now())).await?;
                if available.is_none() {
                    return Ok(None);
                }
                self.transact_tasks(user, Durability::Power, |tx| {
                    let now = tx.now();
                    scoped(lease_any(tx, user, roles, request, now))
                })
                .await
            }
        }
    }

    /// Releases a lease. Releasing a lost lease succeeds.
    pub async fn release_task(&self, user: &UserId, id: &TaskId, token: u64) -> Result<(), TaskError> {
        self.transact_tasks(user, Durability::Process, |tx| {
            let now = tx.now();
            scoped(async move {
                let mut loaded = load(tx, user, id).await?;
                if let Some(lease) = &mut loaded.task.lease
                    && lease.token == token
                    && lease.expires_at > now
                {
                    lease.expires_at = now;
                    // At a new position, so that workers that follow changes find the task.
                    save(tx, &mut loaded).await?;
                }
                Ok::<_, TxError>(())
            })
        })
        .await
    }
}

async fn lease_any(
    tx: &mut Tx,
    user: &UserId,
    roles: &[String],
    request: &LeaseRequest,
    now: SystemTime,
) -> Result<Option<Leased>, TxError> {
    let Some(id) = rows::find_for_worker(user, roles, now).optional(tx).await? else { return Ok(None) };
    let loaded = load(tx, user, &id).await?;
    take(tx, loaded, request, now).await.map(Some)
}

async fn lease(
    tx: &mut Tx,
    user: &UserId,
    (id, token): (&TaskId, Option<u64>),
    request: &LeaseRequest,
    now: SystemTime,
) -> Result<Leased, TxError> {
    let mut loaded = load(tx, user, id).await?;
    admit::in_time(&loaded.task, now)?;
    if loaded.task.state.is_final() {
        return Err(Refused::Ended(loaded.task.state).into());
    }
    admit::driver(&loaded.task, token.unwrap_or(0), now)?;
    let Some(token) = token else { return take(tx, loaded, request, now).await };
    let renewed = new_lease(request, token, now);
    rows::update_lease(id, &renewed).run(tx).await?;
    loaded.task.lease = Some(renewed);
    let open_calls = open_calls::list(tx, id).await?;
    Ok(Leased { task: loaded.task, open_calls })
}

/// Leases a task to a new holder.
async fn take(
    tx: &mut Tx,
    mut loaded: LoadedTask,
    request: &LeaseRequest,
    now: SystemTime,
) -> Result<Leased, TxError> {
    let token = loaded.task.lease.as_ref().map_or(0, |lease| lease.token) + 1;
    loaded.task.lease = Some(new_lease(request, token, now));
    let started = Body::Started(Started { holder: request.holder.clone(), token });
    append(tx, &mut loaded, EntryMeta::default(), started, now).await?;
    let open_calls = open_calls::list(tx, &loaded.task.id).await?;
    Ok(Leased { task: loaded.task, open_calls })
}

fn new_lease(request: &LeaseRequest, token: u64, now: SystemTime) -> Lease {
    // Rounded to milliseconds, as it is when it is read.
    let expires_at = instant(millis(now + request.duration));
    Lease { holder: request.holder.clone(), token, expires_at }
}
