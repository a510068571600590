//! Values that are said by words.

use std::ops::Range;

use super::Reading;
use crate::{
    english::english,
    matching::{message::Message, slots::slot::Slot, words::Word},
};

/// The value that is said in the most words, and of several the last, which the others only describe: `top losers`.
/// None if all values of a slot that only narrows are said: `buys and sells`.
pub(super) fn one_word(slot: &Slot, message: &Message<'_>) -> Option<Reading> {
    let (_, value) = meant(slot, message)?;
    let mut said: Vec<_> = value_places(slot, message).map(|(_, value)| value).collect();
    said.sort_unstable();
    said.dedup();
    (!slot.is_whole(said.len())).then(|| Reading::from_message(value))
}

/// The value that is said in the most words.
pub(super) fn word(slot: &Slot, message: &Message<'_>) -> Option<String> {
    value_places(slot, message).next().map(|(_, value)| value.to_owned())
}

/// The places of further values that are joined to the one that is meant: `the best and the worst`.
pub(crate) fn joined_values(slot: &Slot, message: &Message<'_>) -> Vec<Range<usize>> {
    let Some((first, value)) = meant(slot, message) else { return Vec::new() };
    let is_joined = |place: &Range<usize>| {
        let (left, right) = if place.start < first.start { (place, &first) } else { (&first, place) };
        let joins = |word: &Word| english().list_joints.has(&word.lower);
        left.end <= right.start
            && (message.words[left.end..right.start].iter().any(joins)
                || message.text[message.words[left.end - 1].end..message.words[right.start].begin]
                    .contains(','))
    };
    let others = value_places(slot, message).filter(|(place, it)| *it != value && is_joined(place));
    others.map(|(place, _)| place).collect()
}

fn meant<'a>(slot: &'a Slot, message: &'a Message<'_>) -> Option<(Range<usize>, &'a str)> {
    let longest = value_places(slot, message).next()?.0.len();
    let longest = value_places(slot, message).take_while(|(place, _)| place.len() == longest);
    longest.max_by_key(|(place, _)| place.start)
}

/// The values that are said, each with the places of its words, that of the most words first.
pub(crate) fn value_places<'a>(
    slot: &'a Slot,
    message: &'a Message<'_>,
) -> impl Iterator<Item = (Range<usize>, &'a str)> {
    let place = move |phrase: &[String]| {
        let mut places = message.words.windows(phrase.len()).enumerate();
        let stands = |(at, window): &(usize, &[Word])| {
            message.name_at(&message.words[*at]).is_none()
                && window.iter().zip(phrase).all(|(word, said)| is_same(&word.lower, said))
        };
        places.find(stands).map(|(at, _)| at..at + phrase.len())
    };
    slot.phrases.iter().filter_map(move |(phrase, value)| Some((place(phrase)?, value.as_str())))
}

/// Whether a word is the one that is listed, in singular or plural.
fn is_same(lower: &str, said: &str) -> bool {
    lower == said || lower.strip_suffix('s') == Some(said) || said.strip_suffix('s') == Some(lower)
}
