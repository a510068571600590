//! Checks of arguments that the schema has made already: only calls that bypass the pipeline fail them.

use toolwire_contract::{ToolError, Violation};

/// Returns an argument that the manifest requires.
pub fn required<'a>(name: &str, value: Option<&'a str>) -> Result<&'a str, ToolError> {
    value.ok_or_else(|| reject(name, "required", format!("`{name}` is missing")))
}

/// The error of an argument that breaks a rule of the schema.
pub fn reject(name: &str, rule: &str, description: String) -> ToolError {
    let violation = Violation { pointer: format!("/{name}"), rule: rule.to_owned(), description };
    ToolError::invalid_arguments(vec![violation])
}

/// Returns the value of an argument that is one of a fixed set of words.
pub fn one_of<T>(name: &str, word: &str, value: Option<T>) -> Result<T, ToolError> {
    value.ok_or_else(|| reject(name, "enum", format!("`{name}` cannot be '{word}'")))
}
