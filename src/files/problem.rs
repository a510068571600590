//! What is wrong with a file: where, which rule, how to mend it.
//!
//! Not here: what is wrong with a call's arguments, which is a `contract::Violation`.

use std::fmt;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, relative to the data directory. Empty for what concerns no file.
    pub file: String,
    /// JSON pointer (RFC 6901) into the file. Empty for the file as a whole.
    pub pointer: String,
    /// A stable word for the broken rule, such as `unknown-key`.
    pub rule: &'static str,
    /// What is wrong and how to mend it.
    pub description: String,
    /// The tool in whose definition it is, by name: only for those who may call the tool. Without one it is for everybody.
    pub tool: Option<String>,
}

/// Everything that is wrong, at once: one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    /// What is wrong with a file as a whole.
    pub fn new(file: &str, rule: &'static str, description: impl Into<String>) -> Self {
        let (file, description) = (file.to_owned(), description.into());
        Self { file, pointer: String::new(), rule, description, tool: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, pointer, rule, description, tool: _ } = self;
        match pointer.as_str() {
            "" => write!(f, "{file}: {description} [{rule}]"),
            _ => write!(f, "{file}#{pointer}: {description} [{rule}]"),
        }
    }
}
