//! Appends entries, each with the updated task, which is the fold of its timeline.

use std::time::SystemTime;

use super::load::{LoadedTask, save};
use crate::tasks::{
    TaskCall,
    entry::{Body, Entry, Lengths},
    fold,
    rows::entries::{self as rows, NewEntry},
};
use toolwire_db::{
    Error, Tx,
    time::{instant, millis},
};
use toolwire_tool::context::{CallId, RequestId};

/// Fields of an entry other than its body.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryMeta {
    pub(super) step: u64,
    pub(super) position: u32,
    pub(super) request_id: Option<RequestId>,
    pub(super) call_id: Option<CallId>,
    pub(super) trace_id: Option<String>,
    pub(super) lengths: Lengths,
}

impl EntryMeta {
    /// Fields of an entry for a tool call, with the token counts of its texts.
    pub(super) fn of_call(call: &TaskCall, lengths: Lengths) -> Self {
        Self {
            step: call.step_ref.step,
            position: call.step_ref.position,
            request_id: Some(call.key.request_id),
            call_id: Some(call.call_id()),
            trace_id: call.about.trace_id.map(|it| it.to_string()),
            lengths,
        }
    }
}

/// Appends an entry, saves the task, and returns the entry's sequence number.
pub(super) async fn append(
    tx: &mut Tx,
    loaded: &mut LoadedTask,
    meta: EntryMeta,
    body: Body,
    now: SystemTime,
) -> Result<u64, Error> {
    let new = next(loaded, meta, body, now)?;
    let sequence = new.sequence();
    insert(tx, vec![new]).await?;
    save(tx, loaded).await?;
    Ok(sequence)
}

/// Creates the next entry of a task and applies it to the task. Both are still to be saved.
pub(super) fn next(
    loaded: &mut LoadedTask,
    meta: EntryMeta,
    body: Body,
    now: SystemTime,
) -> Result<NewEntry, Error> {
    let entry = Entry {
        task: loaded.task.id.clone(),
        sequence: loaded.task.next_sequence,
        // Rounded to milliseconds, as it is when it is read.
        at: instant(millis(now)),
        step: meta.step,
        position: meta.position,
        call_id: meta.call_id,
        trace_id: meta.trace_id,
        body,
        lengths: meta.lengths,
    };
    // Before `NewEntry` takes the texts out of the entry, since the task has the result of its end.
    fold::apply(&mut loaded.task, &entry)
        .map_err(|error| Error::unreadable("timeline", error.to_string()))?;
    let new = NewEntry::new(entry, meta.request_id);
    loaded.bytes += new.bytes() as u64;
    Ok(new)
}

pub(super) async fn insert(tx: &mut Tx, new: Vec<NewEntry>) -> Result<(), Error> {
    tx.adds(new.iter().map(NewEntry::bytes).sum());
    rows::insert(tx, new).await
}
