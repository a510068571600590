//! Whether a message is an order to a tool: the whole of it must be one of a small grammar from the tool's utterances.
//!
//! An order is the beginning of an utterance, one name, and the end of an utterance, with a note behind it and polite
//! words around it: `Put … on my list`. Not here: the proposal that an order becomes.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    inverted_index::{InvertedIndex, Term, fields},
    message::{Message, polite, tag},
    names::is_of_kind,
    slots::Slot,
    words::{Word, words},
};
use crate::english::english;
use toolwire_engine::registry::RegisteredTool;

/// The orders to one tool, as its utterances word them.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// What stands before the name, in small letters.
    beginnings: HashSet<Vec<String>>,
    /// The beginnings that an utterance has with nothing behind the name.
    whole: HashSet<Vec<String>>,
    /// What stands behind the name, as terms: where the change is made.
    places: HashSet<Vec<Term>>,
}

impl Orders {
    /// Reads the orders to a tool from its manifest.
    pub(crate) fn new(tool: &RegisteredTool, index: &InvertedIndex) -> Self {
        let mut orders = Self::default();
        let cues = tool.hints.extracts.values().flat_map(|extract| &extract.after);
        let cues: Vec<_> = cues.filter(|cue| !cue.contains('…')).collect();
        for text in &tool.definition.utterances {
            let note = cues.iter().filter_map(|cue| text.find(cue.as_str())).min().unwrap_or(text.len());
            let text = text[..note].trim_end_matches([' ', ',', '.']);
            let all = words(text);
            let all = &all[polite(&all)..all.len() - tag(&all)];
            let is_name = |word: &Word| fields::is_name((word.begin, &text[word.begin..word.end]));
            let Some(first) = all.iter().position(is_name) else { continue };
            let behind = first + all[first..].iter().take_while(|word| is_name(word)).count();
            // A sentence before the order is none of its words.
            if first == 0 || text[..all[first].begin].contains([',', '.']) {
                continue;
            }
            let beginning = beginning(&all[..first]);
            if behind == all.len() {
                orders.whole.insert(beginning.clone());
            } else if !text[all[behind - 1].end..].contains([',', '.']) {
                orders.places.insert(place(all[behind..].iter(), index));
            }
            orders.beginnings.insert(beginning);
        }
        for text in &tool.hints.keywords {
            let all = words(text);
            let is_direction = |word: &Word| english().directions.has(&word.lower);
            match all.iter().position(is_direction) {
                Some(0) => {}
                Some(at) => {
                    orders.beginnings.insert(beginning(&all[..at]));
                    orders.places.insert(place(all[at..].iter(), index));
                }
                // `Start following`, with the name behind it.
                None => {
                    let is_small = |word: &&Word| english().pointing.has(&word.lower);
                    let end = all.iter().position(|word| is_small(&word)).unwrap_or(all.len());
                    orders.whole.insert(beginning(&all[..end]));
                    orders.beginnings.insert(beginning(&all[..end]));
                }
            }
        }
        orders.places.retain(|place| place.len() > 1);
        orders.whole.remove(&Vec::new());
        orders.beginnings.remove(&Vec::new());
        orders
    }

