//! A message that is split where no sentence begins: `RSI and news of Acme`, `the price of Acme, news of Initech`.
//!
//! Not here: where that may be (`clauses`), and what becomes of the parts (`compound`).

use std::{borrow::Cow, ops::Range, slice};

use super::{
    compound::{route_each, route_some},
    follow_up::{Before, is_bare_value},
    route::{read, route},
    routed::{Routed, Routing},
};
use crate::{
    PlanRequest,
    english::english,
    matching::{
        clauses::{commas, joints},
        message::Message,
        names::ACCOUNT,
        slots::Slot,
    },
    weights::weights,
};
use toolwire_engine::registry::ExtractKind;

/// The maximum number of places at which a message is tried as two halves.
const MOST_HALVES: usize = 4;

/// A place at which a message may be split, and the least score of the parts of such a split.
type Place = (Range<usize>, f32);

/// Routes the parts of a message without a verb of their own, each clearly about a tool of its own: `The price of Apple
/// and the RSI of TCS`, `RSI and news of TCS`. `None` if no split is sure enough.
///
/// `one` is the routing of the whole message as one wish, and `is_one` whether its tool is about every word.
pub(super) fn route_halves(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    one: &Routed,
    is_one: bool,
) -> Option<Routed> {
    let all = candidates(whole);
    let split = |places: &[Place]| split_at(request, whole, places, one, is_one);
    // All of `price, news and P/E of Acme`, before two halves.
    if let Some(list) = as_list(&all).and_then(|places| split(&places))
        && list.score >= weights().clauses.sure
    {
        return Some(list);
    }
    let halves = all.iter().take(MOST_HALVES).filter_map(|place| {
        let least = place.1;
        split(slice::from_ref(place)).filter(|it| it.score >= least)
    });
    halves.max_by(|left, right| left.score.total_cmp(&right.score))
}

/// The places at which a message may be split, joints before commas.
fn candidates(whole: &Message<'_>) -> Vec<Place> {
    let weights = &weights().clauses;
    let bounded = |find| places(whole, find).take(MOST_HALVES);
    let joints = bounded(joints).map(|joint| (joint, weights.sure));
    // A comma alone may be anything, so that either half must be surer.
    let commas = bounded(commas).map(|comma| (comma, weights.very_sure));
    joints.chain(commas).collect()
}

/// All places in the order of the text, if they are few enough to be those of a list.
fn as_list(all: &[Place]) -> Option<Vec<Place>> {
    if !(2..MOST_HALVES).contains(&all.len()) {
        return None;
    }
    let mut list = all.to_vec();
    list.sort_by_key(|(place, _)| place.start);
    Some(list)
}

/// Routes the parts between these places. `None` if a part is not about a tool of its own, or if the split means
/// something else than the whole.
fn split_at(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    places: &[Place],
    one: &Routed,
    is_one: bool,
) -> Option<Routed> {
    let parts: Vec<_> =
        cut(whole.text, places).into_iter().map(|part| with_names(request, part, whole)).collect();
    let may_repeat = match parts.as_slice() {
        [first, second] => gives_another(whole, &read(request, first), &read(request, second)),
        _ => false,
    };
    if is_one && !may_repeat {
        return None;
    }
    let parts = if may_repeat { parts } else { with_last_time(request, &parts) };
    let parts: Vec<_> = parts.iter().map(|part| read(request, part)).collect();
    let routed = route_each(request, &parts, &Before::default(), may_repeat, Some(one))?;
    let is_uncertain_order =
        routed.changing(request.offer.index()).is_some() && may_order_nothing(whole, places);
    (!is_uncertain_order && !loses_a_word(request, &routed, one)).then_some(routed)
}

/// Cuts a text at places in its order.
fn cut<'a>(text: &'a str, places: &[Place]) -> Vec<&'a str> {
    let mut parts = Vec::with_capacity(places.len() + 1);
    let mut begin = 0;
    for (place, _) in places {
        parts.push(&text[begin..place.start]);
        begin = place.end;
    }
    parts.push(&text[begin..]);
    parts
}

