//! A message that is split where no sentence begins: `RSI and news of Acme`, `the price of Acme, news of Initech`.
//!
//! Not here: where that may be (`clauses`), and what becomes of the parts (`compound`).

use std::{borrow::Cow, ops::Range};

use super::{
    compound::{each, some},
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

/// The calls of two halves without a verb, each clearly about a tool of its own: `The price of Apple and the RSI of
/// TCS`, `RSI and news of TCS`.
///
/// `one` is the whole message as one wish.
pub(super) fn halves(
    request: &PlanRequest<'_>,
    whole: &Message<'_>,
    one: &Routed,
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
        let may_repeat =
            parts.len() == 2 && gives_another(whole, &read(request, &parts[0]), &read(request, &parts[1]));
        let parts: Vec<_> = if may_repeat { parts } else { with_last_time(request, &parts) };
        let parts: Vec<_> = parts.iter().map(|part| read(request, part)).collect();
        if is_one && !may_repeat {
            return None;
        }
        let routed = each(request, &parts, &Before::default(), may_repeat, Some(one))?;
        if loses_a_word(request, &routed, one) {
            return None;
        }
        // Another part may say that the order is reported: `stop watching Acme, they said, and the price of TCS`.
        let is_reported = || whole.words.iter().any(|word| english().reporting.has(&word.lower));
        let changes = routed.changing(request.offer.index()).is_some();
        // `Should I hold Acme or remove it?` orders nothing.
        let is_either = || places.iter().any(|(place, _)| whole.text[place.clone()].ends_with("or "));
        (!changes || (!is_reported() && !is_either())).then_some(routed)
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
    // Before the mark that makes it a question.
    let (said, mark) = half.split_at(half.trim_end_matches(['?', '!', '.', ' ']).len());
    let named = std::iter::once(said).chain(others).collect::<Vec<_>>().join(" ") + mark;
    let score = |message: &Message<'_>| match route(request, message, &Before::default(), &[]) {
        Routed { step: Routing::Calls(_), score, .. } => score,
        _ => 0.0,
    };
    let is_better = score(&read(request, &named)) > score(&message);
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
