//! Whether a message orders a change: only if the words of the tool's manifest account for every word of it.
//!
//! It is an allowlist: a message with an unlisted word orders nothing. Not here: the proposal that an order becomes
//! (`proposal`).

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use strsim::osa_distance;

use super::{
    inverted_index::{InvertedIndex, fields},
    message::{Message, polite},
    names::NameMatch,
    slots::{Note, Slot},
    words::{Word, words},
};
use crate::english::english;
use toolwire_engine::registry::RegisteredTool;

/// The minimum length, in letters, of a verb that is recognized with a typo.
const SHORTEST: usize = 5;

/// The orders to one tool, as its manifest words them.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// The beginnings of orders: of each utterance and keyword the words up to and including the first content word,
    /// or up to a name or a preposition of direction.
    heads: Vec<Vec<String>>,
    /// The heads that other tools have too. There the preposition decides which tool is meant, as in `off my list`.
    shared: HashSet<Vec<String>>,
    /// The terms of the words that are accepted anywhere in an order.
    terms: HashSet<String>,
    /// Utterances and keywords as terms, without names and function words.
    phrases: HashSet<Vec<String>>,
}

impl Orders {
    /// Reads the orders to a tool from its manifest.
    pub(crate) fn new(tool: &Arc<RegisteredTool>) -> Self {
        let mut orders = Self::default();
        let definition = &tool.definition;
        for text in definition.utterances.iter().chain(&tool.routing.keywords) {
            orders.add_head(text);
        }
        // A keyword belongs to one tool, so its stop words are accepted in orders as well.
        let of_phrases = tool.routing.keywords.iter().chain([&definition.title]).map(|text| (text, true));
        // What an example notes is no word of an order: `with the note: after the results`.
        let cues = tool.routing.extracts.values().flat_map(|extract| &extract.after);
        let cues: Vec<_> = cues.filter_map(|cue| cue.split(" …").next()).collect();
        let note = |text: &str| cues.iter().filter_map(|cue| text.find(cue)).min().unwrap_or(text.len());
        for (text, is_phrase) in definition.utterances.iter().map(|text| (text, false)).chain(of_phrases) {
            let words = without_names(text);
            let note = if is_phrase { text.len() } else { note(text) };
            let said = words.iter().filter(|word| word.begin < note);
            let says = said.filter(|word| is_phrase || !word.is_stop());
            let says = says.filter(|word| !english().negations.has(&word.lower));
            orders.terms.extend(says.map(|word| word.term.clone()));
            orders.phrases.insert(core(words.iter()));
        }
        orders.phrases.remove(&Vec::new());
        orders
    }

    /// Records which heads several tools have.
    pub(crate) fn share(tools: &mut [(&mut Self, usize)]) {
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
        let ends = |word: &&Word| is_name(text, word) || english().directions.has(&word.lower);
        for word in words.iter().skip(polite(&words)).take_while(|word| !ends(word)) {
            head.push(word.lower.clone());
            if !word.is_stop() {
                break;
            }
        }
        if !head.is_empty() && !head.iter().any(|word| english().negations.has(word)) {
            self.heads.push(head);
        }
    }

    /// Whether a message orders the change, and says nothing else. The words that fill these slots are accepted, and so
    /// are those for which `is_known` holds.
    pub(crate) fn is_given(
        &self,
        index: &InvertedIndex,
        message: &Message<'_>,
        slots: &[Slot],
        is_known: impl Fn(&Word) -> bool,
    ) -> bool {
        if is_quoted(message.text) || has_place_between(message, slots) {
            return false;
        }
        let (first, is_told_of) = subject(message);
        let heads = self.heads.iter().filter(|head| message.says(first, head)).max_by_key(|head| head.len());
        let head = heads.map(|head| (head.len(), !self.shared.contains(head)));
        let head = head.or_else(|| self.is_verb(message, first).then_some((1, true)));
        let head = head.or_else(|| self.is_mistyped(index, message, first).then_some((1, true)));
        let is_ordered = head.is_some_and(|(length, takes_directions)| {
            let from = first + length;
            let may_be_direction = |word: &Word| takes_directions && is_direction(word);
            let any_more = |is: &dyn Fn(&Word) -> bool| {
                message.words[from..].iter().any(|word| is(word) && !is_filled(word, message, slots))
            };
            let says_more = || any_more(&|word| self.says(word));
            // `Put Acme` says not what becomes of it.
            let is_vague = || {
                let is_clear = |word: &Word| self.says(word) || may_be_direction(word);
                message.words[first..from].iter().all(Word::is_stop) && !any_more(&is_clear)
            };
            let particle =
                || message.words.get(from).is_some_and(|word| english().particles.has(&word.lower));
            let is_another = !is_told_of && particle();
            !is_another
                && self.accounts_for(message, slots, from, |word| may_be_direction(word) || is_known(word))
                && (!is_told_of || says_more())
                && !is_vague()
        });
        is_ordered || self.is_phrase(message, slots)
    }

    /// Whether every word from a position on is accepted in an order.
    pub(crate) fn accounts_for(
        &self,
        message: &Message<'_>,
        slots: &[Slot],
        from: usize,
        is_known: impl Fn(&Word) -> bool,
    ) -> bool {
        let may_stand = |word: &Word| {
            let is_form =
                || self.heads.iter().any(|head| head.len() == 1 && is_form(&head[0], &word.lower, "ed"));
            let is_said = || english().function.has(&word.lower) || self.says(word) || is_form();
            (!word.is_guess && is_said()) || is_known(word)
        };
        let end = message.words.len() - message.tag();
        let rest = message.words.get(from..end).unwrap_or_default();
        rest.iter().all(|word| is_filled(word, message, slots) || may_stand(word))
    }

