//! The first step of a cycle: refuse an order, split the message, follow up on what was said before, or choose by rank.

use serde_json::{Map, Value};

use super::{
    abstain,
    clauses::clauses,
    follow_up::{Before, has_pronoun, leads},
    index::Index,
    message::Message,
    rank::{Candidate, Ranking},
    slots::{Filled, Given},
};
use crate::{
    agent::plan::{Alternative, Asked, Offer, Plan, PlannedCall, Step},
    registry::ExtractKind,
};

/// So many other tools are told.
const ALTERNATIVES: usize = 3;

/// A message that only says what is different is no longer than this, in words, if nothing else tells.
const SHORT: usize = 6;

/// The last tool is meant again if it is so near the best one.
const NEAR_THE_LAST: f32 = 0.6;

/// How one clause is understood.
pub(super) struct Routed {
    pub(super) step: Routing,
    pub(super) reason: String,
    pub(super) confidence: f32,
    pub(super) alternatives: Vec<Alternative>,
}

/// What a clause comes to.
pub(super) enum Routing {
    /// Calls of one tool, or of those that were called last.
    Calls(Vec<PlannedCall>),
    /// Something is missing.
    Ask(String),
    /// No tool is meant.
    Nothing(String),
}

/// The first step.
pub(super) fn first(asked: &Asked<'_>) -> Plan {
    if asked.offer.tools().is_empty() {
        return plan(Step::Clarify("No tools are currently available.".to_owned()), "there is no tool");
    }
    let before = Before::new(asked.history, asked.offer.index());
    if let Some(pending) = before.pending.filter(|_| is_answer(asked)) {
        let both = format!("{} {}", pending.trim_end_matches(['?', '.', '!', ' ']), asked.message);
        return all(asked, &both, &before);
    }
    all(asked, asked.message, &before)
}

/// A plan without calls.
pub(super) fn plan(step: Step, reason: &str) -> Plan {
    Plan { step, reason: reason.to_owned(), confidence: 0.0, alternatives: Vec::new() }
}

/// Whether the message answers a question of ours: it is short, and about nothing by itself.
fn is_answer(asked: &Asked<'_>) -> bool {
    let message = read(asked, asked.message);
    if message.words.len() > SHORT {
        return false;
    }
    let given = Given { message: &message, carried: &[], account: None, refers: false };
    let ranking = Ranking::new(asked.offer.index(), asked.offer.offered(), given);
    ranking.candidates.first().is_none_or(|first| abstain::is_too_weak(&ranking, first))
}

fn read<'a>(asked: &Asked<'_>, text: &'a str) -> Message<'a> {
    let offer = asked.offer;
    Message::new(text, asked.today, (offer.names(), offer.words()), |word| {
        offer.index().knows(word) || offer.words().knows(word)
    })
}

/// The whole, unless every clause is about a tool of its own.
fn all(asked: &Asked<'_>, text: &str, before: &Before<'_>) -> Plan {
    let clauses = clauses(text);
    for clause in &clauses {
        if let Some(answer) = abstain::order(&read(asked, clause), asked.offer.words()) {
            return plan(Step::Refuse(answer.to_owned()), "it is an order that no tool carries out");
        }
    }
    let whole = route(asked, text, before, &before.named);
    let parts = if clauses.len() > 1 { each(asked, &clauses, before) } else { None };
    let routed = parts.unwrap_or(whole);
    let (step, confidence) = match routed.step {
        Routing::Calls(calls) => (Step::Call(calls), routed.confidence),
        Routing::Ask(question) | Routing::Nothing(question) => (Step::Clarify(question), 0.0),
    };
    let confidence = f64::from((confidence * 100.0).round()) / 100.0;
    Plan { step, reason: routed.reason, confidence, alternatives: routed.alternatives }
}

