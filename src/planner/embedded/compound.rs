//! A message of several parts, each routed by itself: clauses, halves without a verb, orders beside statements.
//!
//! Not here: where a text is split into clauses (`clauses`) and which parts are statements (`statements`).

use std::{borrow::Cow, ops::Range};

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
        clauses::{commas, joints},
        index::{Index, Indexed},
        message::Message,
        names::ACCOUNT,
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
    each(request, &orders, &named, false, None)
}

/// The calls of two halves without a verb, each clearly about a tool of its own: `The price of Apple and the RSI of
/// TCS`, `RSI and news of TCS`.
///
/// `tool` is that of the whole message.
pub(super) fn halves(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    tool: Option<&str>,
    is_one: bool,
) -> Option<Routed> {
    let clauses = &weights().clauses;
    // A comma alone may be anything, so that either half must be surer.
    let bounded = |find| places(whole, find).take(MOST_HALVES);
    let joints: Vec<_> = bounded(joints).map(|joint| (joint, clauses.sure)).collect();
    let commas: Vec<_> = bounded(commas).map(|comma| (comma, clauses.very_sure)).collect();
    let list = (joints.len() + commas.len() > 1).then(|| {
        let mut all: Vec<_> = joints.iter().chain(&commas).cloned().collect();
        all.sort_by_key(|(place, _)| place.start);
        all
    });
    let split = |places: &[(Range<usize>, f32)]| {
        let mut begin = 0;
        let mut parts: Vec<_> = places
            .iter()
            .map(|(place, _)| &whole.text[std::mem::replace(&mut begin, place.end)..place.start])
            .collect();
        parts.push(&whole.text[begin..]);
        let parts: Vec<_> = parts.into_iter().map(|part| with_names(request, part, whole)).collect();
        let parts: Vec<_> = parts.iter().map(|part| read(request, part)).collect();
        let may_repeat = parts.len() == 2 && gives_another(whole, &parts[0], &parts[1]);
        if is_one && !may_repeat {
            return None;
        }
        let routed = each(request, &parts, &Before::default(), may_repeat, tool)?;
        // Another part may say that the order is reported: `stop watching Acme, they said, and the price of TCS`.
        let is_reported = || whole.words.iter().any(|word| english().reporting.has(&word.lower));
        let changes = routed.changing(request.offer.index()).is_some();
        (!changes || !is_reported()).then_some(routed)
    };
    // All of `price, news and P/E of Acme`, before two halves.
    let list = list.filter(|all| all.len() < MOST_HALVES).and_then(|all| split(&all));
    list.filter(|it| it.score >= clauses.sure).or_else(|| {
        let places = joints.into_iter().chain(commas).take(MOST_HALVES);
        let routed = places.filter_map(|place| {
            let least = place.1;
            split(&[place]).filter(|it| it.score >= least)
        });
        routed.max_by(|left, right| left.score.total_cmp(&right.score))
    })
}

/// The places at which a message may be split that are not within a name or a time, as `between June and August`.
fn places<'a>(
    whole: &'a Message<'_>,
    find: fn(&str) -> Vec<Range<usize>>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let is_in_name = |at: usize| whole.found.iter().any(|found| found.begin < at && at < found.end);
    let is_in_time = |place: &Range<usize>| is_between(whole, place, |at| whole.times.takes(at));
    find(whole.text).into_iter().filter(move |place| !is_in_name(place.start) && !is_in_time(place))
}

/// Whether a message may be more than this many parts: it has as many joints that join no names.
pub(super) fn may_be_more(whole: &Message<'_>, parts: usize) -> bool {
    // A name has no token.
    let joins_names = |place: &Range<usize>| is_between(whole, place, |at| whole.tokens[at].is_none());
    places(whole, joints).filter(|place| !joins_names(place)).nth(parts - 1).is_some()
}