/// Whether what reads as an order may be none. Another part may say that it is reported: `stop watching Acme, they
/// said, and the price of TCS`. `Should I hold Acme or remove it?` orders nothing.
fn may_order_nothing(whole: &Message<'_>, places: &[Place]) -> bool {
    let is_reported = whole.words.iter().any(|word| english().reporting.has(&word.lower));
    let is_either = |(place, _): &Place| whole.text[place.clone()].ends_with("or ");
    is_reported || places.iter().any(is_either)
}

/// Whether a split calls the tool of the whole message without a word that the whole gives it: `the wait zone of Acme,
/// core profile`.
fn loses_a_word(request: &PlanRequest<'_>, split: &Routed, one: &Routed) -> bool {
    let (Routing::Calls(split), Routing::Calls(one)) = (&split.step, &one.step) else { return false };
    let index = request.offer.index();
    one.iter().any(|call| {
        let Some(tool) = index.place(&call.tool) else { return false };
        let is_word = |slot: &&Slot| matches!(slot.extract.kind, ExtractKind::Words | ExtractKind::Profile);
        let mut words = index.tools[tool].slots.iter().filter(is_word).map(|slot| &slot.name);
        let of_tool: Vec<_> = split.iter().filter(|it| it.tool == call.tool).collect();
        let is_lost = |name: &String| {
            call.arguments.contains_key(name) && !of_tool.iter().any(|it| it.arguments.contains_key(name))
        };
        !of_tool.is_empty() && words.any(is_lost)
    })
}

/// The places at which a message may be split that are not within a name or a time, as `between June and August`.
fn places<'a>(
    whole: &'a Message<'_>,
    find: fn(&str) -> Vec<Range<usize>>,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let is_in_name = |at: usize| whole.found.iter().any(|found| found.begin < at && at < found.end);
    let is_in_time = |place: &Range<usize>| is_between(whole, place, |at| whole.times.takes(at));
    // `My profit, including what I sold` is one wish.
    let goes_on = |place: &Range<usize>| {
        let behind = whole.words.iter().find(|word| word.begin >= place.end);
        behind.is_some_and(|word| english().subordinate.has(&word.lower))
    };
    let is_place = move |it: &Range<usize>| !is_in_name(it.start) && !is_in_time(it) && !goes_on(it);
    find(whole.text).into_iter().filter(is_place)
}

/// Whether a message may be more than this many parts: it has as many joints that join no names.
pub(super) fn may_be_more(whole: &Message<'_>, parts: usize) -> bool {
    // `Acme and Initech` are values of one parameter. A name has no token.
    let joins_names = |place: &Range<usize>| is_between(whole, place, |at| whole.tokens[at].is_none());
    places(whole, joints).filter(|place| !joins_names(place)).nth(parts - 1).is_some()
}

/// Whether a condition holds for the word before a place and for the word behind it.
fn is_between(whole: &Message<'_>, place: &Range<usize>, holds: impl Fn(usize) -> bool) -> bool {
    let before = whole.words.iter().rposition(|word| word.end <= place.start);
    let after = whole.words.iter().position(|word| word.begin >= place.end);
    [before, after].into_iter().all(|at| at.is_some_and(&holds))
}

/// Whether the second half only gives another time or account to what the first one asks: `trades in June and in
/// August`, but not `between June and August`.
fn gives_another(whole: &Message<'_>, first: &Message<'_>, second: &Message<'_>) -> bool {
    let has_account = |message: &Message<'_>| message.found.iter().any(|found| found.is_of(ACCOUNT));
    let is_of_range = whole.times.since.is_some() && whole.times.since == first.times.since;
    let has_times = !is_of_range && first.times.is_any() && second.times.is_any();
    is_bare_value(second) && (has_times || (has_account(first) && has_account(second)))
}

