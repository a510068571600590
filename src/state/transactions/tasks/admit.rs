//! Admission of calls, messages and ends: by driver, state and quotas.

use std::time::SystemTime;

use super::{error::TxError, load::LoadedTask};
use crate::tasks::{
    MAX_BYTES, MAX_ENTRIES, MAX_TREE_BYTES, MAX_USER_BYTES, MAX_WAITS, RESERVED_ENTRIES, Refused, Task,
    TreeLimit, fold,
    life::{Event, Next},
    rows::{self, open_calls, timeline_usage},
};
use toolwire_db::{Error, Tx};
use toolwire_tool::context::UserId;

/// Timelines below this many bytes are not checked against the quota of their user, which the maximum number of open
/// tasks with such timelines hardly reaches.
const UNCHECKED_BY_USER: u64 = 64 * 1024;

/// Timelines below this many bytes are not checked against the quota of their tree, which a full tree of such timelines
/// just reaches.
const UNCHECKED_BY_TREE: u64 = 1024 * 1024;

/// Within this many entries of its limit, a timeline is checked exactly, since open calls and waits need entries too.
const NEARLY_FULL: u64 = 1_000;

/// Refuses a caller that does not drive the task: only the holder of the current lease drives a leased task, and a lost
/// lease drives none. No lease drives a task that has ended.
pub(super) fn driver(task: &Task, token: u64, now: SystemTime) -> Result<(), Refused> {
    if task.state.is_final() {
        return Err(Refused::Ended(task.state));
    }
    let valid = task.lease.as_ref().map_or(0, |lease| lease.token);
    let is_lost = match token {
        0 => task.leased(now).is_some(),
        token => token != valid,
    };
    if !is_lost {
        return Ok(());
    }
    let holder = task.leased(now).map(|lease| lease.holder.clone()).unwrap_or_default();
    Err(Refused::LeaseLost { holder, token: valid })
}

/// Refuses an event that the state does not allow.
pub(super) fn event(task: &Task, event: Event) -> Result<(), Refused> {
    match task.state.on(event) {
        Next::Becomes(_) | Next::Same => Ok(()),
        Next::Refused => Err(refusal(task)),
    }
}

/// The refusal of an event that the state does not allow.
fn refusal(task: &Task) -> Refused {
    match task.state {
        state if state.is_final() => Refused::Ended(state),
        state if state.waits() => Refused::Blocked { state, waits: task.waits.clone() },
        state => Refused::NotNow(state),
    }
}

/// Aborts the transaction if the deadline of the task has passed, so that the task fails before anything else.
pub(super) fn in_time(task: &Task, now: SystemTime) -> Result<(), TxError> {
    if task.state.is_final() || task.deadline > now {
        return Ok(());
    }
    Err(TxError::Overdue(task.user.clone(), task.id.clone()))
}

/// Refuses a call or a message that the task does not accept now.
pub(super) async fn call(tx: &mut Tx, loaded: &mut LoadedTask, step: u64) -> Result<(), TxError> {
    event(&loaded.task, fold::call(&loaded.task, step))?;
    let newest = loaded.task.newest_step;
    if step != 0 && step < newest {
        return Err(Refused::StepOver { step, newest }.into());
    }
    quotas(tx, loaded).await
}

/// Refuses an entry other than an end if a quota is exhausted.
async fn quotas(tx: &mut Tx, loaded: &mut LoadedTask) -> Result<(), TxError> {
    let limit = MAX_ENTRIES - RESERVED_ENTRIES;
    let mut entries = loaded.task.next_sequence;
    if entries + NEARLY_FULL >= limit {
        entries += loaded.task.waits.len() as u64 + open_calls::count(&loaded.task.id).one(tx).await?;
    }
    if entries >= limit || loaded.bytes >= MAX_BYTES {
        return Err(Refused::TimelineFull.into());
    }
    // The quotas of users and trees cost one statement each, which small timelines are spared.
    if loaded.bytes >= UNCHECKED_BY_USER && loaded.bytes + others_of_user(tx, loaded).await? >= MAX_USER_BYTES
    {
        return Err(Refused::TreeLimit(TreeLimit::BytesOfUser).into());
    }
    if loaded.bytes >= UNCHECKED_BY_TREE && loaded.bytes + others_of_tree(tx, loaded).await? >= MAX_TREE_BYTES
    {
        return Err(Refused::TreeLimit(TreeLimit::Bytes).into());
    }
    Ok(())
}

/// Refuses another timeline of a user whose quota is exhausted.
pub(super) async fn user(tx: &mut Tx, user: &UserId) -> Result<(), TxError> {
    if timeline_usage::bytes(user).one(tx).await? >= MAX_USER_BYTES {
        return Err(Refused::TreeLimit(TreeLimit::BytesOfUser).into());
    }
    Ok(())
}

/// The bytes of the user's other timelines.
async fn others_of_user(tx: &mut Tx, loaded: &mut LoadedTask) -> Result<u64, Error> {
    if let Some(bytes) = loaded.others.of_user {
        return Ok(bytes);
    }
    let bytes = timeline_usage::bytes(&loaded.task.user).one(tx).await?.saturating_sub(loaded.stored_bytes());
    Ok(*loaded.others.of_user.insert(bytes))
}

/// The bytes of the tree's other timelines.
async fn others_of_tree(tx: &mut Tx, loaded: &mut LoadedTask) -> Result<u64, Error> {
    if let Some(bytes) = loaded.others.of_tree {
        return Ok(bytes);
    }
    let bytes = rows::bytes_of_tree(&loaded.task.root).one(tx).await?.saturating_sub(loaded.stored_bytes());
    Ok(*loaded.others.of_tree.insert(bytes))
}

/// Refuses a wait beyond the limit of the task.
pub(super) fn wait(task: &Task) -> Result<(), Refused> {
    if task.waits.len() < MAX_WAITS {
        return Ok(());
    }
    Err(Refused::TreeLimit(TreeLimit::Waits))
}
