//! The end of an unused confirmation, with the entry in the timeline of its task.

use std::time::SystemTime;

use crate::{
    confirmations::{Confirmation, Decided, life::Event},
    transactions::{tasks::append_decision, transitions},
};
use toolwire_contract::ToolError;
use toolwire_db::{Error, Tx};

/// Ends an unused confirmation, and the call that waits for it, unless the call is to be made again. Returns the
/// outcome of that call, if there is one.
pub(super) async fn end(
    tx: &mut Tx,
    confirmation: &Confirmation,
    (event, decided): (Event, Option<&Decided>),
    reason: &str,
    now: SystemTime,
) -> Result<Option<ToolError>, Error> {
    let Some((state, ended)) = transitions::end(tx, confirmation, (event, decided), reason, now).await?
    else {
        return Ok(None);
    };
    // After the transition, which stores the decider that the entry names.
    append_decision(tx, confirmation, state, ended.for_task, now).await?;
    Ok(ended.outcome)
}