/// Whether both the word before a place and the word behind it are such.
fn is_between(whole: &Message<'_>, place: &Range<usize>, is_such: impl Fn(usize) -> bool) -> bool {
    let before = whole.words.iter().rposition(|word| word.end <= place.start);
    let after = whole.words.iter().position(|word| word.begin >= place.end);
    [before, after].into_iter().all(|at| at.is_some_and(&is_such))
}

/// Whether the second half only gives another time or account to what the first one asks: `trades in June and in
/// August`, but not `between June and August`.
fn gives_another(whole: &Message<'_>, first: &Message<'_>, second: &Message<'_>) -> bool {
    let has_account = |message: &Message<'_>| message.found.iter().any(|found| found.is_of(ACCOUNT));
    let is_of_range = whole.times.since.is_some() && whole.times.since == first.times.since;
    let has_times = !is_of_range && first.times.is_any() && second.times.is_any();
    is_bare_value(second) && (has_times || (has_account(first) && has_account(second)))
}

/// The calls of a half, if no tool has anything of the other one, which is of another subject.
pub(super) fn one_half(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    before: &Before<'_>,
) -> Option<Routed> {
    let index = request.offer.index();
    let is_other =
        |part: &Message<'_>| part.content.iter().any(|(_, at)| index.words.is_out_of_scope(&part.words[*at]));
    places(whole, joints).take(MOST_HALVES).find_map(|joint| {
        let halves = [&whole.text[..joint.start], &whole.text[joint.end..]].map(|half| read(request, half));
        let is_either = is_other(&halves[0]) != is_other(&halves[1]);
        is_either.then(|| some(request, &halves, before)).flatten()
    })
}

/// A half with the names of the whole behind it, if it has none itself and is then more clearly about a tool.
fn with_names<'a>(request: &PlanRequest<'_>, half: &'a str, whole: &Message<'_>) -> Cow<'a, str> {
    let message = read(request, half);
    let is_named = |message: &Message<'_>| message.found.iter().any(|found| !found.is_unknown());
    if is_named(&message) || !is_named(whole) {
        return half.into();
    }
    let others = whole.found.iter().map(|found| &whole.text[found.begin..found.end]);
    let named = std::iter::once(half).chain(others).collect::<Vec<_>>().join(" ");
    let score = |message: &Message<'_>| match route(request, message, &Before::default(), &[]) {
        Routed { step: Routing::Calls(_), score, .. } => score,
        _ => 0.0,
    };
    let is_better = score(&read(request, &named)) > score(&message);
    if is_better { named.into() } else { half.into() }
}

/// The calls of all clauses, if each is about a tool of its own or, where `may_repeat`, gives it other values. `None`
/// if one is about `whole`, the tool of the message as one, nearly as much as about its own: that cuts one wish in two.
pub(super) fn each(
    request: &PlanRequest<'_>,
    clauses: &[Message<'_>],
    before: &Before<'_>,
    may_repeat: bool,
    whole: Option<&str>,
) -> Option<Routed> {
    let (mut all, mut reasons, mut alternatives) = (Vec::new(), Vec::new(), Vec::new());
    let (mut confidence, mut score) = (1.0_f32, f32::MAX);
    let mut named = before.named.clone();
    // Where the calls of the clause before begin.
    let mut last = 0;
    for (at, clause) in clauses.iter().enumerate() {
        let index = request.offer.index();
        let routed = with_shared(request, clause, &clauses[..at], &all[last..], before, &named);
        last = all.len();
        let Routing::Calls(calls) = routed.step else { return None };
        let tool = calls.first()?.tool.clone();
        let is_near = |it: &Alternative| {
            Some(it.tool.as_str()) == whole && it.score >= f64::from(weights().clauses.one * routed.score)
        };
        if routed.alternatives.iter().any(is_near) {
            return None;
        }
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
        named = newer(index, &calls, named);
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
    let is_read = |call: &PlannedCall| index.place(&call.tool).is_some_and(|tool| index.tools[tool].is_read);
    let may_follow = !calls.is_empty() && calls.iter().all(is_read);
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
