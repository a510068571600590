//! What a message wants a list to be ordered, grouped or counted by, where no called tool knows it.

use super::dropped::Called;
use crate::{
    english::english,
    matching::{
        lexicon::Words,
        message::Message,
        slots::Slot,
        words::{Word, is_common, phrase},
    },
    weights::weights,
};

/// What the message orders, groups or counts by, each with its position: `by sector`, `in rupees`.
pub(super) fn criteria<'a>(
    called: &Called<'_>,
    message: &Message<'a>,
    lexicon: &Words,
) -> Vec<(usize, &'a str)> {
    let mut all = Vec::new();
    for (term, at) in &message.content {
        let Some(by) = at.checked_sub(1).map(|before| &message.words[before]) else { continue };
        let word = &message.words[*at];
        let before = |back: usize| at.checked_sub(back).map_or("", |at| message.words[at].lower.as_str());
        // `Quarter by quarter` says how, and not by what.
        let is_repeated = before(2) == word.lower;
        let is_number = || word.number().is_some() || message.times.takes(*at) || is_repeated;
        let sorts = || [2, 3].iter().any(|back| english().sorting.has(before(*back)));
        let is_unit = || english().units.get(&word.lower).is_some();
        let says = |slot: &&Slot| slot.phrases.iter().any(|(phrase, _)| phrase.contains(&word.lower));
        // What orders a list is one of the tool's own orders; `held by funds` is what it is about.
        let is_taken = || {
            if sorts() || is_unit() {
                let phrase = format!("by {}", word.lower);
                called.slots.iter().any(says) || called.has_phrase(&phrase)
            } else {
                called.share(message, (*term, *at)) >= weights().others.taken
            }
        };
        let is_in_unit = || by.lower == "in" && lexicon.amounts.contains(&word.lower);
        if (english().criteria.has(&by.lower) || is_in_unit()) && !is_number() && !is_taken() {
            all.push((by.begin, &message.text[by.begin..word.end]));
        }
    }
    all
}

/// The superlatives, each with its position: `biggest` of deposits, which come by their time. `My first trade` is one.
pub(super) fn superlatives<'a>(called: &Called<'_>, message: &Message<'a>) -> Vec<(usize, &'a str)> {
    let content = |at: usize| message.content.iter().find(|(_, it)| *it == at).copied();
    let is_unknown = |at: usize| {
        let word = &message.words[at].lower;
        let is_common_noun = content(at + 1).is_some_and(|_| !message.times.takes(at + 1));
        let is_known = content(at)
            .is_none_or(|of| called.share(message, of) >= weights().others.taken || called.has_phrase(word));
        is_common_noun && !is_known
    };
    let is_meant = |(at, word): &(usize, &Word)| {
        let lower = &word.lower;
        // `Interest` has no comparative.
        let is_superlative = || lower.strip_suffix("est").is_some_and(|it| is_common(&format!("{it}er")));
        let is_cue = || called.slots.iter().any(|slot| slot.extract.after.contains(lower));
        // A list that is cut to a number has the newest.
        let is_counted = || message.words.get(at + 1).is_some_and(|next| is_counted(called, next));
        ((is_superlative() && (is_counted() || is_unknown(*at)))
            || (english().is_first(lower) && is_counted()))
            && !is_cue()
    };
    let all = message.words.iter().enumerate().filter(is_meant);
    all.map(|(_, word)| (word.begin, &message.text[word.begin..word.end])).collect()
}

/// Whether a called tool counts what a word names: `trades`.
fn is_counted(called: &Called<'_>, word: &Word) -> bool {
    let counts = |slot: &&Slot| slot.counted_nouns().any(|noun| phrase(noun).contains(&word.term));
    called.slots.iter().any(counts)
}
