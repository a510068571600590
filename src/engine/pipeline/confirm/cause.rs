//! Why a call needs a confirmation, if it does: a pure function of its definition and of what its caller asked for.

use super::super::Call;
use crate::registry::{Category, Definition};
use toolwire_contract::ConfirmationCause;

/// The first cause that holds.
pub fn cause(call: &Call) -> Option<ConfirmationCause> {
    let of_definition = of_definition(&call.tool().definition, call.context.tainted);
    if of_definition.is_some() {
        return of_definition;
    }
    // Nested calls are made by a tool, and the caller's wish is about the call that it made.
    let wishes = call.wishes.as_deref()?;
    wishes.require_confirmation.then_some(ConfirmationCause::Caller)
}

/// The first cause that holds for every call of a tool, whatever its caller wishes.
pub fn of_definition(definition: &Definition, tainted: bool) -> Option<ConfirmationCause> {
    if definition.requires_confirmation {
        return Some(ConfirmationCause::Manifest);
    }
    // What it reads changes nothing, and what is contained changes nothing outside the task's tree.
    let changes = definition.category != Category::Read;
    (tainted && changes && !definition.contained).then_some(ConfirmationCause::Tainted)
}