/// The calls of all clauses, if each is about a tool of its own.
fn each(asked: &Asked<'_>, clauses: &[&str], before: &Before<'_>) -> Option<Routed> {
    let (mut all, mut reasons, mut confidence, mut alternatives) =
        (Vec::new(), Vec::new(), 1.0_f32, Vec::new());
    let mut named = before.named.clone();
    for clause in clauses {
        let routed = route(asked, clause, before, &named);
        let Routing::Calls(calls) = routed.step else { return None };
        let tool = calls.first()?.tool.clone();
        if all.iter().any(|call: &PlannedCall| call.tool == tool) {
            return None;
        }
        named = newer(asked.offer.index(), &calls, named);
        confidence = confidence.min(routed.confidence);
        reasons.push(routed.reason);
        alternatives.extend(routed.alternatives);
        all.extend(calls);
    }
    alternatives.retain(|other: &Alternative| !all.iter().any(|call| call.tool == other.tool));
    alternatives.truncate(ALTERNATIVES);
    Some(Routed { step: Routing::Calls(all), reason: reasons.join("; "), confidence, alternatives })
}

/// What was named, with what these calls name in its place.
fn newer(index: &Index, calls: &[PlannedCall], older: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut before = Before::default();
    for call in calls {
        let place = index.tools.iter().position(|it| it.tool.definition.name.as_str() == call.tool);
        if let Some(tool) = place {
            before.name(index, tool, call);
        }
    }
    let mut named = before.named;
    let kinds: Vec<_> = named.iter().map(|(kind, _)| kind.clone()).collect();
    named.extend(older.into_iter().filter(|(kind, _)| !kinds.contains(kind)));
    named
}

/// One clause.
fn route(asked: &Asked<'_>, text: &str, before: &Before<'_>, named: &[(String, String)]) -> Routed {
    let (offer, message) = (asked.offer, read(asked, text));
    let given =
        Given { message: &message, carried: named, account: asked.account, refers: has_pronoun(&message) };
    let ranking = Ranking::new(offer.index(), offer.offered(), given);
    let chosen = choose(offer.index(), &ranking, &message);
    let is_weak = chosen.is_none_or(|it| abstain::is_too_weak(&ranking, it));
    if is_weak || leads(&message) {
        let best = chosen.filter(|_| !is_weak).map_or(0.0, |it| it.score);
        if let Some(routed) = again(asked, &ranking, given, before, best) {
            return routed;
        }
    }
    match chosen.filter(|_| !is_weak) {
        Some(candidate) => call(offer, &ranking, candidate, &message),
        None => nothing(offer, &ranking),
    }
}

/// The first tool that may be called for it: what changes something is only for who says what to do.
fn choose<'a>(index: &Index, ranking: &'a Ranking, message: &Message<'_>) -> Option<&'a Candidate> {
    let is_order = message.is_order();
    ranking.candidates.iter().find(|it| index.tools[it.tool].is_read || is_order)
}

fn nothing(offer: &Offer, ranking: &Ranking) -> Routed {
    Routed {
        step: Routing::Nothing(abstain::no_tool(offer.index(), ranking)),
        reason: "no tool is about what is said".to_owned(),
        confidence: 0.0,
        alternatives: alternatives(offer.index(), ranking, None),
    }
}

/// A call of the chosen tool, or the question that it needs answered first.
fn call(offer: &Offer, ranking: &Ranking, candidate: &Candidate, message: &Message<'_>) -> Routed {
    let index = offer.index();
    let indexed = &index.tools[candidate.tool];
    let words = ranking.words(index, message, candidate.tool);
    let words: Vec<_> = words.iter().take(3).map(|word| format!("“{word}”")).collect();
    let reason = format!("chosen by the words {}", words.join(", "));
    let alternatives = alternatives(index, ranking, Some(candidate.tool));
    let question = candidate.filled.wrong.clone().or_else(|| {
        let slot = &indexed.slots[*candidate.filled.missing.first()?];
        Some(abstain::question(slot, message, offer.words()))
    });
    let step = match question {
        Some(question) => Routing::Ask(question),
        None => Routing::Calls(calls(indexed.tool.definition.name.as_str(), &candidate.filled, &reason)),
    };
    Routed { step, reason, confidence: confidence(ranking, candidate), alternatives }
}

