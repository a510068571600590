//! The first step of a cycle: refuse an order, split the message, follow up on what was said before, or choose by rank.

use std::slice;

use super::{
    abstain,
    again::again,
    bare,
    clauses::{clauses, refusal, too_many},
    follow_up::{Before, has_pronoun, is_bare, leads},
    index::{Index, Indexed},
    message::Message,
    names::Found,
    narrow, orders,
    rank::{Candidate, Ranking},
    routed::{ALTERNATIVES, Routed, Routing, SURE, VERY_SURE, alternatives},
    slots::{Filled, Given},
    statements,
    words::Word,
    writes::{self, Meant},
};
use crate::agent::plan::{Alternative, Asked, Offer, Plan, PlannedCall, Step};

/// A message that only says what is different is no longer than this, in words, if nothing else tells.
const SHORT: usize = 6;

/// A tool that reads is meant beside one that changes something if it is so near.
const NEAR_A_CHANGE: f32 = 0.5;

/// So many places are tried at which a message may have two halves.
const MOST_HALVES: usize = 3;

/// The first step.
pub(super) fn first(asked: &Asked<'_>) -> Plan {
    if asked.offer.tools().is_empty() {
        return plan(Step::Clarify("No tools are currently available.".to_owned()), "there is no tool");
    }
    let told = told_before(asked);
    let mut before = Before::new(asked.history, asked.offer.index(), |said| read(asked, said));
    before.take_calls(asked.offer.index(), &told);
    let message = read(asked, asked.message);
    match before.pending.filter(|_| is_answer(asked, &message)) {
        Some(pending) => all(asked, &read(asked, &completed(asked, pending, &message)), &before),
        None => all(asked, &message, &before),
    }
}

/// The calls of the last exchange where its caller alone says that it was: those that its message would be planned as.
/// They tell what a follow-up is about, and are not made again.
fn told_before(asked: &Asked<'_>) -> Vec<PlannedCall> {
    let last = asked.history.last().filter(|last| last.calls.is_empty() && !last.is_open);
    let Some(last) = last else { return Vec::new() };
    let message = read(asked, &last.said);
    match all(asked, &message, &Before::default()).step {
        Step::Call(calls) => calls,
        _ => Vec::new(),
    }
}

/// A plan without calls.
pub(super) fn plan(step: Step, reason: &str) -> Plan {
    Plan { step, reason: reason.to_owned(), confidence: 0.0, alternatives: Vec::new() }
}

/// What was said before, with the message as the answer to what was asked: which of several things a name means, or
/// whatever was missing.
fn completed(asked: &Asked<'_>, pending: &str, answer: &Message<'_>) -> String {
    let said = read(asked, pending);
    let unclear = said.found.iter().find(|found| !found.candidates.is_empty());
    let is_clear = |found: &Found| found.candidates.is_empty() && !found.is_unknown();
    match unclear.filter(|_| answer.content.is_empty() && answer.found.iter().any(is_clear)) {
        Some(unclear) => format!("{}{}{}", &pending[..unclear.begin], answer.text, &pending[unclear.end..]),
        None => format!("{} {}", pending.trim_end_matches(['?', '.', '!', ' ']), answer.text),
    }
}

/// Whether the message answers a question of ours: it is short, and about nothing by itself.
fn is_answer(asked: &Asked<'_>, message: &Message<'_>) -> bool {
    if message.words.len() > SHORT {
        return false;
    }
    let given = Given { message, carried: &[], account: None, refers: false };
    let ranking = Ranking::new(asked.offer.index(), asked.offer.offered(), given);
    ranking.candidates.first().is_none_or(|first| abstain::is_too_weak(&ranking, first))
}

fn read<'a>(asked: &Asked<'_>, text: &'a str) -> Message<'a> {
    let offer = asked.offer;
    Message::new(text, asked.today, offer.names(), &offer.index().words)
}

