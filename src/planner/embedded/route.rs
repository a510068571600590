//! One clause: the calls of the tool that it is about, or the question that must be answered first.

use std::ops::Range;

use super::{
    abstain,
    follow_up::{Before, has_pronoun, is_bare, is_bare_value, is_value_of, leads},
    name_only, narrow,
    repeat_last::repeat_last,
    routed::{Routed, Routing, alternatives},
    writes,
};
use crate::{
    Offer, PlanRequest, PlannedCall,
    english::english,
    matching::{
        clauses::joints,
        index::Index,
        message::{Message, is_asking},
        rank::{Candidate, Ranking},
        slots::{Filled, SlotContext},
        words::Word,
    },
    weights::weights,
};

/// Routes one clause. `named` are the names that it may refer to.
pub(super) fn route(
    request: &PlanRequest<'_>,
    message: &Message<'_>,
    before: &Before<'_>,
    named: &[(String, String)],
) -> Routed {
    let offer = request.offer;
    let given = slot_context(request, message, named);
    let ranking = Ranking::new(offer.index(), offer.flags(), given);
    let ordered = find_ordered(offer.index(), &ranking, message, before);
    // An order to change something comes before any read: a read may score higher by the same words.
    let chosen =
        ordered.or_else(|| ranking.candidates.iter().find(|it| offer.index().tools[it.tool].is_read));
    let chosen = chosen.map(|it| narrow::to_what_was_named(offer.index(), &ranking, message, before, it));
    let nearly = nearly_ordered(offer, &ranking, message, chosen).filter(|_| ordered.is_none());
    let is_weak = ordered.is_none() && chosen.is_none_or(|it| abstain::is_too_weak(&ranking, it));
    let only_gives_a_value = || only_gives_a_value(offer.index(), message, before);
    if is_weak || nearly.is_some() || leads(message) || only_gives_a_value() {
        // A bare lead, as in `What about Infosys?`, speaks for no other tool, and neither does a bare value.
        let is_bare = (leads(message) && is_bare(message)) || only_gives_a_value();
        let best = chosen.filter(|_| !is_weak && !is_bare && nearly.is_none()).map_or(0.0, |it| it.score);
        if let Some(routed) = repeat_last(request, &ranking, given, before, best) {
            return routed;
        }
    }
    // Only after a repeat was tried: `Add Wipro` behind another order is a follow-up, not an incomplete order.
    if let Some(tool) = nearly {
        let example = writes::ask_for_order(&offer.index().tools[tool], message);
        return Routed { step: Routing::Ask(example), ..nothing(offer, &ranking) };
    }
    if let Some(candidate) = chosen.filter(|_| !is_weak) {
        return call(offer, &ranking, candidate, given, before);
    }
    let question = name_only::question(offer, message);
    match question.or_else(|| narrow::to_a_time(offer.index(), message, before)) {
        Some(question) => Routed { step: Routing::Ask(question), ..nothing(offer, &ranking) },
        None => nothing(offer, &ranking),
    }
}

/// Whether a message only gives another value of the last call: `And since inception?`, but not `how have I done since
/// inception?`.
fn only_gives_a_value(index: &Index, message: &Message<'_>, before: &Before<'_>) -> bool {
    let asks = message.words.iter().any(|word| is_asking(&word.lower));
    !asks && (is_bare_value(message) || is_value_of(index, message, before))
}

/// The best tool whose change the message orders, if it says nothing else. After a call that takes several names, the
/// words of that call are accepted too: `add Acme to the comparison`.
pub(super) fn find_ordered<'a>(
    index: &Index,
    ranking: &'a Ranking,
    message: &Message<'_>,
    before: &Before<'_>,
) -> Option<&'a Candidate> {
    if !message.is_order() {
        return None;
    }
    let is_of_several = |word: &Word| {
        let mut tools = before.calls.iter().map(|(tool, _)| *tool);
        tools.any(|tool| writes::takes_several(index, tool) && index.words.speaks_for(word, tool))
    };
    let is_given = |it: &&Candidate| {
        let tool = &index.tools[it.tool];
        let is_meant = |word: &Word| word.is_guess && tool.orders.says(word);
        let is_known = |word: &Word| is_of_several(word) || is_meant(word);
        !tool.is_read
            && tool.orders.is_given(&index.words, message, &tool.slots, is_known)
            && !begins_another_order(index, message, it.tool)
    };
    ranking.candidates.iter().find(is_given)
}

/// Whether a word behind a joint begins an order to another tool: `remove Acme and watch Initech`.
fn begins_another_order(index: &Index, message: &Message<'_>, tool: usize) -> bool {
    let own = &index.tools[tool].orders;
    let is_of_another = |word: &Word| {
        let others = index.tools.iter().filter(|it| !it.is_read);
        !own.has_head(&word.lower) && others.map(|it| &it.orders).any(|it| it.has_head(&word.lower))
    };
    let behind = |joint: &Range<usize>| message.words.iter().find(|word| word.begin >= joint.end);
    joints(message.text).iter().filter_map(behind).any(is_of_another)
}

