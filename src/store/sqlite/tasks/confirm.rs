//! What the decision on a call of a task does to the task, in the decision's own change.

use std::time::SystemTime;

use super::{
    entries::{Of, append},
    open, rows,
};
use crate::{
    confirmations::{Confirmation, life::State},
    sqlite::{Change, Failed},
    tasks::entry::{Body, Decision, Thing},
};
use toolwire_contract::ToolError;
use toolwire_tool::context::TaskLabel;

const DECIDER: &str = "SELECT decided_by FROM confirmations WHERE id = ?";

/// Tells the task, if there is one that waits for it or went on by it. `confirmation` is as it stood before.
pub(in crate::sqlite) async fn tell_task(
    change: &mut Change,
    confirmation: &Confirmation,
    state: State,
    error: Option<ToolError>,
    now: SystemTime,
) -> Result<(), Failed> {
    let task = confirmation.asked.task_id.as_ref().and_then(TaskLabel::task);
    let Some(id) = task else { return Ok(()) };
    let Some(mut row) = rows::find(change, &id).await? else { return Ok(()) };
    if row.task.state.is_final() || row.task.user != confirmation.key.user {
        return Ok(());
    }
    let thing = Thing::Confirmation(confirmation.id.clone());
    let waits = row.task.waits.iter().find(|wait| wait.thing == thing).map(|wait| wait.sequence);
    let decides = match waits {
        Some(sequence) => Some(sequence),
        // It was approved, and the task has gone on without it.
        None if confirmation.state == State::Approved => {
            open::unanswered(change, &id, confirmation.asked.outermost.request_id).await?
        }
        None => None,
    };
    let Some(decides) = decides else { return Ok(()) };
    let status = status(change, confirmation, state).await?;
    let decision = Decision { decides, confirmation: confirmation.id.clone(), status, error };
    append(change, &mut row, Of::default(), Body::Decision(decision), now).await?;
    Ok(())
}

async fn status(change: &mut Change, confirmation: &Confirmation, state: State) -> Result<String, Failed> {
    let decider = sqlx::query_scalar(DECIDER).bind(confirmation.id.as_str());
    let decider: Option<String> = decider.fetch_one(&mut **change).await?;
    let decider = decider.as_deref().unwrap_or("a person");
    Ok(match state {
        State::Pending | State::Approved | State::Used => format!("← confirmed by {decider}"),
        State::Denied => format!("← denied by {decider}"),
        State::Expired => "← not confirmed in time".to_owned(),
        State::Voided => {
            format!("← confirmation void: the definition of {} has changed", confirmation.key.tool)
        }
        State::Withdrawn => "← confirmation withdrawn: the call was cancelled".to_owned(),
    })
}
