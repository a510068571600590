//! A message of several parts, each routed by itself: clauses, and orders beside statements.
//!
//! Not here: where a text is split into clauses (`clauses`) and which parts are statements (`statements`).

use serde_json::Value;

use super::{
    follow_up::{Before, is_bare_value},
    route::{find_ordered, read, route, slot_context},
    routed::{ALTERNATIVES, Routed, Routing},
    shared::write_out,
    statements,
};
use crate::{
    Alternative, PlanRequest, PlannedCall,
    english::english,
    matching::{
        index::{Index, Indexed},
        message::Message,
        orders,
        rank::Ranking,
    },
    weights::weights,
};

/// The orders of a message whose other parts are statements: `I am done with Acme, take it off my list`.
pub(super) fn beside_statements(
    request: &PlanRequest<'_>,
    text: &str,
    before: &Before<'_>,
) -> Option<Routed> {
    let parts = statements::parts(text);
    let parts: Vec<_> = parts.iter().map(|part| (read(request, part.text), part)).collect();
    let is_order = |message: &Message<'_>| {
        let ranking =
            Ranking::new(request.offer.index(), request.offer.flags(), slot_context(request, message, &[]));
        find_ordered(request.offer.index(), &ranking, message, &Before::default()).is_some()
    };
    let is_place = |message: &Message<'_>| {
        let says_nothing_else =
            |it: &Indexed| !it.is_read && it.orders.accounts_for(message, &[], 0, orders::is_direction);
        request.offer.index().tools.iter().any(says_nothing_else)
    };
    let (mut orders, mut named) = (Vec::new(), Before::default());
    for (message, part) in parts {
        if is_order(&message) {
            orders.push(message);
        } else if is_place(&message) {
            // A place before its order: `On my list, add Acme`.
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
    each(request, &orders, &named, false, None)
}

/// The calls of all clauses, if each is about a tool of its own or, where `may_repeat`, gives it other values. `None`
/// if one is about `whole`, the tool of the message as one, nearly as much as about its own: that cuts one wish in two.
pub(super) fn each(
    request: &PlanRequest<'_>,
    clauses: &[Message<'_>],
    before: &Before<'_>,
    may_repeat: bool,
    whole: Option<&Routed>,
) -> Option<Routed> {
    let (mut all, mut reasons, mut alternatives) = (Vec::new(), Vec::new(), Vec::new());
    let (mut confidence, mut score, mut sum) = (1.0_f32, f32::MAX, 0.0);
    let mut named = before.named.clone();
    let mut is_cut = false;
    // Where the calls of the clause before begin.
    let mut last = 0;
    for (at, clause) in clauses.iter().enumerate() {
        let index = request.offer.index();
        let routed = with_shared(request, clause, &clauses[..at], &all[last..], before, &named);
        last = all.len();
        let Routing::Calls(mut calls) = routed.step else { return None };
        let tool = calls.first()?.tool.clone();
        // `And which one is down?` asks of the same time and account.
        let refers = clause.words.iter().any(|word| english().indefinites.has(&word.lower));
        let earlier = all.iter().find(|it| it.tool == tool).filter(|_| refers && is_read(index, &tool));
        let is_ellipsis = earlier.is_some();
        for (name, value) in earlier.into_iter().flat_map(|it| &it.arguments) {
            for call in &mut calls {
                call.arguments.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        let is_of_whole =
            |it: &Alternative| whole.is_some_and(|whole| whole.tool() == Some(it.tool.as_str()));
        let is_near = |it: &Alternative| it.score >= f64::from(weights().clauses.one * routed.score);
        is_cut |= routed.alternatives.iter().any(|it| is_of_whole(it) && is_near(it));
        if all.iter().any(|call: &PlannedCall| call.tool == tool) {
            // A repetition is one call: `Acme to my list, please add it`. So is what gives less than the clause before.
            let is_said = |call: &PlannedCall| all.iter().any(|it| has_all(it, call));
            if calls.iter().all(is_said) {
                continue;
            }
            if !may_repeat {
                return None;
            }
        }
        named = newer(index, &calls, named);
        confidence = confidence.min(routed.confidence);
        // An ellipsis says less of what it repeats.
        score = if is_ellipsis { score } else { score.min(routed.score) };
        sum += routed.score;
        reasons.push(routed.reason);
        alternatives.extend(routed.alternatives);
        all.extend(calls);
    }
    if is_cut && whole.is_some_and(|whole| whole.score >= weights().clauses.whole * sum) {
        return None;
    }
    alternatives.retain(|other: &Alternative| !all.iter().any(|call| call.tool == other.tool));
    alternatives.truncate(ALTERNATIVES);
    let step = Routing::Calls(all);
    Some(Routed { step, reason: reasons.join("; "), confidence, score, sum, alternatives })
}

/// Whether a call has all that another one has.
fn has_all(call: &PlannedCall, other: &PlannedCall) -> bool {
    let has = |(name, value): (&String, &Value)| call.arguments.get(name) == Some(value);
    call.tool == other.tool && other.arguments.iter().all(has)
}

/// Routes a clause with what it shares with those before it, of which the last one has these calls. One that orders a
/// change is taken as it stands.
fn with_shared(
    request: &PlanRequest<'_>,
    clause: &Message<'_>,
    earlier: &[Message<'_>],
    calls: &[PlannedCall],
    before: &Before<'_>,
    named: &[(String, String)],
) -> Routed {
    let index = request.offer.index();
    let may_follow = !calls.is_empty() && calls.iter().all(|call| is_read(index, &call.tool));
    let route = |clause: &Message<'_>| {
        // `… and the same for my other account` follows up on the clause before, if that changes nothing.
        if may_follow && is_bare_value(clause) {
            route(request, clause, &Before::of_calls(index, calls), named)
        } else {
            route(request, clause, before, named)
        }
    };
    let as_it_stands = route(clause);
    if as_it_stands.changing(index).is_some() {
        return as_it_stands;
    }
    let written = write_out(clause, earlier).map(|text| route(&read(request, &text)));
    written.filter(|it| it.changing(index).is_none()).unwrap_or(as_it_stands)
}

fn is_read(index: &Index, tool: &str) -> bool {
    index.place(tool).is_some_and(|tool| index.tools[tool].is_read)
}

/// The calls of the clauses that a tool is clearly about, if no tool has anything of the others. An answer says which
/// those are.
pub(super) fn some(
    request: &PlanRequest<'_>,
    clauses: &[Message<'_>],
    before: &Before<'_>,
) -> Option<Routed> {
    let index = request.offer.index();
    let mut kept = Vec::new();
    for clause in clauses {
        let routed = route(request, clause, before, &before.named);
        match routed.step {
            Routing::Nothing(_) => {}
            Routing::Calls(_)
                if routed.score >= weights().clauses.sure && routed.changing(index).is_none() =>
            {
                kept.push(read(request, clause.text));
            }
            Routing::Calls(_) | Routing::Ask(_) => return None,
        }
    }
    if kept.is_empty() { None } else { each(request, &kept, before, true, None) }
}

/// The earlier names, with those of each kind that the calls name replaced.
fn newer(index: &Index, calls: &[PlannedCall], older: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut before = Before::default();
    for call in calls {
        if let Some(tool) = index.place(&call.tool) {
            before.name(index, tool, call);
        }
    }
    let mut named = before.named;
    let kinds: Vec<_> = named.iter().map(|(kind, _)| kind.clone()).collect();
    named.extend(older.into_iter().filter(|(kind, _)| !kinds.contains(kind)));
    named
}