/// The whole, unless every clause is clearly about a tool of its own.
fn all(asked: &Asked<'_>, whole: &Message<'_>, before: &Before<'_>) -> Plan {
    let parts = clauses(whole.text).into_iter().filter(|part| part.len() < whole.text.len());
    let parts: Vec<_> = parts.map(|part| read(asked, part)).collect();
    let said = if parts.is_empty() { slice::from_ref(whole) } else { &parts };
    if let Some(answer) = said.iter().find_map(|part| refused(asked, part)) {
        return plan(Step::Refuse(answer.to_owned()), "it is an order that no tool carries out");
    }
    if let Some(count) = too_many(whole.text) {
        return plan(Step::Clarify(refusal(count)), "it asks for too much at once");
    }
    let routed = route(asked, whole, before, &before.named);
    // What is one order as a whole has no halves.
    let is_one = routed.changing(asked.offer.index()).is_some();
    let parts = if is_one {
        None
    } else if let Some(routed) = beside_statements(asked, whole.text, before) {
        return answer(routed);
    } else if parts.len() > 1 {
        each(asked, &parts, before)
    } else {
        halves(asked, whole.text)
    };
    let is_each = |parts: &Routed| parts.score >= if parts.calls(routed.tool()) { SURE } else { VERY_SURE };
    let routed = parts.filter(is_each).unwrap_or(routed);
    let routed = match changed(asked, whole, before, routed) {
        Ok(routed) => routed,
        Err(question) => {
            return plan(Step::Clarify(question), "two things may be changed");
        }
    };
    answer(routed)
}

fn answer(routed: Routed) -> Plan {
    let (step, confidence) = match routed.step {
        Routing::Calls(calls) => (Step::Call(calls), routed.confidence),
        Routing::Ask(question) | Routing::Nothing(question) => (Step::Clarify(question), 0.0),
    };
    let confidence = f64::from((confidence * 100.0).round()) / 100.0;
    Plan { step, reason: routed.reason, confidence, alternatives: routed.alternatives }
}

/// `I am done with Acme, take it off my list`: orders beside what the user tells of oneself or of what is named.
fn beside_statements(asked: &Asked<'_>, text: &str, before: &Before<'_>) -> Option<Routed> {
    let parts = statements::parts(text);
    let parts: Vec<_> = parts.iter().map(|part| (read(asked, part.text), part)).collect();
    let is_order = |message: &Message<'_>| {
        let ranking = Ranking::new(asked.offer.index(), asked.offer.offered(), given(asked, message, &[]));
        ordered(asked.offer.index(), &ranking, message, &Before::default()).is_some()
    };
    let is_place = |message: &Message<'_>| {
        let says_nothing_else =
            |it: &Indexed| !it.is_read && it.orders.accounts_for(message, &[], 0, orders::is_direction);
        asked.offer.index().tools.iter().any(says_nothing_else)
    };
    let (mut orders, mut named) = (Vec::new(), Before::default());
    for (message, part) in parts {
        if is_order(&message) {
            orders.push(message);
        } else if is_place(&message) {
            // `On my list, add Acme`.
        } else if part.is_statement(&message, orders.is_empty()) {
            named.name_said(&message);
        } else {
            return None;
        }
    }
    if orders.is_empty() {
        return None;
    }
    let kinds: Vec<_> = named.named.iter().map(|(kind, _)| kind.clone()).collect();
    named.named.extend(before.named.iter().filter(|(kind, _)| !kinds.contains(kind)).cloned());
    each(asked, &orders, &named)
}

/// What is said to an order that no tool carries out. `Get rid of it on my watchlist` is one that a tool does.
fn refused<'a>(asked: &Asked<'a>, part: &Message<'_>) -> Option<&'a str> {
    let (answer, verb) = abstain::order(part, asked.offer.words())?;
    let is_done = |(tool, is_offered): (&Indexed, &bool)| {
        let says_more = part.content.iter().any(|(_, at)| !verb.contains(at));
        *is_offered
            && !tool.is_read
            && says_more
            && tool.orders.is_given(&asked.offer.index().words, part, &tool.slots, |_| false)
    };
    let mut offered = asked.offer.index().tools.iter().zip(asked.offer.offered());
    (!offered.any(is_done)).then_some(answer)
}