    /// Whether a word is a content word of the tool, and not a negation.
    fn says(&self, word: &Word) -> bool {
        !english().function.has(&word.lower)
            && !english().negations.has(&word.lower)
            && self.terms.contains(&word.term)
    }

    /// Whether the message begins with the verb of an order as a gerund, as in `would you mind adding`.
    fn is_verb(&self, message: &Message<'_>, first: usize) -> bool {
        let Some(word) = message.words.get(first).filter(|_| first > 0) else { return false };
        let is_asked = message.words[first - 1].lower == "mind";
        is_asked && self.heads.iter().any(|head| head.len() == 1 && is_form(&head[0], &word.lower, "ing"))
    }

    /// Whether the message begins with the verb of an order with a typo of one letter.
    fn is_mistyped(&self, index: &InvertedIndex, message: &Message<'_>, first: usize) -> bool {
        let is_unknown = |word: &&Word| word.lower.len() >= SHORTEST && !word.is_stop() && !index.knows(word);
        let Some(word) = message.words.get(first).filter(is_unknown) else { return false };
        let verbs = self.heads.iter().filter(|head| head.len() == 1).map(|head| &head[0]);
        verbs.filter(|verb| verb.len() >= SHORTEST).any(|verb| osa_distance(verb, &word.lower) == 1)
    }

    /// Whether the message equals one of the phrases, apart from names and function words.
    fn is_phrase(&self, message: &Message<'_>, slots: &[Slot]) -> bool {
        let words = message.words.iter().skip(message.first());
        let left = words.filter(|word| !is_filled(word, message, slots));
        self.phrases.contains(&core(left))
    }
}

/// Whether markup says that a text is quoted, an example or a comment.
fn is_quoted(text: &str) -> bool {
    let text = text.trim_start();
    ["> ", "# ", "```", "<!--"].iter().any(|mark| text.starts_with(mark)) || text.contains('`')
}

/// Whether a direction stands right before a further name, so that it is nothing to change: `watch Acme on TV`.
fn has_place_between(message: &Message<'_>, slots: &[Slot]) -> bool {
    let is_named = |word: &Word| message.found.iter().any(|it| it.begin <= word.begin && word.end <= it.end);
    let notes = slots.iter().filter_map(|slot| slot.note(message)).map(|note| note.cue.start);
    let end = notes.min().unwrap_or(message.text.len());
    let words = message.words.iter().take_while(|word| word.begin < end);
    let names = words.enumerate().filter(|(_, word)| is_named(word)).map(|(at, _)| at);
    let names: Vec<_> = names.collect();
    names.iter().skip(1).any(|at| is_direction(&message.words[at - 1]))
}

/// Whether a word is part of the value of a slot: of a name of its kind, or of a note.
fn is_filled(word: &Word, message: &Message<'_>, slots: &[Slot]) -> bool {
    let is_within = |note: &Note| note.cue.start <= word.begin && word.begin < note.text.end;
    let is_noted = slots.iter().filter_map(|slot| slot.note(message)).any(|note| is_within(&note));
    let takes = |slot: &Slot, found: &NameMatch| {
        slot.takes_names() && found.value(slot.of_kind()).is_some() && !found.is_foreign()
    };
    let mut found = message.found.iter().filter(|found| found.begin < word.end && word.begin < found.end);
    is_noted || found.any(|found| slots.iter().any(|slot| takes(slot, found)))
}

/// The words of an example without the names in it.
fn without_names(text: &str) -> Vec<Word> {
    words(text).into_iter().filter(|word| !is_name(text, word)).collect()
}

/// Whether a word of an example is written as a name.
fn is_name(text: &str, word: &Word) -> bool {
    fields::is_name((word.begin, &text[word.begin..word.end]))
}

/// Whether a word is a preposition of direction.
pub(crate) fn is_direction(word: &Word) -> bool {
    english().directions.has(&word.lower)
}

/// The position of an order's verb, and whether its object precedes it: `Acme can come off my list`.
fn subject(message: &Message<'_>) -> (usize, bool) {
    let first = message.first();
    let begins = |found: &&NameMatch| message.words.get(first).is_some_and(|word| word.begin == found.begin);
    let Some(found) = message.found.iter().find(begins) else { return (first, false) };
    let after = message.words.iter().position(|word| word.begin >= found.end);
    let after = after.filter(|at| english().permissions.has(&message.words[*at].lower));
    after.map_or((first, false), |at| (at + 1, true))
}

/// Whether a word is a verb with an ending, `ing` or `ed`.
fn is_form(verb: &str, word: &str, ending: &str) -> bool {
    let Some(begin) = word.strip_suffix(ending) else { return false };
    let doubled = || begin.strip_prefix(verb).is_some_and(|rest| verb.ends_with(rest) && rest.len() == 1);
    begin == verb || verb.strip_suffix('e') == Some(begin) || doubled()
}

/// The terms of the words that a phrase is compared by. The first one is as it is written: `watching Acme` orders
/// nothing.
fn core<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<String> {
    let english = english();
    let says = |word: &&Word| !english.function.has(&word.lower) && !english.optional.has(&word.lower);
    let form = |(at, word): (usize, &Word)| if at == 0 { &word.lower } else { &word.term }.clone();
    words.filter(says).enumerate().map(form).collect()
}
