//! Typed contexts: what a result of a domain's tool is about, for the answerer.

use serde_json::{Map, Value};

/// A result as a domain sees it.
#[derive(Clone, Copy, Debug)]
pub struct ResultView<'a> {
    pub tool: &'a str,
    /// The arguments of the call, as they were planned.
    pub arguments: &'a Map<String, Value>,
    pub data: &'a Value,
    /// The user's message: of two contexts of one tool, its words tell which.
    pub message: &'a str,
}

/// What a result is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// The type, such as `QuotesContext`.
    pub kind: &'static str,
    /// What it says: fields of the tool's data.
    pub data: Value,
}

/// A domain's typed contexts. Nothing for a tool without one.
pub type TypedContexts = fn(ResultView<'_>) -> Option<Typed>;
