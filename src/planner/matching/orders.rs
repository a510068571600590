//! Whether a message orders a change: only if the words of the tool's manifest account for every word of it.
//!
//! It is an allowlist: a message with an unlisted word orders nothing. Not here: the proposal that an order becomes
//! (`proposal`).

mod filling;
mod forms;
mod manifest;

use std::{collections::HashSet, ops::Range};

use strsim::osa_distance;

use self::{
    filling::Filling,
    forms::{core, is_form, once},
};
use super::{
    clauses::{is_quoted, is_retraction},
    inverted_index::InvertedIndex,
    message::Message,
    names::NameMatch,
    slots::Slot,
    words::Word,
};
use crate::english::{Phrase, english};

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
    /// The heads behind which a name may stand at once. Another one needs its object: `set the note on Acme`.
    direct: HashSet<Vec<String>>,
    /// The heads that stand before `to` and a verb or a noun in the manifest: `make a note to watch Acme`, but not
    /// `remind me to watch Acme`.
    leading: HashSet<Vec<String>>,
    /// Whether an utterance or a keyword leads away, as `off my list`: `keep Acme off my list` adds nothing.
    leads_away: bool,
    /// The terms of the words that are accepted anywhere in an order.
    terms: HashSet<String>,
    /// Utterances and keywords as terms, without names and function words.
    phrases: HashSet<Vec<String>>,
}

impl Orders {
    /// Whether a message orders the change, and says nothing else. The words that fill these slots are accepted, and so
    /// are those for which `is_known` holds.
    pub(crate) fn is_given(
        &self,
        index: &InvertedIndex,
        message: &Message<'_>,
        slots: &[Slot],
        is_known: impl Fn(&Word) -> bool,
    ) -> bool {
        let filling = Filling::new(message, slots);
        // `Stop watching Acme, forget it`.
        let is_taken_back = || message.text.split([',', ';', '.', '!']).skip(1).any(is_retraction);
        if is_quoted(message.text) || filling.has_place_between() || is_taken_back() {
            return false;
        }
        self.is_ordered(index, &filling, &is_known)
            || self.is_ordered_at_the_end(&filling, &is_known)
            || self.is_phrase(&filling)
    }

    /// Whether the message begins with an order.
    fn is_ordered(
        &self,
        index: &InvertedIndex,
        filling: &Filling<'_>,
        is_known: impl Fn(&Word) -> bool,
    ) -> bool {
        let message = filling.message;
        let (first, is_told_of) = subject(message);
        let head = self.heads.iter().filter(|head| message.says(first, head)).max_by_key(|head| head.len());
        let is_of_another_verb = |head: &&Vec<String>| {
            is_infinitive(&message.words[first + head.len()..]) && !self.leading.contains(*head)
        };
        if head.as_ref().is_some_and(is_of_another_verb) {
            return false;
        }
        // Of a head: its length, whether directions may follow it, and whether a name may at once.
        let head = head.map(|head| (head.len(), !self.shared.contains(head), self.direct.contains(head)));
        let head = head.or_else(|| self.is_verb(message, first).then_some((1, true, true)));
        let head = head.or_else(|| self.mistyped(index, message, first).map(|is_long| (1, true, is_long)));
        head.is_some_and(|(length, takes_directions, is_direct)| {
            let from = first + length;
            let may_be_direction = |word: &Word| {
                let from = message.words.partition_point(|it| it.begin < word.begin);
                let is_other = !self.leads_away && is_away(&message.words[from..]);
                takes_directions && is_direction(word) && !is_other
            };
            let any_more = |is: &dyn Fn(&Word) -> bool| {
                message.words[from..].iter().any(|word| is(word) && !filling.takes(word))
            };
            let says_more = || any_more(&|word| self.says(word));
            // `Put Acme` says not what becomes of it.
            let is_vague = || {
                let is_clear = |word: &Word| self.says(word) || may_be_direction(word);
                message.words[first..from].iter().all(Word::is_stop) && !any_more(&is_clear)
            };
            let next = message.words.get(from);
            let is_particle = || next.is_some_and(|word| english().particles.has(&word.lower));
            // `Watch list` is no order to watch.
            let is_noun = || next.is_some_and(|word| index.is_one(&message.words[from - 1], word));
            let is_another = (!is_told_of && is_particle()) || is_noun();
            let is_whole = || is_direct || says_more() || !filling.notes.is_empty();
            !is_another
                && self.accounts(filling, from..message.words.len(), |word| {
                    may_be_direction(word) || is_known(word)
                })
                && (!is_told_of || says_more())
                && !is_vague()
                && is_whole()
        })
    }

    /// Whether the message is an order that ends with its verb, as in Hindi: `Acme ko list mein daal do`.
    fn is_ordered_at_the_end(&self, filling: &Filling<'_>, is_known: impl Fn(&Word) -> bool) -> bool {
        let message = filling.message;
        let Some(verb) = message.last_verb() else { return false };
        let is_verb = |head: &&Vec<String>| head.len() == 1 && head[0] == message.words[verb].lower;
        self.heads.iter().find(is_verb).is_some_and(|head| {
            let may_be_direction = |word: &Word| !self.shared.contains(head) && is_direction(word);
            let may_stand = |word: &Word| may_be_direction(word) || (!word.is_guess && is_known(word));
            // The verb alone has too many meanings: `Acme ko drop karo`.
            let is_said = |word: &Word| self.says(word) && !self.has_head(&word.lower);
            let says_where =
                |word: &Word| is_said(word) && !word.is_stop() && !is_direction(word) && !filling.takes(word);
            message.words[..verb].iter().skip(message.first()).any(says_where)
                && self.accounts(filling, message.first()..verb, may_stand)
        })
    }

