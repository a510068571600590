//! The names and words of domains, for planners without a model.

pub use toolwire_agent_api::{Name, Names};

/// The lexicon of a domain: synonyms in its questions, and names of the things that its tools are about, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lexicon {
    /// Its path, such as `toys/lexicon.json`, for messages.
    pub file: String,
    pub text: &'static str,
}
