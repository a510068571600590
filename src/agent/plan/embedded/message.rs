//! A message, read once: its words, what it names, and the times in it.

use chrono::NaiveDate;

use super::{
    lexicon::Words,
    names::{Found, NameIndex},
    times::{Times, is_calendar},
    words::{NAME, Word, words},
};

/// Questions begin so.
const ASKING: &str = "what whats which who whom whose when where why how is are was were am do does did has have had \
    should shall may might will would could can any";

/// What stands before an order that is asked politely.
const POLITE: [&[&str]; 18] = [
    &["can", "you"],
    &["could", "you"],
    &["would", "you"],
    &["will", "you"],
    &["please"],
    &["kindly"],
    &["i", "want", "you", "to"],
    &["i", "want", "to"],
    &["i", "would", "like", "to"],
    &["i", "d", "like", "to"],
    &["i", "d", "like", "you", "to"],
    &["i", "need", "to"],
    &["i", "need", "you", "to"],
    &["let", "s"],
    &["go", "ahead", "and"],
    &["help", "me"],
    &["now"],
    &["then"],
];

/// A message or a clause of one.
#[derive(Debug)]
pub(in crate::agent::plan) struct Message<'a> {
    pub(in crate::agent::plan) text: &'a str,
    pub(in crate::agent::plan) words: Vec<Word>,
    pub(in crate::agent::plan) found: Vec<Found>,
    pub(in crate::agent::plan) times: Times,
    /// What it is about, names apart, each term with the place of its word.
    pub(in crate::agent::plan) content: Vec<(String, usize)>,
}

impl<'a> Message<'a> {
    /// Reads a text.
    pub(in crate::agent::plan) fn new(
        text: &'a str,
        today: NaiveDate,
        (names, lexicon): (&NameIndex, &Words),
        is_known: impl Fn(&Word) -> bool,
    ) -> Self {
        let words = words(text);
        let times = Times::of(&words, today);
        let found = names
            .find(text, &words, |word| is_known(word) || word.number().is_some() || is_calendar(&word.lower));
        // Places among the words that are left, put back among all of them.
        let is_named = |word: &Word| found.iter().any(|it| it.begin < word.end && word.begin < it.end);
        let rest: Vec<_> = words.iter().enumerate().filter(|(_, word)| !is_named(word)).collect();
        let left: Vec<Word> = rest.iter().map(|(_, word)| (*word).clone()).collect();
        let content = lexicon.content(&left).into_iter().map(|(term, at)| (term, rest[at].0)).collect();
        Self { text, words, found, times, content }
    }

    /// The terms of all words, with one sign for names.
    pub(in crate::agent::plan) fn masked(&self) -> impl Iterator<Item = &str> {
        let is_named = |word: &Word| self.found.iter().any(|it| it.begin < word.end && word.begin < it.end);
        self.words.iter().map(move |word| if is_named(word) { NAME } else { word.term.as_str() })
    }

    /// The first word of what is to be done, after what is only polite.
    pub(in crate::agent::plan) fn first(&self) -> usize {
        let mut at = 0;
        while let Some(phrase) = POLITE.iter().find(|phrase| self.says(at, phrase)) {
            at += phrase.len();
        }
        at
    }

    /// Whether something is to be done, and nothing asked.
    pub(in crate::agent::plan) fn is_order(&self) -> bool {
        let first = self.first();
        let Some(word) = self.words.get(first) else { return false };
        !is_asking(&word.lower) && (first > 0 || !self.text.trim_end().ends_with('?'))
    }

    /// Whether the words at a place are these.
    pub(in crate::agent::plan) fn says(&self, at: usize, phrase: &[&str]) -> bool {
        let rest = self.words.get(at..).unwrap_or_default();
        rest.len() >= phrase.len() && rest.iter().zip(phrase).all(|(word, said)| word.lower == *said)
    }
}

/// Whether a question begins with the word.
pub(in crate::agent::plan) fn is_asking(word: &str) -> bool {
    ASKING.split_whitespace().any(|asking| asking == word)
}
