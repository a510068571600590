//! A message of several parts, each routed by itself: clauses, and orders beside statements.
//!
//! Not here: where a text is split into clauses (`clauses`), which parts are statements (`statements`), and how the
//! calls of several clauses become one routing (`joined`).

use super::{
    follow_up::{Before, is_bare_value},
    joined::{Joined, is_read, with_older},
    route::{find_ordered, read, route, slot_context},
    routed::{Routed, Routing},
    shared::write_out,
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

/// Routes the orders of a message whose other parts are statements: `I am done with Acme, take it off my list`.
pub(super) fn route_beside_statements(
    request: &PlanRequest<'_>,
    text: &str,
    before: &Before<'_>,
) -> Option<Routed> {
    let parts = statements::parts(text);
    if parts.len() < 2 {
        return None;
    }
    let (mut orders, mut stated) = (Vec::new(), Before::default());
    for part in &parts {
        let message = read(request, part.text);
        if is_order(request, &message) {
            orders.push(message);
        } else if is_place(request.offer.index(), &message) {
            // A place before its order: `On my list, add Acme`.
        } else if part.is_statement(&message, orders.is_empty()) {
            stated.name_said(&message);
        } else {
            return None;
        }
    }
    if orders.is_empty() {
        return None;
    }
    stated.named = with_older(stated.named, before.named.iter().cloned());
    route_each(request, &orders, &stated, false, None)
}

/// Whether a part orders a change by itself, whatever was said before.
fn is_order(request: &PlanRequest<'_>, part: &Message<'_>) -> bool {
    let index = request.offer.index();
    let ranking = Ranking::new(index, request.offer.flags(), slot_context(request, part, &[]));
    find_ordered(index, &ranking, part, &Before::default()).is_some()
}

/// Whether a part says only where a tool makes its change.
fn is_place(index: &Index, part: &Message<'_>) -> bool {
    let says_nothing_else =
        |it: &Indexed| !it.is_read && it.orders.accounts_for(part, &[], 0, orders::is_direction);
    index.tools.iter().any(says_nothing_else)
}

/// Routes each clause, if each is about a tool of its own or, where `may_repeat`, gives it other values. `None` if one
/// is about `whole`, the tool of the message as one, nearly as much as about its own: that cuts one wish in two.
pub(super) fn route_each(
    request: &PlanRequest<'_>,
    clauses: &[Message<'_>],
    before: &Before<'_>,
    may_repeat: bool,
    whole: Option<&Routed>,
) -> Option<Routed> {
    let mut joined = Joined::new(before);
    let mut is_cut = false;
    for (at, clause) in clauses.iter().enumerate() {
        let last = joined.last_calls();
        let routed = with_shared(request, clause, &clauses[..at], last, before, &joined.named);
        is_cut |= whole.is_some_and(|whole| is_nearly_about(&routed, whole));
        joined.add(request.offer.index(), clause, routed, may_repeat)?;
    }
    if is_cut && whole.is_some_and(|whole| whole.score >= weights().clauses.whole * joined.sum) {
        return None;
    }
    Some(joined.into_routed())
}

/// Whether a clause is about the tool of the whole message nearly as much as about its own.
fn is_nearly_about(clause: &Routed, whole: &Routed) -> bool {
    let least = f64::from(weights().clauses.one * clause.score);
    let is_of_whole = |it: &Alternative| whole.tool() == Some(it.tool.as_str());
    clause.alternatives.iter().any(|it| is_of_whole(it) && it.score >= least)
}

/// Routes a clause with what it shares with those before it, of which the last one has these calls. One that orders a
/// change is taken as it stands: what it changes must be said in it.
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

/// Routes the clauses that a tool is about by itself, if no tool is about any of the others, which an answer names.
pub(super) fn route_some(
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
                if routed.score >= weights().clauses.begun && routed.changing(index).is_none() =>
            {
                kept.push(read(request, clause.text));
            }
            Routing::Calls(_) | Routing::Ask(_) => return None,
        }
    }
    if kept.is_empty() { None } else { route_each(request, &kept, before, true, None) }
}
