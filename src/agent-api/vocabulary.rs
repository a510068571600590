//! What a domain says of itself for conversations.

use std::sync::Arc;

use crate::{Names, contexts::TypedContexts};
use toolwire_tool::context::Services;

/// The words, names and contexts of a domain: the part of it that the agent reads. Every field may be left out.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Its words for planners without a model: the text of `data/<name>/lexicon.json` (docs/PLANNER.md).
    pub lexicon: Option<&'static str>,
    /// The names by which users refer to the subjects of its tools, made from the services that domains opened.
    pub names: fn(&Services) -> Vec<Arc<dyn Names>>,
    /// The context that results of its tools give to the answerer.
    pub contexts: Option<TypedContexts>,
    /// Pairs of tools with the same arguments: a conversation that is about the first calls the second, whose
    /// results say more.
    pub in_chat: &'static [(&'static str, &'static str)],
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self { lexicon: None, names: |_| Vec::new(), contexts: None, in_chat: &[] }
    }
}
