//! Tasks, in time: those whose deadline has passed fail, and trees that ended long ago go, a part at a time.

use std::time::{Duration, SystemTime};

use super::{
    fault::Fault,
    mutations,
    person::of_request,
    rows::{load, parsed},
};
use crate::{
    sqlite::{
        Change, Durability, Failed, Sqlite, audit,
        documents::forget,
        time::{length, millis},
    },
    tasks::{Refused, Stopped},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{TaskId, UserId};

/// Parents first: what is below goes with them.
const OVERDUE: &str = "SELECT id FROM tasks WHERE ended_at IS NULL AND deadline <= ? AND deleted = 0 \
                       ORDER BY deadline, depth LIMIT 64";

const OLD: &str = "SELECT root FROM tasks WHERE parent IS NULL AND ended_at IS NOT NULL AND ended_at <= ? AND deleted = 0 \
                   LIMIT 16";

const DELETE: &str = "UPDATE tasks SET deleted = 1 WHERE root = ?";

const DELETED: &str = "SELECT root FROM tasks WHERE deleted = 1 LIMIT 1";

/// Of a tree that is deleted; the last one after all others.
const PARTS: [&str; 6] = [
    "DELETE FROM memories WHERE root = ?",
    "DELETE FROM entry_parts WHERE rowid IN (SELECT p.rowid FROM entry_parts p JOIN tasks t ON t.id = p.task \
     WHERE t.root = ? LIMIT 500)",
    "DELETE FROM entries WHERE id IN (SELECT e.id FROM entries e JOIN tasks t ON t.id = e.task WHERE t.root = ? LIMIT 500)",
    "DELETE FROM waits WHERE task IN (SELECT id FROM tasks WHERE root = ?)",
    "DELETE FROM open_calls WHERE task IN (SELECT id FROM tasks WHERE root = ?)",
    "DELETE FROM tasks WHERE root = ?",
];

/// So many rows go at once.
const AT_ONCE: u32 = 500;

impl Sqlite {
    pub(super) async fn expire_overdue_tasks(&self, now: SystemTime) -> Result<Stopped, Fault> {
        let overdue = sqlx::query_scalar(OVERDUE).bind(millis(now));
        let overdue: Vec<String> = overdue.fetch_all(self.readers().await?).await?;
        let mut stopped = Stopped::default();
        for id in overdue {
            let one = self.fail_overdue(&parsed(&id)?, now).await?;
            stopped.tasks.extend(one.tasks);
            stopped.calls.extend(one.calls);
        }
        Ok(stopped)
    }

    pub(super) async fn sweep_old_tasks(&self, keep: Duration, now: SystemTime) -> Result<bool, Fault> {
        let mut change = self.change(Durability::Process).await?;
        mutations::forget(&mut change, now).await?;
        let before = millis(now).saturating_sub(length(keep));
        let old: Vec<String> = sqlx::query_scalar(OLD).bind(before).fetch_all(&mut *change).await?;
        for root in &old {
            sqlx::query(DELETE).bind(root).execute(&mut *change).await?;
        }
        let deleted = sqlx::query_scalar(DELETED).fetch_optional(&mut *change).await?;
        let Some(root) = deleted else {
            change.commit().await?;
            return Ok(false);
        };
        let root: String = root;
        delete_some(&mut change, &root).await?;
        change.commit().await?;
        Ok(true)
    }

    pub(super) async fn delete_user_tree(
        &self,
        user: &UserId,
        id: &TaskId,
        now: SystemTime,
    ) -> Result<(), Fault> {
        let mut change = self.change(Durability::Power).await?;
        let row = match load(&mut change, user, id).await {
            // It is gone already.
            Err(Fault::Refused(Refused::Unknown)) => return self.gone(change, user, id).await,
            row => row?,
        };
        if row.task.parent.is_some() {
            return Err(Refused::NotARoot.into());
        }
        if !row.task.state.is_final() {
            return Err(Refused::NotEnded(row.task.state).into());
        }
        sqlx::query(DELETE).bind(id.as_str()).execute(&mut *change).await?;
        let noted = of_request("TaskService.DeleteTask", &row.task, Digest::of_parts([id.as_str()]));
        audit::changed(&mut change, &noted, now).await?;
        self.done(change, ()).await
    }

    /// Deleted before, as long as there are rows of it.
    async fn gone(&self, mut change: Change, user: &UserId, id: &TaskId) -> Result<(), Fault> {
        const GONE: &str = "SELECT count(*) FROM tasks WHERE id = ? AND user_id = ? AND deleted = 1";
        let gone = sqlx::query_scalar(GONE).bind(id.as_str()).bind(user.as_str());
        match gone.fetch_one(&mut *change).await? {
            0_i64 => Err(Refused::Unknown.into()),
            _ => self.done(change, ()).await,
        }
    }
}

/// Deletes rows of a tree, so few at a time that nobody waits long.
async fn delete_some(change: &mut Change, root: &str) -> Result<(), Failed> {
    if !forget::forget_tree(change, &parsed(root)?, AT_ONCE).await? {
        return Ok(());
    }
    for part in PARTS {
        let deleted = sqlx::query(part).bind(root).execute(&mut **change).await?;
        if deleted.rows_affected() >= u64::from(AT_ONCE) {
            return Ok(());
        }
    }
    Ok(())
}
