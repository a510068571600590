//! The first step of a cycle: refuses an order, proposes a change, or shows what one call answers as a whole.

use super::{
    abstain,
    coverage::uncovered,
    follow_up::{Before, again, has_pronoun, loses_argument},
    name_only,
};
use crate::{
    Alternative, Offer, Plan, PlanRequest, PlannedCall, Step,
    matching::{
        index::{Index, Indexed},
        message::Message,
        names::NameMatch,
        rank::{Candidate, Ranking},
        slots::{Filled, SlotContext},
        words::{MOST_ANSWERED, is_too_long},
    },
    weights::weights,
};

/// Maximum length, in words, of a message that can answer a question of the planner.
const SHORT: usize = 6;

/// Maximum number of parts that a question says are not understood.
const MOST_UNCLEAR: usize = 8;

/// Maximum number of alternatives reported.
const ALTERNATIVES: usize = 3;

/// Plans the first step.
pub(super) fn first(request: &PlanRequest<'_>) -> Plan {
    if request.offer.tools().is_empty() {
        return plan(Step::Clarify("No tools are currently available.".to_owned()), "there is no tool");
    }
    if is_too_long(request.message) {
        let words =
            format!("I answer one question of at most {MOST_ANSWERED} words at a time. Please ask in fewer.");
        return plan(Step::Clarify(words), "the message is too long for one question");
    }
    let before = Before::new(request.history, request.offer.index(), |said| read(request, said));
    let message = read(request, request.message);
    let completed = before.pending.filter(|_| is_answer(request, &message));
    match completed.map(|pending| complete(request, pending, &message)) {
        Some(text) => plan_message(request, &read(request, &text), &before),
        None => plan_message(request, &message, &before),
    }
}

/// A plan without a ranking.
pub(super) fn plan(step: Step, reason: &str) -> Plan {
    Plan { step, reason: reason.to_owned(), confidence: 0.0, alternatives: Vec::new() }
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
    SlotContext { message, carried, account: request.account, refers }
}

/// The calls of a tool, one for each name where it takes one.
pub(super) fn calls(tool: &Indexed, filled: &Filled, reason: &str) -> Vec<PlannedCall> {
    let call = |arguments| PlannedCall {
        tool: tool.tool.definition.name.to_string(),
        arguments,
        reason: reason.to_owned(),
        by_model: None,
    };
    filled.clone().calls().into_iter().map(call).collect()
}

/// The pending message with the answer to our question: the name in place of the ambiguous one, or the missing part at
/// the end.
fn complete(request: &PlanRequest<'_>, pending: &str, answer: &Message<'_>) -> String {
    let said = read(request, pending);
    let unclear = said.found.iter().find(|found| !found.candidates.is_empty());
    let is_clear = |found: &NameMatch| found.candidates.is_empty() && !found.is_unknown();
    match unclear.filter(|_| answer.content.is_empty() && answer.found.iter().any(is_clear)) {
        Some(unclear) => format!("{}{}{}", &pending[..unclear.begin], answer.text, &pending[unclear.end..]),
        None => format!("{} {}", pending.trim_end_matches(['?', '.', '!', ' ']), answer.text),
    }
}

/// Whether the message answers a question of ours: it is short, and speaks for no tool by itself.
fn is_answer(request: &PlanRequest<'_>, message: &Message<'_>) -> bool {
    if message.words.len() > SHORT {
        return false;
    }
    let given = SlotContext { message, carried: &[], account: None, refers: false };
    let ranking = Ranking::new(request.offer.index(), request.offer.flags(), given);
    ranking.candidates.first().is_none_or(|first| abstain::is_hardly_meant(&ranking, first))
}

