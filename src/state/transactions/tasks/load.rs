//! A task within a transaction: read once, changed by entries, written once.

use super::error::TxError;
use crate::{
    tasks::{
        Refused, Task, Waiting,
        rows::{
            self,
            timeline_usage::{self, UsageDelta},
            waits,
        },
    },
    topic::Topic,
};
use toolwire_db::{Error, Tx};
use toolwire_tool::context::{TaskId, UserId};

/// A task within a transaction.
#[derive(Debug)]
pub(super) struct LoadedTask {
    pub(super) task: Task,
    /// Bytes of its timeline.
    pub(super) bytes: u64,
    pub(super) others: OtherBytes,
    /// The stored part; `None` before it is inserted.
    stored: Option<Stored>,
}

#[derive(Debug)]
struct Stored {
    bytes: u64,
    waits: Vec<Waiting>,
}

/// Cached bytes of the other timelines under the same quota. They cannot change within the transaction, so one read
/// serves all of its entries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OtherBytes {
    pub(super) of_user: Option<u64>,
    pub(super) of_tree: Option<u64>,
}

impl LoadedTask {
    /// A task that is not stored yet.
    pub(super) fn new(task: Task) -> Self {
        Self { task, bytes: 0, others: OtherBytes::default(), stored: None }
    }

    /// The bytes of its timeline that the usage counters include.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.stored.as_ref().map_or(0, |stored| stored.bytes)
    }
}

/// Loads a user's task.
pub(super) async fn load(tx: &mut Tx, user: &UserId, id: &TaskId) -> Result<LoadedTask, TxError> {
    let found = find(tx, id).await?;
    found.filter(|it| it.task.user == *user).ok_or_else(|| Refused::Unknown.into())
}

/// Finds a task of any user.
pub(super) async fn find(tx: &mut Tx, id: &TaskId) -> Result<Option<LoadedTask>, Error> {
    let found = rows::find(id).optional(tx).await?;
    Ok(found.map(|rows::StoredTask { task, bytes, .. }| {
        let stored = Some(Stored { bytes, waits: task.waits.clone() });
        LoadedTask { task, bytes, others: OtherBytes::default(), stored }
    }))
}

/// Saves a task at its next position.
pub(super) async fn save(tx: &mut Tx, loaded: &mut LoadedTask) -> Result<(), Error> {
    let added = UsageDelta {
        tasks: usize::from(loaded.stored.is_none()),
        bytes: loaded.bytes - loaded.stored_bytes(),
        positions: 1,
    };
    loaded.task.position = timeline_usage::add(&loaded.task.user, added).one(tx).await?;
    match &loaded.stored {
        Some(_) => rows::update(&loaded.task, loaded.bytes).run(tx).await?,
        None => rows::insert(&loaded.task, loaded.bytes).run(tx).await?,
    }
    save_waits(tx, loaded).await?;
    tx.notify(Topic::Tasks);
    Ok(())
}

/// Saves the waits that began or ended since the task was loaded.
async fn save_waits(tx: &mut Tx, loaded: &mut LoadedTask) -> Result<(), Error> {
    let task = &loaded.task;
    let stored = loaded.stored.take().map(|stored| stored.waits).unwrap_or_default();
    for ended in stored.iter().filter(|wait| !task.waits.contains(wait)) {
        waits::delete(&task.id, ended.sequence).run(tx).await?;
    }
    for new in task.waits.iter().filter(|wait| !stored.contains(wait)) {
        waits::insert(&task.id, new).run(tx).await?;
    }
    loaded.stored = Some(Stored { bytes: loaded.bytes, waits: task.waits.clone() });
    Ok(())
}