/// The same, or what else is meant, where it changes something; or the question that must be answered before.
fn changed(
    asked: &Asked<'_>,
    whole: &Message<'_>,
    before: &Before<'_>,
    routed: Routed,
) -> Result<Routed, String> {
    let (offer, index) = (asked.offer, asked.offer.index());
    let Some(change) = routed.changing(index) else { return Ok(routed) };
    match writes::meant(index, change, before, whole) {
        Meant::Change => Ok(routed),
        Meant::Either(question) => Err(question),
        Meant::Last => {
            let given = Given { message: whole, carried: &[], account: asked.account, refers: false };
            let ranking = Ranking::new(index, offer.offered(), given);
            again(asked, &ranking, given, before, 0.0).ok_or_else(|| abstain::no_tool(index, &ranking))
        }
    }
}

/// `The price of Apple and the RSI of TCS`: two halves without a verb, each clearly about a tool and a name of its own.
fn halves(asked: &Asked<'_>, text: &str) -> Option<Routed> {
    let has_name = |half: &Message<'_>| half.found.iter().any(|found| !found.is_unknown());
    let halves = text.match_indices(" and ").take(MOST_HALVES).map(|(at, and)| {
        let halves = [&text[..at], &text[at + and.len()..]];
        halves.map(|half| read(asked, half))
    });
    let halves = halves.filter(|halves| halves.iter().all(has_name));
    let routed = halves.filter_map(|halves| each(asked, &halves, &Before::default()));
    routed.filter(|it| it.score >= SURE).max_by(|left, right| left.score.total_cmp(&right.score))
}

/// The calls of all clauses, if each is about a tool of its own.
fn each(asked: &Asked<'_>, clauses: &[Message<'_>], before: &Before<'_>) -> Option<Routed> {
    let (mut all, mut reasons, mut alternatives) = (Vec::new(), Vec::new(), Vec::new());
    let (mut confidence, mut score) = (1.0_f32, f32::MAX);
    let mut named = before.named.clone();
    for clause in clauses {
        let routed = route(asked, clause, before, &named);
        let Routing::Calls(calls) = routed.step else { return None };
        let tool = calls.first()?.tool.clone();
        if all.iter().any(|call: &PlannedCall| call.tool == tool) {
            // `Acme to my list, please add it` is said twice and meant once.
            let is_said = |call: &PlannedCall| all.iter().any(|it| it.arguments == call.arguments);
            if calls.iter().all(is_said) {
                continue;
            }
            return None;
        }
        named = newer(asked.offer.index(), &calls, named);
        confidence = confidence.min(routed.confidence);
        score = score.min(routed.score);
        reasons.push(routed.reason);
        alternatives.extend(routed.alternatives);
        all.extend(calls);
    }
    alternatives.retain(|other: &Alternative| !all.iter().any(|call| call.tool == other.tool));
    alternatives.truncate(ALTERNATIVES);
    Some(Routed { step: Routing::Calls(all), reason: reasons.join("; "), confidence, score, alternatives })
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

fn given<'a>(asked: &Asked<'a>, message: &'a Message<'a>, carried: &'a [(String, String)]) -> Given<'a> {
    Given { message, carried, account: asked.account, refers: has_pronoun(message) }
}

