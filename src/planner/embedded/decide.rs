//! The first step of a cycle: refuses an order, splits the message, follows up on earlier turns, or chooses by rank.

use std::slice;

use super::{
    abstain,
    compound::{find_order_beside, route_beside_statements, route_each, route_some},
    follow_up::Before,
    halves::{route_halves, route_one_half, with_last_time, with_names_if_any},
    listed::{Pointed, resolve, resolve_history},
    places::may_be_more,
    repeat_last::repeat_last,
    route::{read, route},
    routed::{Routed, Routing},
    writes::{self, Meant},
};
use crate::{
    Alternative, Plan, PlanRequest, PlannedCall, Step,
    english::english,
    matching::{
        clauses::{clauses, refusal, too_many, without_retraction},
        index::Indexed,
        message::Message,
        names::NameMatch,
        rank::Ranking,
        slots::SlotContext,
    },
    weights::weights,
};

/// Maximum length, in words, of a message that can answer a question of the planner.
const SHORT: usize = 6;

/// Plans the first step.
pub(super) fn first(request: &PlanRequest<'_>) -> Plan {
    if request.offer.tools().is_empty() {
        return plan(Step::Clarify("No tools are currently available.".to_owned()), "there is no tool");
    }
    let history = resolve_history(request);
    let message = without_retraction(request.message);
    let request = &PlanRequest { message, history: &history, ..*request };
    let pointed = match resolve(request, request.history, request.message) {
        Pointed::No => None,
        Pointed::To(text) => Some(text),
        Pointed::Unclear(question) => {
            let parts = read_clauses(request, request.message);
            let unclear = || plan(Step::Clarify(question), "it points to an entry of no list");
            return refuse_orders(request, &parts).unwrap_or_else(unclear);
        }
    };
    let request = &PlanRequest { message: pointed.as_deref().unwrap_or(request.message), ..*request };
    let before = Before::new(
        request.history,
        request.offer.index(),
        |said| read(request, said),
        || replan_last(request),
    );
    let message = read(request, request.message);
    match before.pending.filter(|_| is_answer(request, &message)) {
        Some(pending) => {
            plan_message(request, &read(request, &complete(request, pending, &message)), &before)
        }
        None => plan_message(request, &message, &before),
    }
}

/// The calls that the message of the last exchange would be planned as, if only the caller's own history has it: that
/// holds no calls. A follow-up refers to them; they are not made again.
fn replan_last(request: &PlanRequest<'_>) -> Vec<PlannedCall> {
    let last = request.history.last().filter(|last| last.calls.is_empty() && !last.is_open);
    let Some(last) = last else { return Vec::new() };
    let message = read(request, &last.said);
    match plan_message(request, &message, &Before::default()).step {
        Step::Call(calls) => calls,
        _ => Vec::new(),
    }
}

/// A plan without calls.
pub(super) fn plan(step: Step, reason: &str) -> Plan {
    Plan { step, reason: reason.to_owned(), confidence: 0.0, alternatives: Vec::new() }
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
    let given = SlotContext { message, carried: &[], account: None, refers: false, goes_on: false };
    let ranking = Ranking::new(request.offer.index(), request.offer.flags(), given);
    ranking.candidates.first().is_none_or(|first| abstain::is_hardly_meant(&ranking, first))
}

fn read_clauses<'a>(request: &PlanRequest<'_>, text: &'a str) -> Vec<Message<'a>> {
    clauses(text, request.offer.words()).into_iter().map(|part| read(request, part)).collect()
}

