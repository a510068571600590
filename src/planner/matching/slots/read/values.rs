//! Values that are said by words: one of a parameter, or two that are joined.

use std::ops::Range;

use super::Reading;
use crate::{
    english::english,
    matching::{
        message::{Message, is_asking},
        slots::slot::Slot,
        words::{Word, words},
    },
};

/// The value that is said in the most words, and of several the last, which the others only describe: `top losers`.
/// With another one that is joined to it: `the best and the worst`.
pub(super) fn one_word(slot: &Slot, message: &Message<'_>) -> Option<Reading> {
    let longest = find_values(slot, message).next()?.0.len();
    let longest = find_values(slot, message).take_while(|(place, _)| place.len() == longest);
    let (first, value) = longest.max_by_key(|(place, _)| place.start)?;
    // `From worst to best` begins with the first.
    let says = |at: &Range<usize>, word: &str| at.start > 0 && message.words[at.start - 1].lower == word;
    let begins = |(place, _): &(Range<usize>, &str)| place.start < first.start && says(place, "from");
    if says(&first, "to")
        && let Some((_, value)) = find_values(slot, message).find(begins)
    {
        return Some(Reading::from_message(value));
    }
    let is_joined = |place: &Range<usize>| {
        let (left, right) = if place.start < first.start { (place, &first) } else { (&first, place) };
        left.end <= right.start && are_joined(slot, message, left, right)
    };
    let other = find_values(slot, message).find(|(place, it)| *it != value && is_joined(place));
    let (value, others) = match other {
        Some((place, other)) if place.start < first.start => (other, vec![value.to_owned()]),
        other => (value, other.map(|(_, it)| it.to_owned()).into_iter().collect()),
    };
    // `Buys and sells` are all that there is.
    (!slot.is_whole(1 + others.len())).then(|| Reading { value: value.into(), others, is_said: true })
}

/// The maximum number of words between a value and the joint behind it.
const MOST_BETWEEN: usize = 4;

/// Whether the second of two places stands right behind a joint, but for what only describes it. The first one may have
/// a noun and more of its own: `the best ETF of mine and the worst stock`.
fn are_joined(slot: &Slot, message: &Message<'_>, left: &Range<usize>, right: &Range<usize>) -> bool {
    let begin = message.words[left.end - 1].end;
    let between =
        message.text.get(begin..message.words[right.start].begin).unwrap_or_default().to_lowercase();
    let is_number = |word: &str| words(word).iter().all(|it| it.number().is_some());
    // `The top gainer and the top loser`: words of values only describe the second one.
    let describes = |word: &str| {
        let is_of = |(phrase, _): &(Vec<String>, String)| phrase.iter().any(|said| is_same(word, said));
        english().determiners.has(word) || is_number(word) || slot.phrases.iter().any(is_of)
    };
    let is_short = |text: &str| {
        let words = || text.split_whitespace();
        words().count() <= MOST_BETWEEN && !words().any(is_asking)
    };
    let is_joint = |joint: &String| {
        let parts = between.rsplit_once(joint.as_str());
        parts.is_some_and(|(head, tail)| is_short(head) && tail.split_whitespace().all(describes))
    };
    english().joints.iter().any(is_joint)
}

/// The value that is said in the most words.
pub(super) fn word(slot: &Slot, message: &Message<'_>) -> Option<String> {
    find_values(slot, message).next().map(|(_, value)| value.to_owned())
}

/// The values that are said, each with the places of its words, that of the most words first.
fn find_values<'a>(
    slot: &'a Slot,
    message: &'a Message<'_>,
) -> impl Iterator<Item = (Range<usize>, &'a str)> {
    let is_named = move |at: usize| message.name_at(&message.words[at]).is_some();
    let place = move |phrase: &[String]| {
        let mut places = message.words.windows(phrase.len()).enumerate();
        let stands = |(at, window): &(usize, &[Word])| {
            !is_named(*at)
                && !is_denied(message, *at)
                && window.iter().zip(phrase).all(|(word, said)| is_same(&word.lower, said))
        };
        let place = places.find(stands).map(|(at, _)| at..at + phrase.len());
        place.or_else(|| place_without_last(slot, message, phrase))
    };
    slot.phrases.iter().filter_map(move |(phrase, value)| Some((place(phrase)?, value.as_str())))
}

/// Whether a word is denied: `stocks, no funds`.
fn is_denied(message: &Message<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &message.words[before]);
    before.is_some_and(|before| {
        matches!(before.lower.as_str(), "no" | "not" | "without" | "excluding" | "except")
    })
}

/// The place of a phrase whose last word stands only behind another value: `the most and the least valuable`.
fn place_without_last(slot: &Slot, message: &Message<'_>, phrase: &[String]) -> Option<Range<usize>> {
    let (last, begin) = phrase.split_last().filter(|(_, begin)| !begin.is_empty())?;
    let ends_so = |other: &[String]| other.len() > 1 && other != phrase && other.last() == Some(last);
    let is_joint =
        |at: usize| message.words.get(at).is_some_and(|it| ["and", "or"].contains(&it.lower.as_str()));
    let stands = |start: &usize| {
        let joint = start + begin.len();
        if !message.says(*start, begin) || !is_joint(joint) {
            return false;
        }
        let small =
            message.words[joint + 1..].iter().take_while(|word| english().determiners.has(&word.lower));
        let behind = joint + 1 + small.count();
        slot.phrases.iter().any(|(other, _)| ends_so(other) && message.says(behind, other))
    };
    let start = (0..message.words.len()).find(stands)?;
    Some(start..start + begin.len())
}

/// Whether a word is the one that is listed, in singular or plural.
fn is_same(lower: &str, said: &str) -> bool {
    lower == said || lower.strip_suffix('s') == Some(said) || said.strip_suffix('s') == Some(lower)
}
