//! A message of several parts, each routed by itself: clauses, halves without a verb, orders beside statements.
//!
//! Not here: where a text is split into clauses (`clauses`) and which parts are statements (`statements`).

use super::{
    follow_up::Before,
    route::{find_ordered, read, route, slot_context},
    routed::{ALTERNATIVES, Routed, Routing},
    statements,
};
use crate::{
    Alternative, PlanRequest, PlannedCall,
    matching::{
        index::{Index, Indexed},
        message::Message,
        orders,
        rank::Ranking,
    },
    weights::weights,
};

/// The maximum number of places at which a message is tried as two halves.
const MOST_HALVES: usize = 3;

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
    each(request, &orders, &named)
}

/// The calls of two halves without a verb, each clearly about a tool and a name of its own: `The price of Apple and the
/// RSI of TCS`.
pub(super) fn halves(request: &PlanRequest<'_>, text: &str) -> Option<Routed> {
    let has_name = |half: &Message<'_>| half.found.iter().any(|found| !found.is_unknown());
    let halves = text.match_indices(" and ").take(MOST_HALVES).map(|(at, and)| {
        let halves = [&text[..at], &text[at + and.len()..]];
        halves.map(|half| read(request, half))
    });
    let halves = halves.filter(|halves| halves.iter().all(has_name));
    let routed = halves.filter_map(|halves| each(request, &halves, &Before::default()));
    let least = weights().clauses.sure;
    routed.filter(|it| it.score >= least).max_by(|left, right| left.score.total_cmp(&right.score))
}

/// The calls of all clauses, if each is about a tool of its own.
pub(super) fn each(
    request: &PlanRequest<'_>,
    clauses: &[Message<'_>],
    before: &Before<'_>,
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
            return None;
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
