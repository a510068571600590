//! Whether a message orders a change: only if the words of the tool's manifest account for every word of it.
//!
//! What may stand in an order is listed, and not what forbids one: of words that nobody thought of, nothing is
//! proposed. Not here: what becomes of an order (`proposal`).

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use strsim::osa_distance;

use super::{
    inverted_index::{InvertedIndex, fields},
    message::{Message, polite},
    names::Found,
    slots::{Note, Slot},
    words::{Word, words},
};
use crate::registry::RegisteredTool;

/// Determiners, pronouns, courtesies and the like, which change nothing about an order: closed classes of words. Words
/// for a direction, such as `on` and `off`, are for each tool to have.
const FUNCTION: &str = "a an the my our this that these those it them i m am is of for at up with and also too as well again \
    please pls plz kindly asap now just right then there here me us one ones both instead thanks thank you thx mate";

/// The shortest verb that may be mistyped, in letters.
const SHORTEST: usize = 5;

/// What a phrase of a tool may be said with or without.
const LOOSE: &str = "any more anymore";

/// Words for a direction. They may stand behind a verb that orders one tool only.
const DIRECTIONS: &str = "on onto into to in off out from";

/// Words that turn an order into its opposite. They count only within a phrase of the tool, taken whole.
const NEGATIONS: &str = "not no never dont don doesnt doesn cant can wont won longer anymore without";

/// How a tool that changes something is ordered to, by the words of its manifest.
#[derive(Debug, Default)]
pub(in crate::agent::plan) struct Orders {
    /// What an order begins with: of each utterance and keyword the words up to the first that says
    /// something, a name or
    /// a direction.
    heads: Vec<Vec<String>>,
    /// Those that orders to other tools begin with too: which one is meant is for directions to say, as `off my list`.
    shared: HashSet<Vec<String>>,
    /// Words that may stand anywhere in an order, by their terms.
    terms: HashSet<String>,
    /// Utterances and keywords, without names and [`FUNCTION`] words.
    phrases: HashSet<Vec<String>>,
}

impl Orders {
    /// Of a tool.
    pub(in crate::agent::plan) fn new(tool: &Arc<RegisteredTool>) -> Self {
        let mut orders = Self::default();
        let definition = &tool.definition;
        for text in definition.utterances.iter().chain(&tool.routing.keywords) {
            orders.add_head(text);
        }
        // A keyword belongs to one tool, so its stop words are accepted in orders as well.
        let of_phrases = tool.routing.keywords.iter().chain([&definition.title]).map(|text| (text, true));
        for (text, is_phrase) in definition.utterances.iter().map(|text| (text, false)).chain(of_phrases) {
            let words = without_names(text);
            let says = words.iter().filter(|word| is_phrase || !word.is_stop());
            let says = says.filter(|word| !is_in(NEGATIONS, &word.lower));
            orders.terms.extend(says.map(|word| word.term.clone()));
            orders.phrases.insert(core(words.iter()));
        }
        orders.phrases.remove(&Vec::new());
        orders
    }

    /// Notes which beginnings are those of other tools too.
    pub(in crate::agent::plan) fn share(tools: &mut [(&mut Self, usize)]) {
        let mut counts: HashMap<Vec<String>, HashSet<usize>> = HashMap::new();
        for (orders, at) in tools.iter() {
            for head in &orders.heads {
                counts.entry(head.clone()).or_default().insert(*at);
            }
        }
        for (orders, _) in tools {
            orders.shared = orders.heads.iter().filter(|head| counts[*head].len() > 1).cloned().collect();
        }
    }

    fn add_head(&mut self, text: &str) {
        let words = words(text);
        let mut head = Vec::new();
        let ends = |word: &&Word| is_name(text, word) || is_in(DIRECTIONS, &word.lower);
        for word in words.iter().skip(polite(&words)).take_while(|word| !ends(word)) {
            head.push(word.lower.clone());
            if !word.is_stop() {
                break;
            }
        }
        if !head.is_empty() && !head.iter().any(|word| is_in(NEGATIONS, word)) {
            self.heads.push(head);
        }
    }

    /// Whether a message orders the change, and says nothing else. What stands in these slots is accounted for, and so
    /// are the words for which `is_known` holds.
    pub(in crate::agent::plan) fn is_given(
        &self,
        index: &InvertedIndex,
        message: &Message<'_>,
        slots: &[Slot],
        is_known: impl Fn(&Word) -> bool,
    ) -> bool {
        let (first, is_told_of) = subject(message);
        let heads = self.heads.iter().filter(|head| message.says(first, head)).max_by_key(|head| head.len());
        let head = heads.map(|head| (head.len(), !self.shared.contains(head)));
        let head = head.or_else(|| self.is_verb(message, first).then_some((1, true)));
        let head = head.or_else(|| self.is_mistyped(index, message, first).then_some((1, true)));
        let is_ordered = head.is_some_and(|(length, takes_directions)| {
            let from = first + length;
            let is_direction = |word: &Word| takes_directions && is_direction(word);
            let says_more = || {
                message.words[from..].iter().any(|word| self.says(word) && !is_filled(word, message, slots))
            };
            self.accounts_for(message, slots, from, |word| is_direction(word) || is_known(word))
                && (!is_told_of || says_more())
        });
        is_ordered || self.is_phrase(message, slots)
    }

