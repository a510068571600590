//! The tools of one snapshot as the planner knows them: their words, their slots, and the orders to those that change
//! something.

use std::sync::Arc;

use foldhash::HashMap;
use serde_json::Value;

use super::{inverted_index::InvertedIndex, lexicon::Words, orders::Orders, slots::Slot};
use toolwire_engine::registry::{Category, RegisteredTool};

/// The tools of one snapshot.
#[derive(Debug)]
pub(crate) struct Index {
    /// In the order of the snapshot.
    pub(crate) tools: Box<[Indexed]>,
    /// Which words speak for which of them.
    pub(crate) words: InvertedIndex,
}

/// One tool as the planner knows it.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub(crate) tool: Arc<RegisteredTool>,
    /// Its parameters that are read from messages.
    pub(crate) slots: Vec<Slot>,
    /// Whether it changes nothing.
    pub(crate) is_read: bool,
    /// How a message orders it, if it changes something.
    pub(crate) orders: Orders,
    /// Whether everything that it requires can be read from a message.
    pub(crate) is_readable: bool,
    /// If it takes no names, or any, and one in five of its examples has one (`When did I last buy Acme?`): the kinds
    /// of these.
    pub(crate) asked_of: Vec<String>,
}

impl Index {
    /// Builds the index of these tools.
    pub(crate) fn new<'a>(tools: impl IntoIterator<Item = &'a Arc<RegisteredTool>>, words: &Words) -> Self {
        let tools: Vec<_> = tools.into_iter().cloned().collect();
        let names: HashMap<_, _> =
            words.names.iter().map(|name| (name.text.as_str(), name.of.as_str())).collect();
        let mut indexed: Box<[_]> = tools.iter().map(|tool| Indexed::new(Arc::clone(tool), &names)).collect();
        let words = InvertedIndex::new(&tools, words);
        for it in indexed.iter_mut().filter(|it| !it.is_read) {
            it.orders = Orders::new(&it.tool, &words);
        }
        Self { tools: indexed, words }
    }

    /// The place of a tool by its name.
    pub(crate) fn place(&self, tool: &str) -> Option<usize> {
        self.tools.iter().position(|it| it.tool.definition.name.as_str() == tool)
    }

    /// Whether it is of these tools, in whatever status they are.
    pub(crate) fn is_of<'a>(&self, tools: impl ExactSizeIterator<Item = &'a Arc<RegisteredTool>>) -> bool {
        let is_same =
            |(indexed, tool): (&Indexed, &Arc<RegisteredTool>)| Arc::ptr_eq(&indexed.tool.hints, &tool.hints);
        tools.len() == self.tools.len() && self.tools.iter().zip(tools).all(is_same)
    }
}

impl Indexed {
    fn new(tool: Arc<RegisteredTool>, names: &HashMap<&str, &str>) -> Self {
        let is_read = tool.definition.category == Category::Read;
        let slots = Slot::all(&tool);
        let kind = |text: &String| {
            text.split(|c: char| !c.is_alphanumeric()).find_map(|word| names.get(word)).copied()
        };
        let utterances = &tool.definition.utterances;
        let mut asked_of: Vec<_> = utterances.iter().filter_map(kind).map(str::to_owned).collect();
        let takes_some = slots.iter().any(|slot| slot.is_subject() && !slot.of_kind().is_empty());
        let is_asked = !takes_some && 5 * asked_of.len() >= utterances.len().max(1);
        asked_of.retain(|_| is_asked);
        asked_of.sort_unstable();
        asked_of.dedup();
        Self { asked_of, slots, orders: Orders::default(), is_read, is_readable: is_readable(&tool), tool }
    }
}

/// Whether the manifest has an `extract` for every required parameter.
fn is_readable(tool: &RegisteredTool) -> bool {
    let required = tool.definition.input_schema.get("required").and_then(Value::as_array);
    let mut names = required.into_iter().flatten().filter_map(Value::as_str);
    names.all(|name| tool.hints.extracts.contains_key(name))
}
