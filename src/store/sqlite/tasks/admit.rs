//! Whether a task takes a call, a message or an end now: who drives it, where it stands, and whether there is room.

use std::time::SystemTime;

use super::{
    fault::Fault,
    rows::{Row, number},
};
use crate::{
    sqlite::{Change, Failed},
    tasks::{
        ENTRIES_FOR_THE_END, MAX_BYTES, MAX_ENTRIES, MAX_TREE_BYTES, MAX_USER_BYTES, MAX_WAITS, Refused,
        Task, TreeLimit, fold,
        life::{Event, Next},
    },
};
use toolwire_tool::context::{TaskId, UserId};

const OPEN: &str = "SELECT count(*) FROM open_calls WHERE task = ?";

const BYTES_OF_TREE: &str = "SELECT coalesce(SUM(bytes), 0) FROM tasks WHERE root = ?";

const BYTES_OF_USER: &str = "SELECT bytes FROM timeline_usage WHERE user_id = ?";

/// One below this many is not looked at for the bound of its user: as many tasks as open trees have reach it hardly.
const SMALL_OF_USER: u64 = 64 * 1024;

/// A timeline below this many bytes is not looked at for the bound of its tree: so many tasks of such would reach it.
const SMALL: u64 = 1024 * 1024;

/// Entries that are looked at one by one: what is open and what waits will have entries too.
const NEARLY_FULL: u64 = 1_000;

/// Nobody but who has the lease drives a leased task, and nobody with one that was lost drives any.
pub(super) fn driver(task: &Task, token: u64, now: SystemTime) -> Result<(), Refused> {
    let counts = task.lease.as_ref().map_or(0, |lease| lease.token);
    let lost = match token {
        0 => task.leased(now).is_some(),
        token => token != counts,
    };
    if !lost {
        return Ok(());
    }
    let holder = task.leased(now).map(|lease| lease.holder.clone()).unwrap_or_default();
    Err(Refused::LeaseLost { holder, token: counts })
}

/// An end, unless the table forbids it.
pub(super) fn event(task: &Task, event: Event) -> Result<(), Refused> {
    match task.state.on(event) {
        Next::Becomes(_) | Next::Same => Ok(()),
        Next::Refused => Err(refusal(task)),
    }
}

/// In words of where it stands.
pub(super) fn refusal(task: &Task) -> Refused {
    match task.state {
        state if state.is_final() => Refused::Ended(state),
        state if state.waits() => Refused::Blocked { state, waits: task.waits.clone() },
        state => Refused::NotNow(state),
    }
}

/// A task whose time is over is failed before anything else is done to it.
pub(super) fn in_time(task: &Task, now: SystemTime) -> Result<(), Fault> {
    if task.state.is_final() || task.deadline > now {
        return Ok(());
    }
    Err(Fault::Overdue)
}

/// A call or a message of a step.
pub(super) async fn call(change: &mut Change, row: &mut Row, step: u64) -> Result<(), Fault> {
    event(&row.task, fold::call(&row.task, step))?;
    let newest = row.task.newest_step;
    if step != 0 && step < newest {
        return Err(Refused::StepOver { step, newest }.into());
    }
    room(change, row).await
}

/// Room for an entry that ends nothing.
async fn room(change: &mut Change, row: &mut Row) -> Result<(), Fault> {
    let most = MAX_ENTRIES - ENTRIES_FOR_THE_END;
    let mut entries = row.task.next_sequence;
    if entries + NEARLY_FULL >= most {
        entries += row.task.waits.len() as u64 + open_calls(change, &row.task.id).await?;
    }
    if entries >= most || row.bytes >= MAX_BYTES {
        return Err(Refused::TimelineFull.into());
    }
    if row.bytes >= SMALL_OF_USER && row.bytes + beside_of_user(change, row).await? >= MAX_USER_BYTES {
        return Err(Refused::TreeLimit(TreeLimit::BytesOfUser).into());
    }
    if row.bytes >= SMALL && row.bytes + beside_of_tree(change, row).await? >= MAX_TREE_BYTES {
        return Err(Refused::TreeLimit(TreeLimit::Bytes).into());
    }
    Ok(())
}

/// Room for another timeline of a user's.
pub(super) async fn user(change: &mut Change, user: &UserId) -> Result<(), Fault> {
    if bytes_of_user(change, user).await? >= MAX_USER_BYTES {
        return Err(Refused::TreeLimit(TreeLimit::BytesOfUser).into());
    }
    Ok(())
}

/// The bytes of the user's other timelines.
async fn beside_of_user(change: &mut Change, row: &mut Row) -> Result<u64, Failed> {
    if let Some(bytes) = row.beside.of_user {
        return Ok(bytes);
    }
    let bytes = bytes_of_user(change, &row.task.user).await?.saturating_sub(row.stored_bytes);
    Ok(*row.beside.of_user.insert(bytes))
}

/// The bytes of the tree's other timelines.
async fn beside_of_tree(change: &mut Change, row: &mut Row) -> Result<u64, Failed> {
    if let Some(bytes) = row.beside.of_tree {
        return Ok(bytes);
    }
    let bytes = sqlx::query_scalar(BYTES_OF_TREE).bind(row.task.root.as_str()).fetch_one(&mut **change);
    let bytes = number(bytes.await?).saturating_sub(row.stored_bytes);
    Ok(*row.beside.of_tree.insert(bytes))
}

async fn bytes_of_user(change: &mut Change, user: &UserId) -> Result<u64, Failed> {
    let bytes = sqlx::query_scalar(BYTES_OF_USER).bind(user.as_str()).fetch_optional(&mut **change);
    Ok(bytes.await?.map_or(0, number))
}

/// Room for another thing to wait for.
pub(super) fn wait(task: &Task) -> Result<(), Refused> {
    if task.waits.len() < MAX_WAITS {
        return Ok(());
    }
    Err(Refused::TreeLimit(TreeLimit::Waits))
}

async fn open_calls(change: &mut Change, id: &TaskId) -> Result<u64, Failed> {
    let open = sqlx::query_scalar(OPEN).bind(id.as_str()).fetch_one(&mut **change).await?;
    Ok(number(open))
}