    /// Whether a message begins as an order does, and says where the change is made: `add the first two to my list`.
    pub(crate) fn is_begun(&self, message: &Message<'_>) -> bool {
        let first = message.first();
        let heads = self.heads.iter().filter(|head| message.says(first, head));
        let Some(head) = heads.max_by_key(|head| head.len()) else { return false };
        let begin = first + head.len();
        // `Get` and `I need` order nothing by themselves: `get me the news on my list` asks.
        let is_vague = message.words[first..begin].iter().all(Word::is_stop);
        let is_own = |word: &Word| word.is_stop() || self.says(word) || message.name_at(word).is_some();
        let rest = &message.words[begin..];
        let is_place = |at: usize| {
            let behind = || rest[at + 1..].iter().find(|word| !english().function.has(&word.lower));
            is_direction(&rest[at])
                && is_away(&rest[at..]) == self.leads_away
                && behind().is_some_and(|word| self.says(word))
                && (!is_vague || rest[..at].iter().all(is_own))
        };
        (0..rest.len()).any(is_place)
    }

    /// Whether an order may begin with this word alone.
    pub(crate) fn has_head(&self, word: &str) -> bool {
        self.heads.iter().any(|head| head.len() == 1 && head[0] == word)
    }

    /// Whether every word from a position on is accepted in an order.
    pub(crate) fn accounts_for(
        &self,
        message: &Message<'_>,
        slots: &[Slot],
        from: usize,
        is_known: impl Fn(&Word) -> bool,
    ) -> bool {
        self.accounts(&Filling::new(message, slots), from..message.words.len(), is_known)
    }

    /// Whether every one of these words, but for a tag, is accepted in an order.
    fn accounts(
        &self,
        filling: &Filling<'_>,
        places: Range<usize>,
        is_known: impl Fn(&Word) -> bool,
    ) -> bool {
        let message = filling.message;
        let may_stand = |word: &Word| {
            let is_form =
                || self.heads.iter().any(|head| head.len() == 1 && is_form(&head[0], &word.lower, "ed"));
            let is_said = || english().function.has(&word.lower) || self.says(word) || is_form();
            ((!word.is_guess || message.is_hindi(word)) && is_said()) || is_known(word)
        };
        let end = places.end.min(message.words.len() - message.tag());
        let rest = message.words.get(places.start..end).unwrap_or_default();
        rest.iter().all(|word| filling.takes(word) || may_stand(word))
    }

    /// Whether a word is a content word of the tool, and not a negation.
    pub(crate) fn says(&self, word: &Word) -> bool {
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

    /// Whether the message begins with the verb of an order with a typo of one letter: if so, whether the verb is long
    /// enough for that. A short one may lack one of two equal letters, if more is said: `ad Acme to my list`.
    fn mistyped(&self, index: &InvertedIndex, message: &Message<'_>, first: usize) -> Option<bool> {
        let is_unknown = |word: &&Word| !word.is_stop() && !index.has_written(word);
        let word = &message.words.get(first).filter(is_unknown)?.lower;
        let verbs = self.heads.iter().filter(|head| head.len() == 1).map(|head| &head[0]);
        let is_long = |verb: &String| word.len() >= SHORTEST && verb.len() >= SHORTEST;
        let lacks_one = |verb: &String| verb.len() == word.len() + 1 && once(verb) == once(word);
        let is_meant = |verb: &&String| osa_distance(verb, word) == 1 && (is_long(verb) || lacks_one(verb));
        verbs.into_iter().find(is_meant).map(is_long)
    }

    /// Whether the message equals one of the phrases, apart from names and function words.
    fn is_phrase(&self, filling: &Filling<'_>) -> bool {
        let words = filling.message.words.iter().skip(filling.message.first());
        let left = words.filter(|word| !filling.takes(word));
        self.phrases.contains(&core(left))
    }
}

/// Whether a word is a preposition of direction.
pub(crate) fn is_direction(word: &Word) -> bool {
    english().directions.has(&word.lower)
}

/// Whether words begin with an infinitive, but for small words before it: `me to add …`.
fn is_infinitive(words: &[Word]) -> bool {
    let is_small = |word: &&Word| word.lower != "to" && english().function.has(&word.lower);
    let rest = &words[words.iter().take_while(is_small).count()..];
    let is_verb =
        |word: &Word| !english().function.has(&word.lower) && !english().determiners.has(&word.lower);
    matches!(rest, [to, verb, ..] if to.lower == "to" && is_verb(verb))
}

/// Whether a part of a message is a verb with its particle alone: `hold on`.
pub(crate) fn is_phrasal(message: &Message<'_>) -> bool {
    let parts = message.text.split([',', ';', '.', '!']);
    let is_two = |part: &str| {
        let mut words = part.split_whitespace().rev();
        let last = words.next().map(str::to_lowercase).unwrap_or_default();
        (english().particles.has(&last) || matches!(last.as_str(), "on" | "off")) && words.count() == 1
    };
    parts.into_iter().any(is_two)
}

/// Whether words begin with a direction that leads away from where something is. `An eye out for Acme` does not.
fn is_away(rest: &[Word]) -> bool {
    let begins = |phrase: &Phrase| {
        let said = phrase.words();
        rest.len() >= said.len() && rest.iter().zip(said).all(|(word, said)| word.lower == *said)
    };
    english().away.iter().any(begins)
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
