//! Retention of tasks: overdue tasks fail, and trees that ended long ago are deleted in parts.

use std::time::{Duration, SystemTime};

use super::{error::TxError, load::load};
use crate::{
    Store,
    tasks::{
        Refused, Stopped, TaskError,
        rows::{entries, memories, mutations, open_calls, sweep as rows, waits},
    },
    topic::Topic,
    transactions::{
        audit::{self, AuditedRequest},
        documents::forget,
    },
};
use toolwire_base::digest::Digest;
use toolwire_db::{
    Durability, Error, Lane, Tx, scoped,
    time::{instant, length, millis},
};
use toolwire_tool::context::{TaskId, UserId};

/// Maximum number of overdue tasks failed in one pass.
const OVERDUE_AT_ONCE: u32 = 64;

/// Maximum number of trees that one sweep marks as deleted.
const TREES_AT_ONCE: u32 = 16;

/// Maximum number of rows of a kind deleted by one sweep, so that other transactions run in between.
const ROWS_AT_ONCE: u32 = 500;

impl Store {
    /// Fails some overdue tasks, and returns what that stopped.
    pub async fn expire_tasks(&self) -> Result<Stopped, TaskError> {
        let mut stopped = Stopped::default();
        for (user, id) in self.fetch_all(rows::overdue(self.now(), OVERDUE_AT_ONCE)).await? {
            let one = self.fail_overdue(&user, &id).await?;
            stopped.tasks.extend(one.tasks);
            stopped.calls.extend(one.calls);
        }
        Ok(stopped)
    }

    /// Deletes, in parts, trees that ended longer ago than `keep` and those named by `delete_task_tree`, and returns
    /// whether there is more to delete.
    pub async fn sweep_tasks(&self, keep: Duration) -> Result<bool, TaskError> {
        let swept = transact!(self, Lane::AllUsers, Durability::Process, |tx| {
            let now = tx.now();
            let before = instant(millis(now).saturating_sub(length(keep)));
            mutations::delete_expired(now, ROWS_AT_ONCE).run(tx).await?;
            for root in rows::trees_ended_before(before, TREES_AT_ONCE).all(tx).await? {
                rows::mark_deleted(&root).run(tx).await?;
            }
            let Some(root) = rows::deleted_tree().optional(tx).await? else { return Ok(false) };
            delete_some(tx, &root).await?;
            Ok(true)
        });
        Ok(swept?)
    }

    /// Deletes an ended tree: it disappears at once, and its rows are deleted by [`Store::sweep_tasks`]. Idempotent
    /// while rows remain.
    pub async fn delete_task_tree(&self, user: &UserId, root: &TaskId) -> Result<(), TaskError> {
        self.transact_tasks(user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(delete_tree(tx, user, root, now))
        })
        .await
    }
}

async fn delete_tree(tx: &mut Tx, user: &UserId, root: &TaskId, now: SystemTime) -> Result<(), TxError> {
    let task = match load(tx, user, root).await {
        Err(TxError::Refused(Refused::Unknown)) if rows::is_deleted(user, root).one(tx).await? => {
            return Ok(());
        }
        loaded => loaded?.task,
    };
    if task.parent.is_some() {
        return Err(Refused::NotARoot.into());
    }
    if !task.state.is_final() {
        return Err(Refused::NotEnded(task.state).into());
    }
    rows::mark_deleted(root).run(tx).await?;
    let digest = Digest::of_parts([root.as_str()]);
    audit::record_request(tx, &AuditedRequest::new("TaskService.DeleteTask", user, root, digest), now)
        .await?;
    tx.notify(Topic::Tasks);
    Ok(())
}

/// Deletes some rows of a tree. Its tasks are deleted last, since the other rows are found by them.
async fn delete_some(tx: &mut Tx, root: &TaskId) -> Result<(), Error> {
    if !forget::forget_tree(tx, root, ROWS_AT_ONCE).await? {
        return Ok(());
    }
    memories::delete_of_tree(root).run(tx).await?;
    if !entries::delete_of_tree(tx, root, ROWS_AT_ONCE).await? {
        return Ok(());
    }
    waits::delete_of_tree(root).run(tx).await?;
    open_calls::delete_of_tree(root).run(tx).await?;
    rows::delete_tree(tx, root).await
}
