//! The form in which a caller gave its arguments, and the errors that this form causes.
//!
//! Not here: parsing them, which is the contract's, and the schema, which is the registry's.

use toolwire_contract::{
    ToolError, Violation,
    arguments::{Arguments, Unreadable},
};

/// The form of given arguments. By default a JSON object.
#[derive(Clone, Debug, Default)]
pub struct ArgumentsForm {
    /// The reason why the arguments cannot be read as an object. Boxed: rare.
    unreadable: Option<Box<Unreadable>>,
    /// A hint about how arguments get lost in this kind of request, added to the error of a missing one.
    pub missing_hint: Option<&'static str>,
}

impl ArgumentsForm {
    /// Arguments as the caller wrote them, empty if they cannot be read. That is reported in the result like any other
    /// mistake: most callers are models, and a status would end their loop.
    pub(super) fn of(written: Result<Arguments, Unreadable>) -> (Arguments, Self) {
        match written {
            Ok(arguments) => (arguments, Self::default()),
            Err(why) => (Arguments::new(), Self { unreadable: Some(Box::new(why)), missing_hint: None }),
        }
    }

    /// Takes the error of arguments that cannot be read, if so.
    pub(in crate::pipeline) fn take_error(&mut self) -> Option<ToolError> {
        let why = self.unreadable.take()?;
        Some(ToolError::invalid_arguments(vec![(*why).into()]))
    }

    /// The error of arguments that break the schema. The first missing parameter has the hint beside it.
    pub(in crate::pipeline) fn invalid_arguments(&self, mut violations: Vec<Violation>) -> ToolError {
        let missing = violations.iter_mut().find(|violation| violation.rule == "required");
        if let (Some(hint), Some(missing)) = (self.missing_hint, missing) {
            missing.description = format!("{}; {hint}", missing.description);
        }
        ToolError::invalid_arguments(violations)
    }
}