/// One clause.
fn route(
    asked: &Asked<'_>,
    message: &Message<'_>,
    before: &Before<'_>,
    named: &[(String, String)],
) -> Routed {
    let offer = asked.offer;
    let given = given(asked, message, named);
    let ranking = Ranking::new(offer.index(), offer.offered(), given);
    let ordered = ordered(offer.index(), &ranking, message, before);
    let chosen =
        ordered.or_else(|| ranking.candidates.iter().find(|it| offer.index().tools[it.tool].is_read));
    let chosen = chosen.map(|it| narrow::to_what_was_named(offer.index(), &ranking, message, before, it));
    let nearly = nearly_ordered(offer.index(), &ranking, chosen).filter(|_| ordered.is_none());
    let is_weak = ordered.is_none() && chosen.is_none_or(|it| abstain::is_too_weak(&ranking, it));
    if is_weak || nearly.is_some() || leads(message) {
        // `What about Infosys?` is about nothing else.
        let is_bare = leads(message) && is_bare(message);
        let best = chosen.filter(|_| !is_weak && !is_bare && nearly.is_none()).map_or(0.0, |it| it.score);
        if let Some(routed) = again(asked, &ranking, given, before, best) {
            return routed;
        }
    }
    if let Some(tool) = nearly {
        let example = &offer.index().tools[tool].tool.definition.utterances[0];
        let words =
            format!("I change something only if I am told to and nothing else is said, such as: “{example}”");
        return Routed { step: Routing::Ask(words), ..nothing(offer, &ranking) };
    }
    if let Some(candidate) = chosen.filter(|_| !is_weak) {
        return call(offer, &ranking, candidate, message);
    }
    let asked_back = bare::question(offer, message);
    match asked_back.or_else(|| narrow::to_a_time(offer.index(), message, before)) {
        Some(question) => Routed { step: Routing::Ask(question), ..nothing(offer, &ranking) },
        None => nothing(offer, &ranking),
    }
}

/// The first tool that the message orders to change something, and nothing else. Behind a call that takes several names
/// its words may stand too: `add Acme to the comparison`.
fn ordered<'a>(
    index: &Index,
    ranking: &'a Ranking,
    message: &Message<'_>,
    before: &Before<'_>,
) -> Option<&'a Candidate> {
    if !message.is_order() {
        return None;
    }
    let several =
        before.calls.iter().map(|(tool, _)| *tool).filter(|tool| writes::takes_several(index, *tool));
    let several: Vec<_> = several.collect();
    let is_of_several = |word: &Word| several.iter().any(|tool| index.words.speaks_for(word, *tool));
    let is_given = |it: &&Candidate| {
        let tool = &index.tools[it.tool];
        let is_known = |word: &Word| is_of_several(word) || index.words.is_mistyped(word, it.tool);
        !tool.is_read && tool.orders.is_given(&index.words, message, &tool.slots, is_known)
    };
    ranking.candidates.iter().find(is_given)
}

/// The tool that a message is about and does not order to change anything, if no other is near.
fn nearly_ordered(index: &Index, ranking: &Ranking, read: Option<&Candidate>) -> Option<usize> {
    let first = ranking.candidates.first().filter(|first| !index.tools[first.tool].is_read)?;
    let is_near = read.is_some_and(|read| read.score >= NEAR_A_CHANGE * first.score);
    let has_example = !index.tools[first.tool].tool.definition.utterances.is_empty();
    (has_example && !is_near && !abstain::is_too_weak(ranking, first)).then_some(first.tool)
}

fn nothing(offer: &Offer, ranking: &Ranking) -> Routed {
    Routed {
        step: Routing::Nothing(abstain::no_tool(offer.index(), ranking)),
        reason: "no tool is about what is said".to_owned(),
        confidence: 0.0,
        score: 0.0,
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
    let question = question.or_else(|| writes::unnamed(indexed, &candidate.filled, message, offer.words()));
    let step = match question {
        Some(question) => Routing::Ask(question),
        None => Routing::Calls(calls(indexed.tool.definition.name.as_str(), &candidate.filled, &reason)),
    };
    Routed { step, reason, confidence: confidence(ranking, candidate), score: candidate.score, alternatives }
}

fn calls(tool: &str, filled: &Filled, reason: &str) -> Vec<PlannedCall> {
    let call = |arguments| PlannedCall {
        tool: tool.to_owned(),
        arguments,
        reason: reason.to_owned(),
        by_model: None,
    };
    filled.clone().calls().into_iter().map(call).collect()
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
    let before = Before::new(asked.history, offer.index(), |said| read(asked, said));
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