/// The tool that changes something and whose order the message begins without completing it; otherwise the best tool,
/// if it changes something and no reading tool is near.
fn nearly_ordered(
    offer: &Offer,
    ranking: &Ranking,
    message: &Message<'_>,
    read: Option<&Candidate>,
) -> Option<usize> {
    let index = offer.index();
    let has_example = |tool: usize| !index.tools[tool].tool.definition.utterances.is_empty();
    let is_begun = |tool: &usize| {
        let it = &index.tools[*tool];
        offer.flags()[*tool] && !it.is_read && it.orders.is_begun(message) && has_example(*tool)
    };
    if let Some(begun) = (0..index.tools.len()).find(is_begun).filter(|_| message.is_order()) {
        return Some(begun);
    }
    let first = ranking.candidates.first().filter(|first| !index.tools[first.tool].is_read)?;
    // A question such as `did I add Acme to my list?` orders nothing; one that asks for advice may.
    let is_advice = english().advice.iter().any(|phrase| message.says(message.first(), phrase.words()));
    let is_near = read.is_some_and(|read| {
        let is_asked = !message.is_order() && !is_advice && !abstain::is_too_weak(ranking, read);
        is_asked || read.score >= weights().others.near_a_change * first.score
    });
    (has_example(first.tool) && !is_near && !abstain::is_too_weak(ranking, first)).then_some(first.tool)
}

/// A clause that no tool is about.
fn nothing(offer: &Offer, ranking: &Ranking) -> Routed {
    Routed {
        step: Routing::Nothing(abstain::no_tool(offer.index(), ranking)),
        reason: "no tool is about what is said".to_owned(),
        confidence: 0.0,
        score: 0.0,
        sum: 0.0,
        alternatives: alternatives(offer.index(), ranking, None),
    }
}

/// A call of the chosen tool, or the question that it needs answered first.
fn call(
    offer: &Offer,
    ranking: &Ranking,
    candidate: &Candidate,
    given: SlotContext<'_>,
    before: &Before<'_>,
) -> Routed {
    let (index, message) = (offer.index(), given.message);
    let indexed = &index.tools[candidate.tool];
    let words = ranking.words(index, message, candidate.tool);
    let words: Vec<_> = words.iter().take(3).map(|word| format!("“{word}”")).collect();
    let reason = format!("chosen by the words {}", words.join(", "));
    let alternatives = alternatives(index, ranking, Some(candidate.tool));
    let question = candidate.filled.correction.clone().or_else(|| {
        let slot = &indexed.slots[*candidate.filled.missing.first()?];
        Some(abstain::question(slot, message, offer.words()))
    });
    let question = question.or_else(|| writes::ask_for_name(index, candidate, given, before, offer.words()));
    let step = match question {
        Some(question) => Routing::Ask(question),
        None => Routing::Calls(calls(indexed.tool.definition.name.as_str(), &candidate.filled, &reason)),
    };
    let score = candidate.score;
    Routed { step, reason, confidence: confidence(ranking, candidate), score, sum: score, alternatives }
}

/// The calls of a tool, one for each name where it takes one.
pub(super) fn calls(tool: &str, filled: &Filled, reason: &str) -> Vec<PlannedCall> {
    let call = |arguments| PlannedCall {
        tool: tool.to_owned(),
        arguments,
        reason: reason.to_owned(),
        by_model: None,
    };
    filled.clone().calls().into_iter().map(call).collect()
}

/// The confidence in a tool: it grows with the share of the message that is known and with the lead over the next tool.
fn confidence(ranking: &Ranking, chosen: &Candidate) -> f32 {
    let next = ranking.candidates.iter().find(|it| it.tool != chosen.tool).map_or(0.0, |it| it.score);
    let ahead = (1.0 - next / chosen.score).clamp(0.0, 1.0);
    let weights = &weights().confidence;
    ranking.coverage * (weights.alone + weights.ahead * ahead)
}

/// Reads a text as a message of the request.
pub(super) fn read<'a>(request: &PlanRequest<'_>, text: &'a str) -> Message<'a> {
    let offer = request.offer;
    Message::new(text, request.today, offer.names(), &offer.index().words)
}

/// What slots are filled from: a message, and the names that it may refer to.
pub(super) fn slot_context<'a>(
    request: &PlanRequest<'a>,
    message: &'a Message<'a>,
    carried: &'a [(String, String)],
) -> SlotContext<'a> {
    let refers = has_pronoun(message, request.offer.words());
    SlotContext { message, carried, account: request.account, refers, goes_on: leads(message) }
}
