//! Where a message may be split that has no sentence there: at a joint such as `and`, or at a comma.

use std::ops::Range;

use crate::{
    english::english,
    matching::{
        clauses::{commas, joints},
        message::Message,
    },
    weights::weights,
};

/// The maximum number of places at which a message is tried as two halves.
pub(super) const MOST_HALVES: usize = 4;

/// A place at which a message may be split.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) at: Range<usize>,
    /// The least score of the parts of such a split.
    pub(super) least: f32,
    /// Whether the parts are each of something of its own.
    pub(super) is_apart: bool,
}

/// The places at which a message may be split, joints before commas.
pub(super) fn candidates(whole: &Message<'_>) -> Vec<Place> {
    let weights = &weights().clauses;
    let bounded = |find| places(whole, find).take(MOST_HALVES);
    let joints = bounded(joints).map(|at| Place { at, least: weights.sure, is_apart: false });
    // A comma alone may be anything, so that either half must be surer where the two are not apart.
    let commas = bounded(commas).map(|at| {
        let is_apart = are_apart(whole, &at);
        Place { at, least: if is_apart { weights.sure } else { weights.very_sure }, is_apart }
    });
    joints.chain(commas).collect()
}

/// Whether the part behind a comma is of something of its own, and both parts say what is asked: `TCS price, Infosys
/// news`, `TCS price, my cash`.
fn are_apart(whole: &Message<'_>, comma: &Range<usize>) -> bool {
    let all = || {
        let all = places(whole, joints).chain(places(whole, commas));
        all.filter(|place| !joins_names(whole, place))
    };
    let begin = all().map(|place| place.end).filter(|end| *end <= comma.start).max().unwrap_or(0);
    let end = all().map(|place| place.start).filter(|start| *start >= comma.end).min();
    let (before, behind) = (begin..comma.start, comma.end..end.unwrap_or(whole.text.len()));
    let says =
        |part: &Range<usize>| whole.content.iter().any(|(_, at)| part.contains(&whole.words[*at].begin));
    let is_named = |part: &Range<usize>| {
        whole.found.iter().any(|found| part.contains(&found.begin) && !found.is_unknown())
    };
    let first = whole.words.iter().find(|word| behind.contains(&word.begin));
    let is_of_own = first.is_some_and(|word| english().wanted.has(&word.lower)) || is_named(&behind);
    is_of_own && says(&before) && says(&behind)
}

/// Whether a place stands between two names.
pub(super) fn joins_names(whole: &Message<'_>, place: &Range<usize>) -> bool {
    // A name has no token.
    is_between(whole, place, |at| whole.tokens[at].is_none())
}

/// The places at which a message may be split that are not within a name or a time, as `between June and August`.
pub(super) fn places<'a>(
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

/// Whether a message may be more than this many parts: it has as many places between parts that join no names.
pub(super) fn may_be_more(whole: &Message<'_>, parts: usize) -> bool {
    // `Acme and Initech` are values of one parameter.
    let joins_parts = |place: &Place| !joins_names(whole, &place.at) && place.least <= weights().clauses.sure;
    candidates(whole).iter().filter(|place| joins_parts(place)).nth(parts - 1).is_some()
}

/// Whether a condition holds for the word before a place and for the word behind it.
fn is_between(whole: &Message<'_>, place: &Range<usize>, holds: impl Fn(usize) -> bool) -> bool {
    let before = whole.words.iter().rposition(|word| word.end <= place.start);
    let after = whole.words.iter().position(|word| word.begin >= place.end);
    [before, after].into_iter().all(|at| at.is_some_and(&holds))
}
