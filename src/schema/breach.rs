//! What a value breaks of a schema.

use std::fmt;

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::keywords::{NOT, PATTERN};

/// Maximum length of a quoted value in characters; its author can look it up in full.
pub const MAX_QUOTED: usize = 64;

/// The violations of one value, at least one, in the order in which they are found.
#[derive(Debug)]
pub struct Breaches<'a> {
    errors: Vec<ValidationError<'a>>,
    root: &'a Value,
}

/// One violation.
#[derive(Clone, Copy, Debug)]
pub struct Breach<'a> {
    error: &'a ValidationError<'a>,
    root: &'a Value,
}

impl<'a> Breaches<'a> {
    pub(crate) fn new(errors: Vec<ValidationError<'a>>, root: &'a Value) -> Self {
        Self { errors, root }
    }

    pub fn iter(&self) -> impl Iterator<Item = Breach<'_>> {
        all(&self.errors, self.root)
    }

    pub fn first(&self) -> Breach<'_> {
        self.iter().next().expect("there is at least one")
    }
}

impl<'a> Breach<'a> {
    /// What is broken. A pattern and a union are [`Kind::Custom`] where branches are not explained.
    pub fn kind(self) -> &'a Kind {
        self.error.kind()
    }

    /// The keyword that is broken.
    pub fn keyword(self) -> &'a str {
        self.error.kind().keyword()
    }

    /// The pattern that a text does not match, if that is what is broken.
    pub fn pattern(self) -> Option<&'a str> {
        match self.kind() {
            Kind::Pattern { pattern } => Some(pattern),
            Kind::Custom { keyword, message } if keyword == PATTERN => Some(message),
            _ => None,
        }
    }

    /// The place in the value.
    pub fn pointer(self) -> &'a str {
        self.error.instance_path().as_str()
    }

    /// The place of the keyword in the schema.
    pub fn schema_pointer(self) -> &'a str {
        self.error.schema_path().as_str()
    }

    /// What stands at the place.
    pub fn found(self) -> &'a Value {
        self.root.pointer(self.pointer()).unwrap_or(&Value::Null)
    }

    /// The name of a member that is not allowed, if that is what is broken; of a long one, its beginning.
    pub fn name(self) -> Option<&'a str> {
        match self.kind() {
            Kind::PropertyNames { error } => error.instance().as_str(),
            _ => None,
        }
    }

    /// What the value breaks of the last branch of `anyOf`, where branches are explained.
    pub fn of_last_branch(self) -> impl Iterator<Item = Self> {
        let branches = match self.kind() {
            Kind::AnyOf { context } => context.as_slice(),
            _ => &[],
        };
        all(branches.last().map_or(&[], Vec::as_slice), self.root)
    }
}

fn all<'a>(errors: &'a [ValidationError<'a>], root: &'a Value) -> impl Iterator<Item = Breach<'a>> {
    errors.iter().map(move |error| Breach { error, root })
}

/// In the validator's words, with a short form of what was found.
impl fmt::Display for Breach<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = quoted(self.found());
        match (self.kind(), self.pattern()) {
            (_, Some(pattern)) => write!(f, "{found} does not match \"{pattern}\""),
            (Kind::Custom { keyword, .. }, None) if keyword == NOT => write!(f, "{found} is not allowed"),
            (Kind::Custom { keyword, .. }, None) => {
                write!(f, "{found} is not valid under the schemas listed in the '{keyword}' keyword")
            }
            _ => self.error.masked_with(found).fmt(f),
        }
    }
}

/// A value in at most about [`MAX_QUOTED`] characters.
pub fn quoted(value: &Value) -> String {
    match value {
        // Long texts are cut before they are quoted.
        Value::String(text) => Value::from(cut(text, MAX_QUOTED)).to_string(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        other => cut(&other.to_string(), MAX_QUOTED),
    }
}

/// At most as many characters of a text.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