fn plan_message(request: &PlanRequest<'_>, message: &Message<'_>, before: &Before<'_>) -> Plan {
    let (offer, index) = (request.offer, request.offer.index());
    let ranking = Ranking::new(index, offer.flags(), slot_context(request, message, &before.named));
    if let Some(order) = find_order(offer, message, before) {
        return of_calls(index, &ranking, order);
    }
    if let Some((tool, calls)) =
        again(index, request.history, message).filter(|(tool, _)| offer.flags()[*tool])
    {
        return of_calls(index, &ranking, Chosen { tool, calls });
    }
    if let Some(answer) = abstain::order(index, message, offer.words()) {
        return plan(Step::Refuse(answer.to_owned()), "it is an order that no tool carries out");
    }
    if let Some(tool) = nearly_ordered(offer, &ranking, message) {
        return ranked(Step::Clarify(ask_for_order(tool)), index, &ranking, "the order is not understood");
    }
    let Some((candidate, unclear)) = choose(offer, &ranking, message) else {
        let question = name_only::question(offer, message);
        let words = question.unwrap_or_else(|| abstain::no_tool(index, &ranking));
        return ranked(Step::Clarify(words), index, &ranking, "no tool is about what is said");
    };
    let tool = &index.tools[candidate.tool];
    let reason = reason(index, &ranking, message, candidate);
    let missing = candidate.filled.missing.first();
    let missing = || missing.map(|slot| abstain::question(&tool.slots[*slot], message, offer.words()));
    if let Some(question) = candidate.filled.correction.clone().or_else(missing) {
        return ranked(Step::Clarify(question), index, &ranking, &reason);
    }
    if let Some(rival) = rival(offer, &ranking, candidate).filter(|_| unclear.is_empty()) {
        let question = format!("Do you mean “{}” or “{}”?", title(tool), title(rival));
        return ranked(Step::Clarify(question), index, &ranking, "two tools are about what is said");
    }
    let calls = calls(tool, &candidate.filled, &reason);
    let mut unclear = unclear;
    if unclear.is_empty() && loses_argument(request.history, message, tool, &calls) {
        unclear.push(&message.text[..message.words[0].end]);
    }
    if unclear.is_empty() {
        return of_calls(index, &ranking, Chosen { tool: candidate.tool, calls });
    }
    let unclear = unclear.into_iter().take(MOST_UNCLEAR).map(str::to_owned).collect();
    ranked(Step::Offer { calls, unclear }, index, &ranking, "a part of the message is not understood")
}

/// Calls of one tool.
struct Chosen {
    tool: usize,
    calls: Vec<PlannedCall>,
}

fn of_calls(index: &Index, ranking: &Ranking, chosen: Chosen) -> Plan {
    let reason = chosen.calls.first().map(|call| call.reason.clone()).unwrap_or_default();
    let confidence = f64::from((confidence(ranking, chosen.tool) * 100.0).round()) / 100.0;
    let alternatives = alternatives(index, ranking, Some(chosen.tool));
    Plan { step: Step::Call(chosen.calls), reason, confidence, alternatives }
}

fn ranked(step: Step, index: &Index, ranking: &Ranking, reason: &str) -> Plan {
    Plan { alternatives: alternatives(index, ranking, None), ..plan(step, reason) }
}

/// The change that the whole message orders.
fn find_order(offer: &Offer, message: &Message<'_>, before: &Before<'_>) -> Option<Chosen> {
    let tools = offer.index().tools.iter().zip(offer.flags()).enumerate();
    let mut changing = tools.filter(|(_, (tool, is_offered))| **is_offered && !tool.is_read);
    changing.find_map(|(at, (tool, _))| {
        let arguments = tool.orders.read(message, &tool.slots, &before.named, &offer.index().words)?;
        let reason = "the message is an order to this tool".to_owned();
        let name = tool.tool.definition.name.to_string();
        let call = PlannedCall { tool: name, arguments, reason, by_model: None };
        Some(Chosen { tool: at, calls: vec![call] })
    })
}

