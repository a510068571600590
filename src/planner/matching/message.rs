//! A message, read once: its words, what it names, and the times in it.

use chrono::NaiveDate;

use super::{
    inverted_index::{InvertedIndex, Term, Token},
    names::{ACCOUNT, Known, NameIndex, NameMatch},
    times::{Times, is_calendar},
    words::{Word, words},
};
use crate::{
    english::{Phrase, WordSet, english},
    hinglish::{self, english_for_two, is_auxiliary},
};

/// A message or a clause of one.
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
        let is_other = |word: &Word| {
            word.number().is_some() || is_calendar(&word.lower) || english_for(&word.lower).is_some()
        };
        let known = Known {
            by_stem: &|word| index.knows(word) || is_other(word),
            as_written: &|word| index.has_written(word) || is_other(word),
            mistyped: &|word| index.meant_by(word).is_some(),
        };
        let found = names.find(text, &words, &known);
        let is_named = |word: &Word| name_at(&found, word).is_some();
        let words = in_english(text, words, is_named, index);
        let times = Times::of(text, &words, today);
        let (places, rest): (Vec<_>, Vec<_>) =
            words.iter().enumerate().filter(|(_, word)| !is_named(word)).unzip();
        let left = index.tokens(&rest);
        let content = index.content(&left).into_iter().map(|(term, at)| (term, places[at]));
        // `Yo` before a question only greets.
        let first = polite(&words);
        // `Between March and June` compares nothing.
        let is_bound = |at: usize| english().since.has(&words[at].lower) && times.is_date(at + 1);
        let says =
            |at: usize| at >= first && !is_attitude(&words, at) && !replaces(&words, at) && !is_bound(at);
        let content = content.filter(|(_, at)| says(*at)).collect();
        let mut tokens = vec![None; words.len()];
        for (at, token) in places.iter().zip(left) {
            tokens[*at] = Some(token);
        }
        // `My positions in the retirement account` is not asked as `my position in Acme` is.
        let accounts = found.iter().filter(|found| found.is_of(ACCOUNT));
        for account in accounts {
            for (at, word) in words.iter().enumerate() {
                if account.begin <= word.begin && word.end <= account.end {
                    tokens[at] = index.tokens(&[word]).pop();
                }
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
        let ends =
            |tag: &&[String]| self.words.len() > tag.len() && self.says(self.words.len() - tag.len(), tag);
        english().tags.iter().map(Phrase::words).find(ends).map_or(0, <[_]>::len)
    }

    /// Where the time begins with which the message ends, in bytes, with the small words before it: `in 2025`.
    pub(crate) fn time_at_the_end(&self) -> Option<usize> {
        let is_time = |at: &usize| self.times.takes(*at);
        let last = self.words.len().checked_sub(1).filter(is_time)?;
        let first = (0..=last).rev().take_while(is_time).last()?;
        let english = english();
        let before = [&english.since, &english.until, &english.during, &english.determiners];
        let is_small = |at: &usize| before.iter().any(|words| words.has(&self.words[*at].lower));
        let first = (0..first).rev().take_while(is_small).last().unwrap_or(first);
        (first > 0).then(|| self.words[first].begin)
    }

    /// Whether something named is what another one replaces, or stands in a list of that: `Acme instead of Initech and
    /// Hooli`.
    pub(crate) fn is_replaced(&self, found: &NameMatch) -> bool {
        let place = self.words.partition_point(|word| word.begin < found.begin);
        let stands = |phrase: &[String], end: usize| {
            end.checked_sub(phrase.len()).is_some_and(|at| self.says(at, phrase))
        };
        // `Instead of my Initech`.
        let begins = place.saturating_sub(usize::from(place > 0 && self.words[place - 1].is_stop()));
        let mut phrases = english().instead_of.iter().map(Phrase::words);
        let before = self.found.iter().rev().find(|other| other.end <= found.begin);
        phrases.any(|phrase| stands(phrase, place) || stands(phrase, begins))
            || before.is_some_and(|before| self.is_listed_with(before, found) && self.is_replaced(before))
    }

    /// Whether nothing but what joins the two of a list stands between two names. A comma behind what begins the
    /// message ends it: `instead of Acme, Initech`.
    pub(crate) fn is_listed_with(&self, before: &NameMatch, found: &NameMatch) -> bool {
        let Some(between) = self.text.get(before.end..found.begin).map(str::trim) else { return false };
        let (comma, rest) =
            between.strip_prefix(',').map_or((false, between), |rest| (true, rest.trim_start()));
        let joins = |rest: &str| english().list_joints.has(rest);
        let begins = || english().instead_of.iter().any(|phrase| self.says(self.first(), phrase.words()));
        joins(&rest.to_lowercase()) || (comma && rest.is_empty() && !begins())
    }

    /// Whether a word, or the phrase that begins with it, is of another subject and no tool has it.
    pub(crate) fn is_out_of_scope(&self, index: &InvertedIndex, word: usize) -> bool {
        let term = self.content.iter().find(|(_, at)| *at == word).map(|(term, _)| *term);
        index.is_out_of_scope(&self.words[word]) || term.is_some_and(|term| index.is_term_out_of_scope(term))
    }

    /// What is named where a word stands.
    pub(crate) fn name_at(&self, word: &Word) -> Option<&NameMatch> {
        name_at(&self.found, word)
    }

    /// Whether a word is a Hindi one, read as its English one.
    pub(crate) fn is_hindi(&self, word: &Word) -> bool {
        word.is_guess && hinglish::english_for(&self.text[word.begin..word.end].to_lowercase()).is_some()
    }

    /// The place of the verb of an order that ends with it, as in Hindi: of `hata do`, `add karo`.
    pub(crate) fn last_verb(&self) -> Option<usize> {
        let written = |word: &Word| self.text[word.begin..word.end].to_lowercase();
        let end = self.words.len() - self.tag();
        let helps = |word: &&Word| is_auxiliary(&written(word));
        let count = self.words[..end].iter().rev().take_while(helps).count();
        let verb = (end - count).checked_sub(1)?;
        // `Do` alone is an English word too.
        let is_hindi = |word: &Word| self.is_hindi(word);
        let is_helped = self.words[verb + 1..end].iter().any(is_hindi);
        (verb > 0 && (is_hindi(&self.words[verb]) || is_helped)).then_some(verb)
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

    /// Whether something is said to belong to what a word is: `the neighbour's`.
    pub(crate) fn is_possessor(&self, word: usize) -> bool {
        let after = &self.text[self.words[word].end..];
        let after = after.strip_prefix(['\'', '’']).unwrap_or_default();
        after.strip_prefix('s').is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    }

    /// Where the words begin that make a bound of the number at a place, as `under 15`. `None` if nothing is compared
    /// with it.
    pub(crate) fn bound(&self, number: usize) -> Option<usize> {
        let begins = |phrase: &[String]| number.checked_sub(phrase.len()).filter(|at| self.says(*at, phrase));
        english().comparisons.iter().map(Phrase::words).find_map(begins)
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

/// Whether a word only says how somebody is minded: `I was thinking of …`, `I've been meaning to …`.
fn is_attitude(words: &[Word], at: usize) -> bool {
    let is = |at: Option<usize>, set: &WordSet| {
        at.and_then(|at| words.get(at)).is_some_and(|it| set.has(&it.lower))
    };
    let english = english();
    let is_of_self = (1..=3).any(|before| at.checked_sub(before).is_some_and(|at| words[at].lower == "i"));
    words[at].lower.ends_with("ing") && is_of_self && is(Some(at + 1), &english.behind_attitudes)
}

/// Whether a word begins a phrase such as `instead of`, which says only what is replaced.
fn replaces(words: &[Word], at: usize) -> bool {
    english().instead_of.iter().any(|phrase| says(words, at, phrase.words()))
}

/// The English words for a Hindi one, or for one that is written in haste.
fn english_for(word: &str) -> Option<&'static str> {
    english().shorthand.get(word).map(String::as_str).or_else(|| hinglish::english_for(word))
}

/// The word that is meant by a mistyped one.
fn spelled(word: Word, index: &InvertedIndex) -> Word {
    match index.meant_by(&word).filter(|_| english_for(&word.lower).is_none()) {
        Some(meant) => word.read_as(meant),
        None => word,
    }
}

/// The words but for names in English: for mistyped ones those that are meant, and for those that neither English nor a
/// tool has their English ones.
fn in_english(
    text: &str,
    words: Vec<Word>,
    is_named: impl Fn(&Word) -> bool,
    index: &InvertedIndex,
) -> Vec<Word> {
    let mut all = Vec::with_capacity(words.len());
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        if is_named(&word) {
            all.push(word);
            continue;
        }
        let next = rest.peek().filter(|next| !is_named(next));
        if let Some(english) = next.and_then(|next| english_for_two(&word.lower, &next.lower)) {
            let end = rest.next().map_or(word.end, |next| next.end);
            all.extend(placed(&Word { end, ..word }, english));
            continue;
        }
        let word = spelled(word, index);
        let is_other = || !word.is_stop() && (!index.knows(&word) || is_letter(text, &word));
        match english_for(&word.lower).filter(|_| is_other()) {
            Some(english) => all.extend(placed(&word, english)),
            None => all.push(word),
        }
    }
    all
}

/// Whether a word is a letter that stands for itself: `r my shares up`, but not `r/shares`.
fn is_letter(text: &str, word: &Word) -> bool {
    let joins = |rest: &str| rest.starts_with(char::is_alphanumeric);
    let is_joined =
        text[..word.begin].ends_with('/') || text[word.end..].strip_prefix('/').is_some_and(joins);
    word.lower.chars().count() == 1 && !is_joined
}

/// English words for one: the first one in its place, the others behind it.
fn placed(word: &Word, english: &str) -> impl Iterator<Item = Word> {
    let begin = std::iter::once(word.begin).chain(std::iter::repeat(word.end));
    let placed = english.split(' ').zip(begin);
    placed.map(|(english, begin)| Word { begin, ..word.clone().read_as(english) })
}

/// How many words stand before what is to be done, and are only polite.
pub(crate) fn polite(words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(phrase) = english().polite.iter().find(|phrase| says(words, at, phrase.words())) {
        at += phrase.words().len();
    }
    at
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
