//! Problems of the configuration: where it was set, what was expected, what to do. Never a secret.

use std::fmt;

/// The configuration cannot be used. All problems at once, one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigError(pub Vec<Problem>);

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The flag, the variable, or the file and the key in it.
    pub at: String,
    /// What is wrong and what to do.
    pub what: String,
}

impl ConfigError {
    pub fn one(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self(vec![Problem::new(at, what)])
    }
}

impl Problem {
    /// A problem and its place.
    pub fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self { at: at.into(), what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)
    }
}
