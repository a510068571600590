//! A message, read once: its words, what it names, and the times in it.

use chrono::NaiveDate;

use super::{
    inverted_index::{InvertedIndex, Term, Token},
    names::{ACCOUNT, Known, NameIndex, NameMatch},
    times::{Times, is_calendar},
    words::{MOST_CORRECTED, Word, words},
};
use crate::english::{Phrase, english};

#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) text: &'a str,
    pub(crate) words: Vec<Word>,
    pub(crate) found: Vec<NameMatch>,
    pub(crate) times: Times,
    /// The terms without stop words and names, each with the index of its word.
    pub(crate) content: Vec<(Term, usize)>,
    /// The terms of all words, `None` for those of names.
    pub(crate) tokens: Vec<Option<Token>>,
}

impl<'a> Message<'a> {
    pub(crate) fn new(text: &'a str, today: NaiveDate, names: &NameIndex, index: &InvertedIndex) -> Self {
        let words = words(text);
        let is_other = |word: &Word| word.number().is_some() || is_calendar(&word.lower);
        let known = Known {
            by_stem: &|word| index.knows(word) || is_other(word),
            as_written: &|word| index.has_written(word) || is_other(word),
            mistyped: &|word| words.len() <= MOST_CORRECTED && index.meant_by(word).is_some(),
        };
        let found = names.find(text, &words, &known);
        let is_named = |word: &Word| name_at(&found, word).is_some();
        let is_short = words.len() <= MOST_CORRECTED;
        let spelled = |word: Word| match Some(&word)
            .filter(|it| is_short && !is_named(it))
            .and_then(|it| index.meant_by(it))
        {
            Some(meant) => word.read_as(meant),
            None => word,
        };
        let words: Vec<_> = words.into_iter().map(spelled).collect();
        let times = Times::of(text, &words, today);
        let (places, rest): (Vec<_>, Vec<_>) =
            words.iter().enumerate().filter(|(_, word)| !is_named(word)).unzip();
        let left = index.tokens(&rest);
        let content = index.content(&left).into_iter().map(|(term, at)| (term, places[at]));
        let first = polite(&words);
        // `Between March and June` compares nothing.
        let is_bound = |at: usize| english().since.has(&words[at].lower) && times.is_date(at + 1);
        let content = content.filter(|(_, at)| *at >= first && !is_bound(*at)).collect();
        let mut tokens = vec![None; words.len()];
        for (at, token) in places.iter().zip(left) {
            tokens[*at] = Some(token);
        }
        // `My positions in the retirement account` is not asked as `my position in Acme` is.
        for (token, word) in tokens.iter_mut().zip(&words) {
            if name_at(&found, word).is_some_and(|found| found.is_of(ACCOUNT)) {
                *token = index.tokens(&[word]).pop();
            }
        }
        Self { text, words, found, times, content, tokens }
    }

    /// The index of the first word after polite ones.
    pub(crate) fn first(&self) -> usize {
        polite(&self.words)
    }

    /// The number of words at the end that only make an order polite.
    pub(crate) fn tag(&self) -> usize {
        tag(&self.words)
    }

    /// Whether a word, or the phrase that begins with it, is of another subject and no tool has it.
    pub(crate) fn is_out_of_scope(&self, index: &InvertedIndex, word: usize) -> bool {
        let term = self.content.binary_search_by_key(&word, |(_, at)| *at);
        index.is_out_of_scope(&self.words[word])
            || term.is_ok_and(|at| index.is_term_out_of_scope(self.content[at].0))
    }

    /// What is named where a word stands.
    pub(crate) fn name_at(&self, word: &Word) -> Option<&NameMatch> {
        name_at(&self.found, word)
    }

    /// Whether the message is an order, not a question.
    pub(crate) fn is_order(&self) -> bool {
        let first = self.first();
        let Some(word) = self.words.get(first) else { return false };
        // `I'd like to have` asks nothing.
        let is_wished = first > 0 && self.words[first - 1].lower == "to";
        (is_wished || !is_asking(&word.lower))
            && (first > 0 || !self.text.trim_end().ends_with('?') || self.tag() > 0)
    }

    /// Whether a word denies or excludes something: `not`, `without`, `isn't`.
    pub(crate) fn is_negation(&self, at: usize) -> bool {
        let word = &self.words[at];
        let is_contracted = || word.lower == "t" && self.text[..word.begin].ends_with(['\'', '’']);
        english().negations.has(&word.lower) || is_contracted()
    }

    /// Whether something is said to belong to what a word is: `the neighbour's`.
    pub(crate) fn is_possessor(&self, word: usize) -> bool {
        let after = &self.text[self.words[word].end..];
        let after = after.strip_prefix(['\'', '’']).unwrap_or_default();
        after.strip_prefix('s').is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    }

    /// Whether something is compared with the number at a place, as in `under 15`.
    pub(crate) fn is_compared(&self, number: usize) -> bool {
        let begins =
            |phrase: &[String]| number.checked_sub(phrase.len()).is_some_and(|at| self.says(at, phrase));
        english().comparisons.iter().map(Phrase::words).any(begins)
    }

    /// Whether the words at a place are these.
    pub(crate) fn says(&self, at: usize, phrase: &[String]) -> bool {
        says(&self.words, at, phrase)
    }
}

/// What is named where a word stands, of names in order, none over another.
fn name_at<'a>(found: &'a [NameMatch], word: &Word) -> Option<&'a NameMatch> {
    let at = found.partition_point(|found| found.end <= word.begin);
    found.get(at).filter(|found| found.begin < word.end)
}

/// How many words stand before what is to be done, and are only polite.
pub(crate) fn polite(words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(phrase) = english().polite.iter().find(|phrase| says(words, at, phrase.words())) {
        at += phrase.words().len();
    }
    at
}

/// How many words at the end only make an order polite.
pub(crate) fn tag(words: &[Word]) -> usize {
    let mut count = 0;
    let ends = |count: usize, tag: &[String]| {
        let at = (words.len() - count).checked_sub(tag.len());
        at.is_some_and(|at| at > 0 && says(&words[..words.len() - count], at, tag))
    };
    while let Some(tag) = english().tags.iter().map(Phrase::words).find(|tag| ends(count, tag)) {
        count += tag.len();
    }
    count
}

fn says(words: &[Word], at: usize, phrase: &[String]) -> bool {
    let rest = words.get(at..).unwrap_or_default();
    let is = |word: &Word, said: &str| word.lower == said || (word.lower == "u" && said == "you");
    rest.len() >= phrase.len() && rest.iter().zip(phrase).all(|(word, said)| is(word, said))
}

/// Whether a question begins with the word.
pub(crate) fn is_asking(word: &str) -> bool {
    english().asking.has(word)
}