/// The tool that changes something and that a message is about without being one of its orders, unless it is a
/// question.
fn nearly_ordered<'a>(offer: &'a Offer, ranking: &Ranking, message: &Message<'_>) -> Option<&'a Indexed> {
    if !message.is_order() {
        return None;
    }
    let index = offer.index();
    let has_example = |tool: &Indexed| !tool.tool.definition.utterances.is_empty();
    let begun = || {
        let mut tools = index.tools.iter().zip(offer.flags());
        let found = tools.find(|(tool, is_offered)| {
            **is_offered && !tool.is_read && tool.orders.is_begun(message, &index.words)
        });
        found.map(|(tool, _)| tool)
    };
    let first = || {
        let first = ranking.candidates.first().filter(|first| !abstain::is_too_weak(ranking, first))?;
        Some(&index.tools[first.tool]).filter(|tool| !tool.is_read)
    };
    begun().or_else(first).filter(|tool| has_example(tool))
}

/// The answer to a message that nearly orders a change: an example of an order.
fn ask_for_order(tool: &Indexed) -> String {
    let example = tool.tool.definition.utterances.first().map_or("", String::as_str);
    format!("I change something only if I understand the whole order, such as: “{example}”")
}

/// The tool that reads what is asked, with the words of the message that its call does not cover.
fn choose<'r, 'a>(
    offer: &Offer,
    ranking: &'r Ranking,
    message: &Message<'a>,
) -> Option<(&'r Candidate, Vec<&'a str>)> {
    let mut candidates = reading(offer, ranking);
    let first = candidates.next().filter(|first| !abstain::is_too_weak(ranking, first))?;
    let unclear = uncovered(offer, message, first);
    // `Yes, but not now` says nothing that could be offered.
    let says = unclear.is_empty() || !message.content.is_empty() || !message.found.is_empty();
    says.then_some((first, unclear))
}

fn reading<'r>(offer: &Offer, ranking: &'r Ranking) -> impl Iterator<Item = &'r Candidate> {
    ranking.candidates.iter().filter(|it| offer.index().tools[it.tool].is_read)
}

/// The tool that a message speaks for nearly as much as for the first one, unless it is an example of that.
fn rival<'a>(offer: &'a Offer, ranking: &Ranking, first: &Candidate) -> Option<&'a Indexed> {
    let near = weights().others.rival * first.score..=first.score;
    let is_near =
        |it: &&Candidate| it.tool != first.tool && near.contains(&it.score) && it.filled.missing.is_empty();
    let rival = reading(offer, ranking).find(is_near).filter(|_| !first.is_said)?;
    Some(&offer.index().tools[rival.tool])
}

fn title(tool: &Indexed) -> &str {
    let definition = &tool.tool.definition;
    if definition.title.is_empty() { definition.name.as_str() } else { &definition.title }
}

fn reason(index: &Index, ranking: &Ranking, message: &Message<'_>, candidate: &Candidate) -> String {
    let words = ranking.words(index, message, candidate.tool);
    let words: Vec<_> = words.iter().take(3).map(|word| format!("“{word}”")).collect();
    format!("chosen by the words {}", words.join(", "))
}

/// The confidence in a tool: it grows with the share of the message that is known and with the lead over the next tool.
fn confidence(ranking: &Ranking, tool: usize) -> f32 {
    let score = ranking.candidates.iter().find(|it| it.tool == tool).map_or(1.0, |it| it.score);
    let next = ranking.candidates.iter().find(|it| it.tool != tool).map_or(0.0, |it| it.score);
    let ahead = (1.0 - next / score).clamp(0.0, 1.0);
    let weights = &weights().confidence;
    ranking.coverage * (weights.alone + weights.ahead * ahead)
}

/// The best tools except the chosen one.
fn alternatives(index: &Index, ranking: &Ranking, chosen: Option<usize>) -> Vec<Alternative> {
    let others = ranking.candidates.iter().filter(|it| Some(it.tool) != chosen);
    let alternative = |it: &Candidate| Alternative {
        tool: index.tools[it.tool].tool.definition.name.to_string(),
        score: f64::from((it.score * 100.0).round()) / 100.0,
    };
    others.take(ALTERNATIVES).map(alternative).collect()
}