fn calls(tool: &str, filled: &Filled, reason: &str) -> Vec<PlannedCall> {
    let call = |arguments| PlannedCall { tool: tool.to_owned(), arguments, reason: reason.to_owned() };
    filled.clone().calls().into_iter().map(call).collect()
}

/// The last calls once more, with what the message says in place of what was said then. `best` is the score of another
/// tool that the message speaks for.
fn again(
    asked: &Asked<'_>,
    ranking: &Ranking,
    given: Given<'_>,
    before: &Before<'_>,
    best: f32,
) -> Option<Routed> {
    let index = asked.offer.index();
    let mut all: Vec<PlannedCall> = Vec::new();
    for (tool, last) in &before.calls {
        if !asked.offer.offered()[*tool] || all.iter().any(|call| call.tool == last.tool) {
            continue;
        }
        let score = ranking.candidates.iter().find(|it| it.tool == *tool).map_or(0.0, |it| it.score);
        let slots = &index.tools[*tool].slots;
        let filled = Filled::new(slots, Given { carried: &[], ..given });
        let is_topic = |at: &usize| slots[*at].extract.kind == ExtractKind::Topic && !leads(given.message);
        let says = filled.said.iter().any(|at| !is_topic(at));
        if !says || filled.wrong.is_some() || score < NEAR_THE_LAST * best {
            continue;
        }
        let merged = |arguments: Map<String, Value>| {
            let mut both = last.arguments.clone();
            both.extend(arguments);
            both
        };
        let reason = "the last call, with what is different now".to_owned();
        let call = |arguments| PlannedCall {
            tool: last.tool.clone(),
            arguments: merged(arguments),
            reason: reason.clone(),
        };
        all.extend(filled.calls().into_iter().map(call));
    }
    let first = all.first()?;
    let reason = first.reason.clone();
    Some(Routed {
        step: Routing::Calls(all),
        reason,
        confidence: 0.8,
        alternatives: alternatives(index, ranking, None),
    })
}

fn alternatives(index: &Index, ranking: &Ranking, chosen: Option<usize>) -> Vec<Alternative> {
    let others = ranking.candidates.iter().filter(|it| Some(it.tool) != chosen);
    let name = |it: &Candidate| index.tools[it.tool].tool.definition.name.as_str().to_owned();
    others
        .take(ALTERNATIVES)
        .map(|it| Alternative { tool: name(it), score: f64::from((it.score * 100.0).round()) / 100.0 })
        .collect()
}

/// The more of the message is known, and the further the next tool is, the surer.
fn confidence(ranking: &Ranking, chosen: &Candidate) -> f32 {
    let next = ranking.candidates.iter().find(|it| it.tool != chosen.tool).map_or(0.0, |it| it.score);
    let ahead = (1.0 - next / chosen.score).clamp(0.0, 1.0);
    ranking.coverage * (0.7 + 0.3 * ahead)
}

/// The call of the tool that came next to the given one, if it only reads, needs nothing more and is near enough.
pub(super) fn next(asked: &Asked<'_>, tool: &str, near: f64) -> Option<PlannedCall> {
    let (offer, message) = (asked.offer, read(asked, asked.message));
    let before = Before::new(asked.history, offer.index());
    let given = Given {
        message: &message,
        carried: &before.named,
        account: asked.account,
        refers: has_pronoun(&message),
    };
    let ranking = Ranking::new(offer.index(), offer.offered(), given);
    let name = |it: &&Candidate| offer.index().tools[it.tool].tool.definition.name.as_str() != tool;
    let first = ranking.candidates.first()?.score;
    let other = ranking.candidates.iter().find(name)?;
    let indexed = &offer.index().tools[other.tool];
    let fits = indexed.is_read && other.filled.missing.is_empty() && other.filled.wrong.is_none();
    let is_near = f64::from(other.score) >= near * f64::from(first);
    let reason = format!("in place of {tool}, which has no data now");
    (fits && is_near).then(|| calls(indexed.tool.definition.name.as_str(), &other.filled, &reason).remove(0))
}
