//! The calls of several clauses as one routing: which of them are repetitions, and what an ellipsis leaves out.
//!
//! Not here: how a clause is routed (`route`), and which parts of a message are clauses (`compound`).

use std::mem;

use serde_json::Value;

use super::{
    follow_up::{Before, takes_any_kind},
    routed::{ALTERNATIVES, Routed, Routing},
};
use crate::{
    Alternative, PlannedCall,
    english::english,
    matching::{index::Index, message::Message},
};

/// The clauses that are routed so far, joined into one routing.
pub(super) struct Joined {
    calls: Vec<PlannedCall>,
    /// Where the calls of the last clause begin.
    last: usize,
    /// The names that the next clause may refer to: kind and value.
    pub(super) named: Vec<(String, String)>,
    reasons: Vec<String>,
    confidence: f32,
    /// The least score of a clause, ellipses apart.
    score: f32,
    /// The sum of the scores of all clauses.
    pub(super) sum: f32,
    alternatives: Vec<Alternative>,
}

impl Joined {
    pub(super) fn new(before: &Before<'_>) -> Self {
        Self {
            calls: Vec::new(),
            last: 0,
            named: before.named.clone(),
            reasons: Vec::new(),
            confidence: 1.0,
            score: f32::MAX,
            sum: 0.0,
            alternatives: Vec::new(),
        }
    }

    /// Adds a clause. `None` if it is no call, or calls the tool of an earlier one although it must not repeat.
    pub(super) fn add(
        &mut self,
        index: &Index,
        clause: &Message<'_>,
        routed: Routed,
        may_repeat: bool,
    ) -> Option<()> {
        let Routing::Calls(mut calls) = routed.step else { return None };
        let is_ellipsis = self.complete(index, clause, &mut calls)?;
        self.last = self.calls.len();
        // A repetition is one call: `Acme to my list, please add it`. So is what gives less than the clause before.
        let is_said = |call: &PlannedCall| self.calls.iter().any(|it| has_all(it, call));
        if calls.iter().all(is_said) {
            return Some(());
        }
        if !may_repeat && self.call_of(&calls[0].tool).is_some() {
            return None;
        }
        self.named = with_older(names_of(index, clause, &calls), mem::take(&mut self.named));
        self.confidence = self.confidence.min(routed.confidence);
        // An ellipsis says less of what it repeats.
        self.score = if is_ellipsis { self.score } else { self.score.min(routed.score) };
        self.sum += routed.score;
        self.reasons.push(routed.reason);
        self.alternatives.extend(routed.alternatives);
        self.calls.extend(calls);
        Some(())
    }

    /// Gives the calls of an ellipsis the arguments that it leaves out, and returns whether it is one: `And which one
    /// is down?` asks of the same time and account. `None` if there is no call.
    fn complete(&self, index: &Index, clause: &Message<'_>, calls: &mut [PlannedCall]) -> Option<bool> {
        let tool = &calls.first()?.tool;
        let refers = clause.words.iter().any(|word| english().indefinites.has(&word.lower));
        let earlier = self.call_of(tool).filter(|_| refers && is_read(index, tool));
        let Some(earlier) = earlier else { return Some(false) };
        for call in calls {
            for (name, value) in &earlier.arguments {
                call.arguments.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        Some(true)
    }

    /// The calls of the last clause.
    pub(super) fn last_calls(&self) -> &[PlannedCall] {
        &self.calls[self.last..]
    }

    /// The first call of a tool.
    fn call_of(&self, tool: &str) -> Option<&PlannedCall> {
        self.calls.iter().find(|it| it.tool == tool)
    }

    pub(super) fn into_routed(self) -> Routed {
        let Self { calls, reasons, confidence, score, sum, mut alternatives, .. } = self;
        alternatives.retain(|other| !calls.iter().any(|call| call.tool == other.tool));
        alternatives.truncate(ALTERNATIVES);
        let step = Routing::Calls(calls);
        Routed { step, reason: reasons.join("; "), confidence, score, sum, alternatives }
    }
}

/// Whether a call has all that another one has.
fn has_all(call: &PlannedCall, other: &PlannedCall) -> bool {
    let has = |(name, value): (&String, &Value)| call.arguments.get(name) == Some(value);
    call.tool == other.tool && other.arguments.iter().all(has)
}

/// Whether a tool changes nothing.
pub(super) fn is_read(index: &Index, tool: &str) -> bool {
    index.place(tool).is_some_and(|tool| index.tools[tool].is_read)
}

/// The names in the arguments of a clause's calls, and in the clause where only it tells of which kind they are.
fn names_of(index: &Index, clause: &Message<'_>, calls: &[PlannedCall]) -> Vec<(String, String)> {
    let mut names = Before::default();
    for call in calls {
        if let Some(tool) = index.place(&call.tool) {
            names.name(index, tool, call);
            if takes_any_kind(index, tool) {
                names.name_said(clause);
            }
        }
    }
    names.named
}

/// Names, followed by the older ones of kinds that they have none of.
pub(super) fn with_older(
    mut names: Vec<(String, String)>,
    older: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let kinds: Vec<_> = names.iter().map(|(kind, _)| kind.clone()).collect();
    names.extend(older.into_iter().filter(|(kind, _)| !kinds.contains(kind)));
    names
}
