//! The effect of a decision on the task of the call, in the decision's transaction.

use std::time::SystemTime;

use super::{
    entries::{EntryMeta, append},
    load::{LoadedTask, find},
};
use crate::{
    confirmations::{Confirmation, life::State, rows as confirmations},
    tasks::{
        entry::{Body, Decision, WaitTarget},
        rows::entries,
        texts,
    },
};
use toolwire_contract::ToolError;
use toolwire_db::{Error, Tx};
use toolwire_tool::context::TaskLabel;

/// Appends the decision, or other end, of a confirmation to the task that waits for it or that has continued because of
/// it, if there is one. `confirmation` is the confirmation before the transition to `state`.
pub(in crate::transactions) async fn append_decision(
    tx: &mut Tx,
    confirmation: &Confirmation,
    state: State,
    error: Option<ToolError>,
    now: SystemTime,
) -> Result<(), Error> {
    let task = confirmation.asked.task_id.as_ref().and_then(TaskLabel::task);
    let Some(id) = task else { return Ok(()) };
    let Some(mut loaded) = find(tx, &id).await? else { return Ok(()) };
    if loaded.task.state.is_final() || loaded.task.user != confirmation.key.user {
        return Ok(());
    }
    let Some(decides) = entry_of(tx, &loaded, confirmation).await? else { return Ok(()) };
    // Read again, since `confirmation` does not have the decision yet.
    let after = confirmations::find(&confirmation.id).optional(tx).await?;
    let by = after.as_ref().and_then(|it| it.decided.as_ref()).map(|it| &it.by);
    let status = texts::decided(state, by, &confirmation.key.tool);
    let decision = Decision { decides, confirmation: confirmation.id.clone(), status, error };
    append(tx, &mut loaded, EntryMeta::default(), Body::Decision(decision), now).await?;
    Ok(())
}

/// Sequence number of the entry of the call that a confirmation decides on.
async fn entry_of(
    tx: &mut Tx,
    loaded: &LoadedTask,
    confirmation: &Confirmation,
) -> Result<Option<u64>, Error> {
    let target = WaitTarget::Confirmation(confirmation.id.clone());
    if let Some(wait) = loaded.task.waits.iter().find(|wait| wait.target == target) {
        return Ok(Some(wait.sequence));
    }
    // It was approved, and the task has gone on without it.
    if confirmation.state == State::Approved {
        return entries::find_unanswered(&loaded.task.id, confirmation.asked.outermost.request_id)
            .optional(tx)
            .await;
    }
    Ok(None)
}
