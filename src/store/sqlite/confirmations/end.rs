//! The end of a confirmation otherwise than by being used.

use crate::{
    confirmations::{
        Confirmation,
        life::{Event, Next, State},
    },
    sqlite::{Change, Failed, confirmation_rows, tasks::tell_task, time::instant},
};
use toolwire_contract::{ErrorCode, ToolError};

/// What a task is told of a confirmation of another definition.
const VOID: &str =
    "The tool's definition has changed since this call was asked for. Call again, to ask again";

/// Ends a confirmation otherwise than by being used, and the call that waits for it, unless that asks again; its task
/// is told. Returns the outcome of that call, if it has one.
pub(super) async fn end(
    change: &mut Change,
    confirmation: &Confirmation,
    event: Event,
    reason: &str,
    now: i64,
) -> Result<Option<ToolError>, Failed> {
    let Next::Becomes(state) = confirmation.state.on(event) else { return Ok(None) };
    let error = confirmation_rows::end(change, confirmation, event, reason, now).await?;
    let told = match (&error, state) {
        (None, State::Voided) => Some(ToolError::new(ErrorCode::ConfirmationExpired, VOID)),
        (error, _) => error.clone(),
    };
    tell_task(change, confirmation, state, told, instant(now)).await?;
    Ok(error)
}
