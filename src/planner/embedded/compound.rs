//! A message of several parts, each routed by itself: clauses, halves without a verb, orders beside statements.
//!
//! Not here: where a text is split into clauses (`clauses`) and which parts are statements (`statements`).

use std::borrow::Cow;

use super::{
    follow_up::Before,
    route::{find_ordered, read, route, slot_context},
    routed::{ALTERNATIVES, Routed, Routing},
    statements,
};
use crate::{
    Alternative, PlanRequest, PlannedCall,
    matching::{
        clauses::{commas, joints},
        index::{Index, Indexed},
        message::Message,
        orders,
        rank::Ranking,
    },
    weights::weights,
};

/// The maximum number of places at which a message is tried as two halves.
const MOST_HALVES: usize = 4;

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
    each(request, &orders, &named, false)
}

/// The calls of two halves without a verb, each clearly about a tool of its own: `The price of Apple and the RSI of
/// TCS`, `RSI and news of TCS`.
pub(super) fn halves(request: &PlanRequest<'_>, whole: &Message<'_>) -> Option<Routed> {
    let is_in_name = |at: usize| whole.found.iter().any(|found| found.begin < at && at < found.end);
    let clauses = &weights().clauses;
    // A comma alone may be anything, so that either half must be surer.
    let joints = joints(whole.text).into_iter().map(|joint| (joint, clauses.sure));
    let joints = joints.chain(commas(whole.text).into_iter().map(|comma| (comma, clauses.very_sure)));
    let joints = joints.filter(|(joint, _)| !is_in_name(joint.start));
    let routed = joints.take(MOST_HALVES).filter_map(|(joint, least)| {
        let (left, right) = (&whole.text[..joint.start], &whole.text[joint.end..]);
        let halves = [with_names(request, left, right), with_names(request, right, left)];
        let halves = [read(request, &halves[0]), read(request, &halves[1])];
        each(request, &halves, &Before::default(), false).filter(|it| it.score >= least)
    });
    routed.max_by(|left, right| left.score.total_cmp(&right.score))
}

/// A half with the names of the other one behind it, if it has none itself and is then more clearly about a tool.
fn with_names<'a>(request: &PlanRequest<'_>, half: &'a str, other: &str) -> Cow<'a, str> {
    let (message, other) = (read(request, half), read(request, other));
    let is_named = |message: &Message<'_>| message.found.iter().any(|found| !found.is_unknown());
    if is_named(&message) || !is_named(&other) {
        return half.into();
    }
    let others = other.found.iter().map(|found| &other.text[found.begin..found.end]);
    let named = std::iter::once(half).chain(others).collect::<Vec<_>>().join(" ");
    let score = |message: &Message<'_>| match route(request, message, &Before::default(), &[]) {
        Routed { step: Routing::Calls(_), score, .. } => score,
        _ => 0.0,
    };
    let is_better = score(&read(request, &named)) > score(&message);
    if is_better { named.into() } else { half.into() }
}

/// The calls of all clauses, if each is about a tool of its own or, where `may_repeat`, gives it other values.
pub(super) fn each(
    request: &PlanRequest<'_>,
    clauses: &[Message<'_>],
    before: &Before<'_>,
    may_repeat: bool,
) -> Option<Routed> {
    let (mut all, mut reasons, mut alternatives) = (Vec::new(), Vec::new(), Vec::new());
    let (mut confidence, mut score) = (1.0_f32, f32::MAX);
    let mut named = before.named.clone();
    for clause in clauses {
        let routed = route(request, clause, before, &named);
        let Routing::Calls(calls) = routed.step else { return None };
        let tool = calls.first()?.tool.clone();
        if all.iter().any(|call: &PlannedCall| call.tool == tool) {
            // A repetition is one call: `Acme to my list, please add it`.
            let is_said = |call: &PlannedCall| all.iter().any(|it| it.arguments == call.arguments);
            if calls.iter().all(is_said) {
                continue;
            }
            if !may_repeat {
                return None;
            }
        }
        named = newer(request.offer.index(), &calls, named);
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
    if kept.is_empty() { None } else { each(request, &kept, before, true) }
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
