//! A message of several parts, each routed by itself: clauses, and orders beside statements.
//!
//! Not here: where a text is split into clauses (`clauses`), which parts are statements (`statements`), and how the
//! calls of several clauses become one routing (`joined`).

use super::{
    follow_up::{Before, has_pronoun, is_bare_value},
    joined::{Joined, is_read, with_older},
    route::{find_ordered, read, route, slot_context},
    routed::{Routed, Routing},
    shared::write_out,
    statements,
};
use crate::{
    Alternative, PlanRequest, PlannedCall,
    english::english,
    matching::{
        clauses::is_retraction,
        index::{Index, Indexed},
        message::{Message, is_asking},
        orders,
        rank::Ranking,
        words::Word,
    },
    weights::weights,
};

/// The maximum number of parts between punctuation in which an order is looked for.
const MOST_PARTS: usize = 8;

/// Routes the orders of a message whose other parts are statements: `I am done with Acme, take it off my list`.
pub(super) fn route_beside_statements(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    before: &Before<'_>,
) -> Option<Routed> {
    let parts = statements::parts(whole.text);
    if !(2..=MOST_PARTS).contains(&parts.len()) {
        return None;
    }
    let (mut orders, mut stated, mut said) = (Vec::new(), Before::default(), Before::default());
    said.name_said(whole);
    for part in &parts {
        let message = read(request, part.text);
        if find_order(request, &message).is_some() {
            orders.push(message);
        } else if is_place(request.offer.index(), &message) {
            // A place before its order: `On my list, add Acme`.
        } else if part.is_statement(&message, orders.is_empty()) && !is_request(request, &message, &said) {
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

/// Finds the tool whose change a part orders by itself, whatever was said before.
fn find_order(request: &PlanRequest<'_>, part: &Message<'_>) -> Option<usize> {
    let index = request.offer.index();
    let ranking = Ranking::new(index, request.offer.flags(), slot_context(request, part, &[]));
    find_ordered(index, &ranking, part, &Before::default()).map(|it| it.tool)
}

/// Finds the tool whose change one of the clauses or sentences of a message orders.
pub(super) fn find_order_beside(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    clauses: &[Message<'_>],
) -> Option<usize> {
    let begins_so = |part: &Message<'_>| {
        let first = part.words.get(part.first());
        let tools = || request.offer.index().tools.iter().filter(|it| !it.is_read);
        first.is_some_and(|word| tools().any(|it| it.orders.has_head(&word.lower)))
    };
    let of_part = |part: &Message<'_>| if begins_so(part) { find_order(request, part) } else { None };
    clauses.iter().find_map(of_part).or_else(|| {
        let parts = statements::parts(whole.text).into_iter().take(MOST_PARTS);
        let mut parts = parts.filter(|part| part.text.len() < whole.text.len());
        parts.find_map(|part| of_part(&read(request, part.text)))
    })
}

/// Whether a part asks for something, as `TCS price`, and states nothing of it, as `TCS looks good`.
fn is_request(request: &PlanRequest<'_>, part: &Message<'_>, said: &Before<'_>) -> bool {
    // A finite verb behind its subject.
    let verbs = &request.offer.words().verbs;
    let is_finite = |word: &Word| {
        let base = word.lower.strip_suffix('s').filter(|_| !english().pronouns.has(&word.lower));
        is_asking(&word.lower) || base.is_some_and(|base| verbs.contains(base) || english().stop.has(base))
    };
    !part.words.iter().any(is_finite) && {
        let routed = route(request, part, said, &said.named);
        is_clear_request(request, part, &routed)
    }
}

/// Whether a part says only where a tool makes its change.
fn is_place(index: &Index, part: &Message<'_>) -> bool {
    if !part.words.get(part.first()).is_some_and(orders::is_direction) {
        return false;
    }
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
    let index = request.offer.index();
    let mut joined = Joined::new(before);
    let (mut is_cut, mut is_clear) = (false, true);
    for (at, clause) in clauses.iter().enumerate() {
        let last = joined.last_calls();
        let routed = with_shared(request, clause, &clauses[..at], last, before, &joined.named);
        is_cut |= whole.is_some_and(|whole| is_nearly_about(&routed, whole));
        is_clear &= match routed.changing(index) {
            Some(_) => !is_retraction(clause.text),
            None => is_clear_request(request, clause, &routed),
        };
        joined.add(index, clause, routed, may_repeat)?;
    }
    if is_cut && whole.is_some_and(|whole| whole.score >= weights().clauses.whole * joined.sum) {
        return None;
    }
    Some(joined.into_routed()).filter(|routed| is_clear || routed.changing(index).is_none())
}

/// Whether a clause asks for something and says nothing else: `on second thought its price` beside an order may take
/// that back.
fn is_clear_request(request: &PlanRequest<'_>, clause: &Message<'_>, routed: &Routed) -> bool {
    let english = english();
    let mut words =
        clause.words.iter().skip(clause.first()).skip_while(|word| english.articles.has(&word.lower));
    let Some(first) = words.next().filter(|_| !clause.content.is_empty()) else { return false };
    let is_named = clause.found.iter().any(|found| !found.is_unknown());
    let is_of_thing = || {
        let is_distributive = |word: &Word| english.distributives.has(&word.lower);
        is_named || clause.words.iter().any(is_distributive) || has_pronoun(clause, request.offer.words())
    };
    let is_ordering = request.offer.words().verbs.contains(&first.lower);
    let begins_so = is_asking(&first.lower)
        || english.wanted.has(&first.lower)
        || english.pronouns.has(&first.lower)
        || is_ordering
        || (!first.is_stop() && is_of_thing());
    let is_reported = clause.words.iter().any(|word| english.reporting.has(&word.lower));
    begins_so
        && !orders::is_phrasal(clause)
        && !is_reported
        && routed.has_every_word(request.offer.index(), clause, weights().others.taken)
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
