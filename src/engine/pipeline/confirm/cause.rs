//! The cause of a confirmation: a pure function of the definition, the arguments, the task and the options of a call.

use super::super::Call;
use crate::registry::{Category, Conditions, Definition};
use toolwire_contract::ConfirmationCause;
use toolwire_schema::{TooMuchWork, Work};

/// The first cause that applies, if conditions can be checked within the work.
pub(super) fn cause_within(call: &Call, work: Work) -> Result<Option<ConfirmationCause>, TooMuchWork> {
    let tool = call.tool();
    let of_definition = of_definition(&tool.definition, call.context.tainted);
    let holds = |conditions: &Conditions| conditions.hold_within(&call.arguments, work);
    if of_definition != Some(ConfirmationCause::Manifest)
        && let Some(conditions) = &tool.conditions
        && !holds(conditions)?
    {
        return Ok(Some(ConfirmationCause::Condition));
    }
    // The option applies to the call that the caller makes and not to nested ones, which have no options.
    let is_asked_for = || call.options.as_deref().is_some_and(|options| options.require_confirmation);
    Ok(of_definition.or_else(|| is_asked_for().then_some(ConfirmationCause::Caller)))
}

/// The first cause that applies. A condition that takes too much work to be checked does not hold.
pub fn cause(call: &Call) -> Option<ConfirmationCause> {
    cause_within(call, Work::all()).unwrap_or(Some(ConfirmationCause::Condition))
}

/// The first cause that follows from the definition and from whether the task is tainted. No option changes it.
pub fn of_definition(definition: &Definition, tainted: bool) -> Option<ConfirmationCause> {
    if definition.requires_confirmation {
        return Some(ConfirmationCause::Manifest);
    }
    // A read changes nothing, and a contained tool changes nothing outside the task's tree.
    let changes = definition.category != Category::Read;
    (tainted && changes && !definition.contained).then_some(ConfirmationCause::Tainted)
}
