//! A problem of a file: its location, the rule it breaks, and how to fix it.
//!
//! Not here: what is wrong with a call's arguments, which is a `toolwire_contract::Violation`.

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
    /// What is wrong and how to fix it.
    pub description: String,
    /// The tool that it concerns, if it concerns a single one: it is hidden from users that may not call that tool.
    pub tool: Option<String>,
    /// Which readers may see it.
    pub audience: Audience,
}

/// Which readers may see a problem. Logs and the linter are for operators, and show everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// The users that may call the tool, or every user if it concerns no single tool.
    #[default]
    Callers,
    /// Operators alone: its words may contain a user's name.
    Operators,
}

/// Everything that is wrong, at once: one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    /// What is wrong with a file as a whole.
    pub fn new(file: &str, rule: &'static str, description: impl Into<String>) -> Self {
        let (file, pointer, description) = (file.to_owned(), String::new(), description.into());
        Self { file, pointer, rule, description, tool: None, audience: Audience::Callers }
    }

    /// The same, for operators alone.
    #[must_use]
    pub fn for_operators(self) -> Self {
        Self { audience: Audience::Operators, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, pointer, rule, description, .. } = self;
        match pointer.as_str() {
            "" => write!(f, "{file}: {description} [{rule}]"),
            _ => write!(f, "{file}#{pointer}: {description} [{rule}]"),
        }
    }
}
