//! The results of a turn as contexts. Not here: which context a tool has.

use serde_json::Value;

use super::contexts::{Contexts, ResultView, Typed};
use toolwire_planner::{ExecutedCall, PlanRequest};

/// The results of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextBundle {
    /// The results of the calls that succeeded, in the order of the calls.
    pub items: Vec<ContextItem>,
    /// The sources of all of them, each once, in order.
    pub source_ids: Vec<String>,
    /// The oldest of the items' dates. Empty if none has one.
    pub as_of: String,
}

/// The result of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextItem {
    pub tool: String,
    pub call_id: String,
    /// Where the data comes from.
    pub source_ids: Vec<String>,
    /// The date of the data.
    pub as_of: String,
    /// The type, such as `QuotesContext`; `ResultContext` for a tool without a typed one.
    pub kind: String,
    /// What it says, in the fields of its type.
    pub data: Value,
}

impl ContextBundle {
    /// Of the calls that succeeded. Calls and their identifiers stand in one order; one without is left unnamed.
    pub fn of(request: &PlanRequest<'_>, call_ids: &[String], contexts: &Contexts) -> Self {
        let call_ids = call_ids.iter().cloned().chain(std::iter::repeat(String::new()));
        let mut bundle = Self::default();
        for (made, call_id) in request.made.iter().zip(call_ids) {
            if let Some(item) = item(made, call_id, request.message, contexts) {
                bundle.add(item);
            }
        }
        bundle
    }

    fn add(&mut self, item: ContextItem) {
        for source_id in &item.source_ids {
            if !self.source_ids.contains(source_id) {
                self.source_ids.push(source_id.clone());
            }
        }
        if self.as_of.is_empty() || (!item.as_of.is_empty() && item.as_of < self.as_of) {
            self.as_of.clone_from(&item.as_of);
        }
        self.items.push(item);
    }
}

fn item(made: &ExecutedCall, call_id: String, message: &str, contexts: &Contexts) -> Option<ContextItem> {
    let data = made.result.outcome.as_ref().ok()?.json();
    let call = &made.call;
    let Typed { kind, data } =
        contexts.of(ResultView { tool: &call.tool, arguments: &call.arguments, data, message });
    let provenance = &made.result.provenance;
    Some(ContextItem {
        tool: call.tool.clone(),
        call_id,
        source_ids: provenance.source_ids.clone(),
        as_of: provenance.as_of.clone(),
        kind: kind.to_owned(),
        data,
    })
}
