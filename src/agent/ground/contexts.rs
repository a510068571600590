//! Typed contexts: what a result is about, for the answerer.
//!
//! A domain knows the contexts of its own tools; what no domain knows is a [`RESULT`]. Not here: any tool by name.

use serde_json::{Map, Value};

/// The type of the context of a tool without a typed one: its data as it is.
pub const RESULT: &str = "ResultContext";

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

#[derive(Clone, Debug, Default)]
pub struct Contexts(Vec<TypedContexts>);

impl Contexts {
    pub fn new(domains: impl IntoIterator<Item = TypedContexts>) -> Self {
        Self(domains.into_iter().collect())
    }

    /// What a result is about.
    pub fn of(&self, seen: ResultView<'_>) -> Typed {
        let known = self.0.iter().find_map(|contexts| contexts(seen));
        known.unwrap_or_else(|| Typed { kind: RESULT, data: seen.data.clone() })
    }
}
