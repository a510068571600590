//! The form in which a caller gave its arguments, and the errors that this form causes.
//!
//! Not here: reading them, which is the contract's, and the schema, which is the registry's.

use toolwire_contract::{
    ToolError, Violation,
    arguments::{Arguments, Unreadable},
};

/// How arguments were given. By default as an object that leaves nothing to say of it.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Why what was written is not an object. Boxed: nearly no call has it.
    unreadable: Option<Box<Unreadable>>,
    /// How arguments get lost in the caller's kind of request.
    pub missing_hint: Option<&'static str>,
}

impl Given {
    /// The arguments that were written, none where they cannot be read. That is a mistake like any other, told in the
    /// result: most callers are models, and a status would end their loop.
    pub(super) fn of(written: Result<Arguments, Unreadable>) -> (Arguments, Self) {
        match written {
            Ok(arguments) => (arguments, Self::default()),
            Err(why) => (Arguments::new(), Self { unreadable: Some(Box::new(why)), missing_hint: None }),
        }
    }

    /// The error of arguments that cannot be read.
    pub(in crate::pipeline) fn error(&mut self) -> Option<ToolError> {
        let why = self.unreadable.take()?;
        Some(ToolError::invalid_arguments(vec![(*why).into()]))
    }

    /// The error of arguments that break the schema. The first missing parameter has the hint beside it.
    pub(in crate::pipeline) fn invalid(&self, mut violations: Vec<Violation>) -> ToolError {
        let missing = violations.iter_mut().find(|violation| violation.rule == "required");
        if let (Some(hint), Some(missing)) = (self.missing_hint, missing) {
            missing.description = format!("{}; {hint}", missing.description);
        }
        ToolError::invalid_arguments(violations)
    }
}
