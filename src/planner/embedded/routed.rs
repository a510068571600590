//! The result of routing a clause.

use std::collections::BTreeSet;

use crate::{
    Alternative, PlannedCall,
    english::english,
    matching::{
        index::{Index, Indexed},
        message::Message,
        rank::{Candidate, Ranking},
        slots::Slot,
    },
};

/// Maximum number of alternatives reported.
pub(super) const ALTERNATIVES: usize = 3;

/// The routing of one clause, and why.
pub(super) struct Routed {
    pub(super) step: Routing,
    pub(super) reason: String,
    pub(super) confidence: f32,
    /// The score of the tool that is called; the least one of several clauses.
    pub(super) score: f32,
    /// The sum of the scores of all clauses.
    pub(super) sum: f32,
    pub(super) alternatives: Vec<Alternative>,
}

impl Routed {
    /// The tool of the first call.
    pub(super) fn tool(&self) -> Option<&str> {
        match &self.step {
            Routing::Calls(calls) => calls.first().map(|call| call.tool.as_str()),
            _ => None,
        }
    }

    /// The number of tools that are called.
    pub(super) fn count(&self) -> usize {
        let Routing::Calls(calls) = &self.step else { return 0 };
        calls.iter().map(|call| &call.tool).collect::<BTreeSet<_>>().len()
    }

    /// The first tool of the calls that changes something, by its place in the index.
    pub(super) fn changing(&self, index: &Index) -> Option<usize> {
        let Routing::Calls(calls) = &self.step else { return None };
        let is_called = |it: &Indexed| calls.iter().any(|call| it.tool.definition.name.as_str() == call.tool);
        index.tools.iter().position(|it| !it.is_read && is_called(it))
    }

    /// Whether the tool of the first call has every word of a message, each for at least this share of what it says for
    /// the tool that it speaks for most.
    pub(super) fn has_every_word(&self, index: &Index, message: &Message<'_>, share: f32) -> bool {
        let Some(tool) = self.tool().and_then(|tool| index.place(tool)) else { return false };
        let takes_a_time = index.tools[tool].slots.iter().any(Slot::takes_a_time);
        let is_about = |(term, at): &(u32, usize)| {
            let is_distributive = english().distributives.has(&message.words[*at].lower);
            if is_distributive || (takes_a_time && message.times.takes(*at)) {
                return true;
            }
            let postings = index.words.postings(*term);
            let most = postings.iter().map(|(_, weight)| *weight).fold(0.0, f32::max);
            let of_tool = postings.iter().find(|(of, _)| *of as usize == tool);
            of_tool.is_some_and(|(_, weight)| *weight >= share * most)
        };
        message.content.iter().all(is_about)
    }

    /// Whether a tool is called, if there is one.
    pub(super) fn calls(&self, tool: Option<&str>) -> bool {
        let Routing::Calls(calls) = &self.step else { return false };
        tool.is_none_or(|tool| calls.iter().any(|call| call.tool == tool))
    }
}

/// The decision about a clause.
pub(super) enum Routing {
    /// Calls of one tool, or of those that were called last.
    Calls(Vec<PlannedCall>),
    Ask(String),
    /// No tool matches.
    Nothing(String),
}

/// The best tools except the chosen one.
pub(super) fn alternatives(index: &Index, ranking: &Ranking, chosen: Option<usize>) -> Vec<Alternative> {
    let others = ranking.candidates.iter().filter(|it| Some(it.tool) != chosen);
    let name = |it: &Candidate| index.tools[it.tool].tool.definition.name.as_str().to_owned();
    others
        .take(ALTERNATIVES)
        .map(|it| Alternative { tool: name(it), score: f64::from((it.score * 100.0).round()) / 100.0 })
        .collect()
}
