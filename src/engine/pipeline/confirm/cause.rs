//! The cause of a confirmation: a pure function of the definition, the arguments, the task and the options of a call.

use super::super::Call;
use crate::registry::{Category, Definition};
use toolwire_contract::ConfirmationCause;

/// The first cause that applies.
pub fn cause(call: &Call) -> Option<ConfirmationCause> {
    let tool = call.tool();
    let of_definition = of_definition(&tool.definition, call.context.tainted);
    let breaks = || tool.conditions.as_ref().is_some_and(|conditions| !conditions.hold(&call.arguments));
    if of_definition != Some(ConfirmationCause::Manifest) && breaks() {
        return Some(ConfirmationCause::Condition);
    }
    if of_definition.is_some() {
        return of_definition;
    }
    // The option applies to the call that the caller makes and not to nested ones, which have no options.
    let options = call.options.as_deref()?;
    options.require_confirmation.then_some(ConfirmationCause::Caller)
}

/// The first cause that follows from the definition and from whether the task is tainted, whatever the options.
pub fn of_definition(definition: &Definition, tainted: bool) -> Option<ConfirmationCause> {
    if definition.requires_confirmation {
        return Some(ConfirmationCause::Manifest);
    }
    // A read changes nothing, and a contained tool changes nothing outside the task's tree.
    let changes = definition.category != Category::Read;
    (tainted && changes && !definition.contained).then_some(ConfirmationCause::Tainted)
}