    /// Whether every word from a place on is one that may stand in an order.
    pub(in crate::agent::plan) fn accounts_for(
        &self,
        message: &Message<'_>,
        slots: &[Slot],
        from: usize,
        is_known: impl Fn(&Word) -> bool,
    ) -> bool {
        let may_stand = |word: &Word| {
            let is_form =
                || self.heads.iter().any(|head| head.len() == 1 && is_form(&head[0], &word.lower, "ed"));
            is_in(FUNCTION, &word.lower) || self.says(word) || is_form() || is_known(word)
        };
        let end = message.words.len() - message.tag();
        let rest = message.words.get(from..end).unwrap_or_default();
        rest.iter().all(|word| is_filled(word, message, slots) || may_stand(word))
    }

    /// Whether a word is one of the tool, and turns nothing into its opposite.
    fn says(&self, word: &Word) -> bool {
        !is_in(FUNCTION, &word.lower) && !is_in(NEGATIONS, &word.lower) && self.terms.contains(&word.term)
    }

    /// Whether the message asks for the verb of an order, as in `would you mind adding`.
    fn is_verb(&self, message: &Message<'_>, first: usize) -> bool {
        let Some(word) = message.words.get(first).filter(|_| first > 0) else { return false };
        let is_asked = message.words[first - 1].lower == "mind";
        is_asked && self.heads.iter().any(|head| head.len() == 1 && is_form(&head[0], &word.lower, "ing"))
    }

    /// Whether the verb of an order is one letter off.
    fn is_mistyped(&self, index: &InvertedIndex, message: &Message<'_>, first: usize) -> bool {
        let is_unknown = |word: &&Word| word.lower.len() >= SHORTEST && !word.is_stop() && !index.knows(word);
        let Some(word) = message.words.get(first).filter(is_unknown) else { return false };
        let verbs = self.heads.iter().filter(|head| head.len() == 1).map(|head| &head[0]);
        verbs.filter(|verb| verb.len() >= SHORTEST).any(|verb| osa_distance(verb, &word.lower) == 1)
    }

    /// Whether the message is one of the phrases, but for names and [`FUNCTION`] words.
    fn is_phrase(&self, message: &Message<'_>, slots: &[Slot]) -> bool {
        let words = message.words.iter().skip(message.first());
        let left = words.filter(|word| !is_filled(word, message, slots));
        self.phrases.contains(&core(left))
    }
}

/// Whether a word is a part of what a slot takes: of a name of its kind, or of a note.
fn is_filled(word: &Word, message: &Message<'_>, slots: &[Slot]) -> bool {
    let is_within = |note: &Note| note.cue.start <= word.begin && word.begin < note.text.end;
    let is_noted = slots.iter().filter_map(|slot| slot.note(message)).any(|note| is_within(&note));
    let takes = |slot: &Slot, found: &Found| {
        slot.takes_names() && found.value(slot.of_kind()).is_some() && !found.is_foreign()
    };
    let mut found = message.found.iter().filter(|found| found.begin < word.end && word.begin < found.end);
    is_noted || found.any(|found| slots.iter().any(|slot| takes(slot, found)))
}

/// The words of an example but for the names in it.
fn without_names(text: &str) -> Vec<Word> {
    words(text).into_iter().filter(|word| !is_name(text, word)).collect()
}

/// Whether a word of an example is written as a name.
fn is_name(text: &str, word: &Word) -> bool {
    fields::is_name((word.begin, &text[word.begin..word.end]))
}

/// Whether a word is one for a direction.
pub(in crate::agent::plan) fn is_direction(word: &Word) -> bool {
    is_in(DIRECTIONS, &word.lower)
}

/// Where the verb of an order stands, and whether what is named stands before it: `Acme can come off my list`.
fn subject(message: &Message<'_>) -> (usize, bool) {
    let first = message.first();
    let begins = |found: &&Found| message.words.get(first).is_some_and(|word| word.begin == found.begin);
    let Some(found) = message.found.iter().find(begins) else { return (first, false) };
    let after = message.words.iter().position(|word| word.begin >= found.end);
    let after = after.filter(|at| matches!(message.words[*at].lower.as_str(), "can" | "may"));
    after.map_or((first, false), |at| (at + 1, true))
}

/// Whether a word is a form of a verb, in `ing` or in `ed`.
fn is_form(verb: &str, word: &str, ending: &str) -> bool {
    let Some(begin) = word.strip_suffix(ending) else { return false };
    let doubled = || begin.strip_prefix(verb).is_some_and(|rest| verb.ends_with(rest) && rest.len() == 1);
    begin == verb || verb.strip_suffix('e') == Some(begin) || doubled()
}

fn core<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<String> {
    words
        .filter(|word| !is_in(FUNCTION, &word.lower) && !is_in(LOOSE, &word.lower))
        .map(|word| word.term.clone())
        .collect()
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|it| it == word)
}
