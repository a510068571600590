//! Typed contexts: what a result is about, for the answerer.
//!
//! A domain knows the contexts of its own tools; what no domain knows is a [`RESULT`]. Not here: any tool by name.

pub use toolwire_agent_api::contexts::{ResultView, Typed, TypedContexts};

/// The type of the context of a tool without a typed one: its data as it is.
pub const RESULT: &str = "ResultContext";

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
