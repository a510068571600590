//! A message that is split where no sentence begins: `RSI and news of Acme`, `the price of Acme, news of Initech`.
//!
//! Not here: where that may be (`clauses`), and what becomes of the parts (`compound`).

use std::{borrow::Cow, slice};

use super::{
    compound::{route_each, route_some},
    follow_up::{Before, is_bare_value},
    places::{MOST_HALVES, Place, candidates, joins_names, places},
    route::{read, route},
    routed::{Routed, Routing},
};
use crate::{
    PlanRequest,
    english::english,
    matching::{
        clauses::{is_retraction, joints},
        index::Index,
        message::Message,
        names::{ACCOUNT, NameMatch},
        orders::is_phrasal,
        slots::Slot,
    },
    weights::weights,
};
use toolwire_engine::registry::ExtractKind;

/// Routes the parts of a message without a verb of their own, each clearly about a tool of its own: `The price of Apple
/// and the RSI of TCS`, `RSI and news of TCS`. `None` if no split is sure enough.
///
/// `one` is the routing of the whole message as one wish.
pub(super) fn route_halves(request: &PlanRequest<'_>, whole: &Message<'_>, one: &Routed) -> Option<Routed> {
    let is_one = has_every_word(request.offer.index(), one, whole);
    let split = |places: &[Place]| split_at(request, whole, places, one, is_one);
    // All of `price, news and P/E of Acme`, before two halves.
    let (of_names, others): (Vec<_>, Vec<_>) =
        candidates(whole).into_iter().partition(|it| joins_names(whole, &it.at));
    if let Some(list) = as_list(&others).and_then(|places| split(&places))
        && list.score >= weights().clauses.sure
    {
        return Some(list);
    }
    // What joins two names may join values of one parameter: the second half of `price of Acme and Initech, news of
    // Hooli` begins behind the comma.
    let best = |places: &[Place]| {
        let half = |place: &Place| split(slice::from_ref(place)).filter(|it| it.score >= place.least);
        let halves = places.iter().take(MOST_HALVES).filter_map(half);
        halves.max_by(|left, right| left.score.total_cmp(&right.score))
    };
    best(&others).or_else(|| best(&of_names))
}

/// Whether the tool of a message is about every word and name of it, so that `and` only joins what the tool is about.
fn has_every_word(index: &Index, routed: &Routed, message: &Message<'_>) -> bool {
    let Some(tool) = routed.tool().and_then(|tool| index.place(tool)) else { return false };
    let slots = &index.tools[tool].slots;
    let is_taken = |found: &NameMatch| slots.iter().any(|slot| found.is_of(slot.of_kind()));
    message.found.iter().all(is_taken) && routed.has_every_word(index, message, weights().others.about)
}

/// All places in the order of the text, if they are few enough to be those of a list.
fn as_list(all: &[Place]) -> Option<Vec<Place>> {
    if !(2..MOST_HALVES).contains(&all.len()) {
        return None;
    }
    let mut list = all.to_vec();
    list.sort_by_key(|place| place.at.start);
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
    // Parts that are apart cut no wish in two.
    let one_wish = Some(one).filter(|_| !places.iter().all(|place| place.is_apart));
    if is_one && one_wish.is_some() && !may_repeat {
        return None;
    }
    let parts = if may_repeat { parts } else { with_last_time(request, &parts) };
    let parts: Vec<_> = parts.iter().map(|part| read(request, part)).collect();
    let routed = route_each(request, &parts, &Before::default(), may_repeat, one_wish)?;
    let is_uncertain_order =
        routed.changing(request.offer.index()).is_some() && may_order_nothing(whole, places);
    (!is_uncertain_order && !loses_a_word(request, &routed, one)).then_some(routed)
}

/// Cuts a text at places in its order.
fn cut<'a>(text: &'a str, places: &[Place]) -> Vec<&'a str> {
    let mut parts = Vec::with_capacity(places.len() + 1);
    let mut begin = 0;
    for Place { at, .. } in places {
        parts.push(&text[begin..at.start]);
        begin = at.end;
    }
    parts.push(&text[begin..]);
    parts
}

/// Whether what reads as an order may be none. Another part may say that it is reported: `stop watching Acme, they
/// said, and the price of TCS`. `Should I hold Acme or remove it?` orders nothing.
fn may_order_nothing(whole: &Message<'_>, places: &[Place]) -> bool {
    let is_reported = whole.words.iter().any(|word| english().reporting.has(&word.lower));
    let is_either = |place: &Place| whole.text[place.at.clone()].ends_with("or ");
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
        // It may be two halves itself: `price of Acme, news of Initech and the weather`.
        let split = halves.iter().find_map(|part| route_halves(request, part, &half));
        let is_surer = |it: &Routed| it.score >= weights().clauses.sure && it.calls(half.tool());
        let half = split.filter(is_surer).unwrap_or(half);
        one.is_none_or(|one| !half.calls(one.tool())).then_some(half)
    })
}

/// A half with the names of the whole behind it, if it has none itself and is then more clearly about a tool that has
/// each of its words: `book a cab` is not about what was named before.
fn with_names<'a>(request: &PlanRequest<'_>, half: &'a str, whole: &Message<'_>) -> Cow<'a, str> {
    let message = read(request, half);
    let is_named = |message: &Message<'_>| message.found.iter().any(|found| !found.is_unknown());
    // `Hold on` and `forget it` are about no name.
    if is_phrasal(&message) || is_retraction(half) || is_named(&message) || !is_named(whole) {
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
