//! Why a call needs a confirmation, if it does: a pure function of its definition and of what its caller asked for.

use super::super::Call;
use crate::contract::ConfirmationCause;

/// The first cause that holds.
pub fn cause(call: &Call) -> Option<ConfirmationCause> {
    if call.tool().definition.requires_confirmation {
        return Some(ConfirmationCause::Manifest);
    }
    // What it reads changes nothing, and what is contained changes nothing outside the task's tree.
    let definition = &call.tool().definition;
    if call.context.tainted && call.writes() && !definition.contained {
        return Some(ConfirmationCause::Tainted);
    }
    // Nested calls are made by a tool, and the caller's wish is about the call that it made.
    let wishes = call.wishes.as_deref()?;
    wishes.require_confirmation.then_some(ConfirmationCause::Caller)
}