/// Plans the message as one, unless every part of it is clearly about a tool of its own.
fn plan_message(request: &PlanRequest<'_>, whole: &Message<'_>, before: &Before<'_>) -> Plan {
    let mut parts = read_clauses(request, whole.text);
    parts.retain(|part| part.text.len() < whole.text.len());
    let said = if parts.is_empty() { slice::from_ref(whole) } else { &parts };
    if let Some(refused) = refuse_orders(request, said) {
        return refused;
    }
    if let Some(count) = too_many(whole.text) {
        return plan(Step::Clarify(refusal(count)), "it asks for too much at once");
    }
    let routed = route(request, whole, before, &before.named);
    // An order is not split: `and` in it joins names.
    let is_changing = |routed: &Routed| routed.changing(request.offer.index()).is_some();
    let is_one = is_changing(&routed);
    let split = if is_one {
        None
    } else if let Some(routed) = route_beside_statements(request, whole, before) {
        return answer_at_once(request, whole, routed);
    } else {
        split(request, whole, &parts, before, &routed)
    };
    let routed = match split {
        Some(split) => split,
        None if matches!(routed.step, Routing::Nothing(_)) => {
            let some = route_some(request, &parts, before);
            some.or_else(|| route_one_half(request, whole, before, None)).unwrap_or(routed)
        }
        None if !is_one => route_one_half(request, whole, before, Some(&routed)).unwrap_or(routed),
        None => routed,
    };
    let routed = match resolve_change(request, whole, before, routed) {
        Ok(routed) => routed,
        Err(question) => {
            return plan(Step::Clarify(question), "two things may be changed");
        }
    };
    let may_hide_an_order = routed.count() > 0 && !is_changing(&routed);
    let hidden = if may_hide_an_order { find_order_beside(request, whole, said) } else { None };
    match hidden {
        Some(tool) => ask_for_order(request, tool, whole),
        None => answer_at_once(request, whole, routed),
    }
}

/// The answer, but for a change that is ordered on a condition: the agent does not run later, when that is met.
fn answer_at_once(request: &PlanRequest<'_>, whole: &Message<'_>, routed: Routed) -> Plan {
    let index = request.offer.index();
    match routed.changing(index).filter(|tool| writes::is_on_condition(&index.tools[*tool], whole)) {
        Some(tool) => ask_for_order(request, tool, whole),
        None => answer(routed),
    }
}

/// Asks for an order by itself: this one depends on a condition, or what stands beside it is unclear.
fn ask_for_order(request: &PlanRequest<'_>, tool: usize, whole: &Message<'_>) -> Plan {
    let example = writes::ask_for_order(&request.offer.index().tools[tool], whole);
    plan(Step::Clarify(example), "the order depends on a condition or is not understood")
}