    /// The arguments of an order, if the whole message is one. `carried` are the names that a pronoun may mean.
    pub(crate) fn read(
        &self,
        message: &Message<'_>,
        slots: &[Slot],
        carried: &[(String, String)],
        index: &InvertedIndex,
    ) -> Option<Map<String, Value>> {
        let note = slots.iter().find_map(|slot| Some((slot, slot.note(message)?)));
        let end = note.as_ref().map_or(message.text.len(), |(_, note)| note.cue.start);
        let is_closed = note.as_ref().is_none_or(|(_, note)| {
            // A further name may be that of another order: `…, and Acme with the note …`.
            let is_named = message.found.iter().any(|found| note.text.contains(&found.begin));
            message.text[note.text.end..].trim().is_empty() && !is_named
        });
        let before = message.text[..end].trim_end_matches([' ', ',', '.', '(', '-', ';', '!', '?']);
        let count = message.words.iter().take_while(|word| word.begin < before.len()).count();
        let said = &message.words[..count];
        let (first, last) = (polite(said), count - tag(said));
        let said = said.get(first..last).filter(|said| said.iter().all(|word| !word.is_guess))?;
        let slot = slots.iter().find(|slot| slot.is_subject())?;
        let (subject, behind, value) = subject(message, said, slot, carried)?;
        let beginning = beginning(&said[..subject]);
        let rest = &said[behind..];
        let around = [said[0].begin..said[subject].begin, said[behind - 1].end..said.last()?.end];
        let is_plain = around
            .into_iter()
            .all(|part| !message.text[part].contains([',', '.', ';', '?', '!', '"', '`', '“', ':']));
        let is_order = is_plain
            && is_closed
            && self.beginnings.contains(&beginning)
            && if rest.is_empty() {
                self.whole.contains(&beginning)
            } else {
                self.places.contains(&place(rest.iter(), index))
            };
        let mut arguments = Map::new();
        arguments.insert(slot.name.clone(), value.into());
        if let Some((slot, _)) = note {
            // Where a quotation within a note ends, and with it the note, is not clear.
            let text = slot.note_text(message).filter(|text| !has_quotation(text))?;
            arguments.insert(slot.name.clone(), text.into());
        }
        is_order.then_some(arguments)
    }

    /// Whether a message begins as an order does, and says where the change is made.
    pub(crate) fn is_begun(&self, message: &Message<'_>, index: &InvertedIndex) -> bool {
        let said: Vec<_> = message.words[message.first()..].iter().map(|word| word.lower.as_str()).collect();
        let begins = |beginning: &Vec<String>| {
            let small = |word: &&&str| !english().determiners.has(word) && !english().articles.has(word);
            let mut said = said.iter().filter(small);
            beginning.iter().all(|word| said.next().is_some_and(|it| *it == word))
        };
        if !self.beginnings.iter().any(begins) {
            return false;
        }
        let terms = place(message.words.iter(), index);
        self.places.iter().any(|place| terms.windows(place.len()).any(|it| it == place))
    }
}

/// Whether a text has a quotation mark, which an apostrophe within a word is not.
fn has_quotation(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric();
    let is_mark = |(at, mark): (usize, &str)| {
        !text[..at].ends_with(is_letter) || !text[at + mark.len()..].starts_with(is_letter)
    };
    text.contains(['"', '“', '”', '‘']) || text.match_indices(['\'', '’']).any(is_mark)
}

/// The one thing that an order is about: the place of its first word, the one behind its last, and what tools take.
fn subject(
    message: &Message<'_>,
    said: &[Word],
    slot: &Slot,
    carried: &[(String, String)],
) -> Option<(usize, usize, String)> {
    let mut found = message.found.iter().filter(|found| said.iter().any(|word| word.begin == found.begin));
    if let Some(name) = found.next() {
        let is_clear = name.candidates.is_empty() && !name.is_unknown() && !name.is_guess;
        let value = name.value(slot.of_kind()).filter(|_| is_clear && found.next().is_none())?;
        let first = said.iter().position(|word| word.begin == name.begin)?;
        let behind = said.iter().position(|word| word.begin >= name.end).unwrap_or(said.len());
        return Some((first, behind, value.to_owned()));
    }
    let first = said.iter().position(|word| english().singular.has(&word.lower))?;
    let mut named = carried.iter().filter(|(kind, _)| is_of_kind(kind, slot.of_kind()));
    let (_, value) = named.next()?;
    named.next().is_none().then(|| (first, first + 1, value.clone()))
}

/// The words before the name of an order, in small letters, without articles and possessives.
fn beginning(all: &[Word]) -> Vec<String> {
    let says = |word: &&Word| !english().articles.has(&word.lower);
    all.iter().filter(says).map(|word| word.lower.clone()).collect()
}

/// The terms behind the name of an order, without articles and `my`.
fn place<'a>(all: impl Iterator<Item = &'a Word>, index: &InvertedIndex) -> Vec<Term> {
    let says = |word: &&Word| !matches!(word.lower.as_str(), "a" | "an" | "the" | "my");
    index.standing(&all.filter(says).collect::<Vec<_>>())
}