/// Routes one half, if a tool is about it and no tool is about the other one, which an answer names.
///
/// `one` is the routing of the whole message as one wish, if there is one. It only counts for less where a word that no
/// tool has stands in the other half: `price of Acme and book a cab` is not about its `price` to `book`.
pub(super) fn route_one_half(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    before: &Before<'_>,
    one: Option<&Routed>,
) -> Option<Routed> {
    let words = &request.offer.index().words;
    let is_unknown =
        |part: &Message<'_>| part.content.iter().any(|(term, _)| words.postings(*term).is_empty());
    places(whole, joints).take(MOST_HALVES).find_map(|joint| {
        let halves = [&whole.text[..joint.start], &whole.text[joint.end..]].map(|half| read(request, half));
        if one.is_some() && is_unknown(&halves[0]) == is_unknown(&halves[1]) {
            return None;
        }
        let half = route_some(request, &halves, before)?;
        one.is_none_or(|one| !half.calls(one.tool())).then_some(half)
    })
}

/// A half with the names of the whole behind it, if it has none itself and is then more clearly about a tool that has
/// each of its words: `book a cab` is not about what was named before.
fn with_names<'a>(request: &PlanRequest<'_>, half: &'a str, whole: &Message<'_>) -> Cow<'a, str> {
    let message = read(request, half);
    let is_named = |message: &Message<'_>| message.found.iter().any(|found| !found.is_unknown());
    if is_named(&message) || !is_named(whole) {
        return half.into();
    }
    let others = whole.found.iter().map(|found| &whole.text[found.begin..found.end]);
    // Before the mark that makes it a question.
    let (said, mark) = half.split_at(half.trim_end_matches(['?', '!', '.', ' ']).len());
    let named = std::iter::once(said).chain(others).collect::<Vec<_>>().join(" ") + mark;
    let routed = |message: &Message<'_>| route(request, message, &Before::default(), &[]);
    let score = |routed: &Routed| if routed.count() > 0 { routed.score } else { 0.0 };
    let with_names = routed(&read(request, &named));
    let is_better = score(&with_names) > score(&routed(&message))
        && with_names.has_every_word(request.offer.index(), &message, 0.0);
    if is_better { named.into() } else { half.into() }
}

/// A clause that begins with `any`, with the names of the whole: `any news and any trades of Acme`.
pub(super) fn with_names_if_any<'a>(
    request: &PlanRequest<'_>,
    clause: &Message<'a>,
    whole: &Message<'_>,
) -> Cow<'a, str> {
    let (indefinites, asking) = (&english().indefinites, &english().asking);
    let first = clause.words.first().map(|word| word.lower.as_str());
    let is_any = first.is_some_and(|word| indefinites.has(word) && asking.has(word));
    if is_any { with_names(request, clause.text, whole) } else { clause.text.into() }
}

/// Parts of a message, those before the last one with the time at its end, if they have none and their tools take it:
/// `my deposits and my trades in 2025`.
pub(super) fn with_last_time<'a>(request: &PlanRequest<'_>, parts: &[Cow<'a, str>]) -> Vec<Cow<'a, str>> {
    let Some((last, earlier)) = parts.split_last() else { return Vec::new() };
    let time = read(request, last).time_at_the_end().map(|begin| last[begin..].to_owned());
    let with_time = |part: &Cow<'a, str>| {
        let message = read(request, part);
        let time = time.as_ref().filter(|_| !message.times.is_any())?;
        let timed = format!("{} {time}", part.trim_end_matches([',', '?', ' ']));
        let routed = |text: &str| route(request, &read(request, text), &Before::default(), &[]);
        let (plain, with) = (routed(part), routed(&timed));
        // Where it asked for a time, or takes one and is not narrowed to a number.
        let is_same = plain.tool().is_none_or(|tool| with.calls(Some(tool)));
        let is_more = with.count() == 1 && (plain.tool().is_none() || has_more(&with, &plain));
        (is_same && is_more).then(|| timed.into())
    };
    let earlier = earlier.iter().map(|part| with_time(part).unwrap_or_else(|| part.clone()));
    earlier.chain([last.clone()]).collect()
}

/// Whether the first call of one has more arguments than that of the other, which has no number of things.
fn has_more(one: &Routed, other: &Routed) -> bool {
    let first = |routed: &Routed| match &routed.step {
        Routing::Calls(calls) => calls.first().map(|call| call.arguments.clone()).unwrap_or_default(),
        _ => serde_json::Map::new(),
    };
    let (one, other) = (first(one), first(other));
    one.len() > other.len() && !other.values().any(serde_json::Value::is_number)
}