/// The calls of a message's clauses or halves, if they are surer than those of the whole as one wish.
fn split(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    parts: &[Message<'_>],
    before: &Before<'_>,
    one: &Routed,
) -> Option<Routed> {
    // Clauses of which one lacks what another names, as halves do: `PE and what's the RSI of TCS`.
    let texts: Vec<_> = parts.iter().map(|part| with_names_if_any(request, part, whole)).collect();
    let texts = with_last_time(request, &texts);
    let timed: Vec<_> = texts.iter().map(|text| read(request, text)).collect();
    let by_clause = if parts.len() > 1 { route_each(request, &timed, before, true, None) } else { None };
    // A clause may be two halves itself: `RSI and news of TCS, and its price`.
    let is_tried = by_clause.is_none() || may_be_more(whole, parts.len());
    let by_half = is_tried.then(|| route_halves(request, whole, one)).flatten();
    let weights = &weights().clauses;
    let (parts, least) = match (by_clause, by_half) {
        (Some(clauses), Some(halves)) if halves.count() > clauses.count() => (halves, weights.sure),
        (Some(clauses), _) => (clauses, weights.begun),
        (None, halves) => (halves?, weights.sure),
    };
    // A split that loses the tool of the whole message must be surer: it may cut one question in two. So may one whose
    // parts say hardly more for their tools than the whole does for its own.
    let says_more = one.score < weights.whole * parts.sum;
    let is_near = |it: &Alternative| it.score >= f64::from(weights.near * one.score);
    let mut near = one.alternatives.iter().filter(|it| is_near(it));
    let keeps = parts.calls(one.tool()) || near.any(|it| parts.calls(Some(&it.tool)));
    let least = if keeps || says_more { least } else { weights.very_sure };
    Some(parts).filter(|parts| parts.score >= least)
}

fn answer(routed: Routed) -> Plan {
    let (step, confidence) = match routed.step {
        Routing::Calls(calls) => (Step::Call(calls), routed.confidence),
        Routing::Ask(question) | Routing::Nothing(question) => (Step::Clarify(question), 0.0),
    };
    let confidence = f64::from((confidence * 100.0).round()) / 100.0;
    Plan { step, reason: routed.reason, confidence, alternatives: routed.alternatives }
}

/// Refuses a message with an order that no tool carries out. What stands before it, and every other clause, is named if
/// a tool is about it: it is not answered beside a refusal.
fn refuse_orders(request: &PlanRequest<'_>, said: &[Message<'_>]) -> Option<Plan> {
    let refused: Vec<_> = said.iter().map(|part| order_refusal(request, part)).collect();
    let (answer, _) = *refused.iter().flatten().next()?;
    let mut before = Before::default();
    for part in said {
        before.name_said(part);
    }
    let unanswered = |(part, refused): (&Message<'_>, &Option<(_, usize)>)| {
        let text = refused.map_or(part.text, |(_, begin)| before_order(part, begin));
        let text = text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let routed = |before: &Before<'_>| route(request, &read(request, &text), before, &before.named);
        let is_called = routed(&before).count() > 0 || routed(&Before::default()).count() > 0;
        is_called.then_some(text)
    };
    let rest: Vec<_> = said.iter().zip(&refused).filter_map(unanswered).collect();
    let answer = match rest.join(", ").as_str() {
        "" => answer.to_owned(),
        rest => format!("{answer} I have not looked into “{rest}”: ask for that by itself."),
    };
    Some(plan(Step::Refuse(answer), "it is an order that no tool carries out"))
}

/// The text before an order, without what joins the two.
fn before_order<'a>(part: &Message<'a>, begin: usize) -> &'a str {
    let before = part.words.iter().take_while(|word| word.begin < begin);
    let before: Vec<_> = before.collect();
    let said = before.iter().rposition(|word| !english().next.has(&word.lower));
    said.map_or("", |last| &part.text[..before[last].end])
}

/// The answer to an order that no tool carries out, and where the order begins. `Get rid of it on my list` is not one:
/// a tool does.
fn order_refusal<'a>(request: &PlanRequest<'a>, part: &Message<'_>) -> Option<(&'a str, usize)> {
    let refused = abstain::order(request.offer.index(), part, request.offer.words())?;
    let is_done = |(tool, is_offered): (&Indexed, &bool)| {
        let says_more = part.content.iter().any(|(_, at)| !refused.verb.contains(at));
        *is_offered
            && !tool.is_read
            && says_more
            && tool.orders.is_given(&request.offer.index().words, part, &tool.slots, |_| false)
    };
    let mut offered = request.offer.index().tools.iter().zip(request.offer.flags());
    // An order that ends with its verb begins with its object.
    let begin = if refused.is_last { 0 } else { part.words[refused.verb.start].begin };
    (!offered.any(is_done)).then_some((refused.answer, begin))
}

/// Resolves a change behind a call that takes several names: the change itself, the last call with one name more, or
/// the question which of them is meant.
fn resolve_change(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    before: &Before<'_>,
    routed: Routed,
) -> Result<Routed, String> {
    let (offer, index) = (request.offer, request.offer.index());
    let Some(change) = routed.changing(index) else { return Ok(routed) };
    match writes::resolve_target(index, change, before, whole) {
        Meant::Change => Ok(routed),
        Meant::Either(question) => Err(question),
        Meant::Last => {
            let given = SlotContext {
                message: whole,
                carried: &[],
                account: request.account,
                refers: false,
                goes_on: false,
            };
            let ranking = Ranking::new(index, offer.flags(), given);
            repeat_last(request, &ranking, given, before, 0.0)
                .ok_or_else(|| abstain::no_tool(index, &ranking))
        }
    }
}
