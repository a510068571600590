//! Finds the names in a message: known ones by one pass over the text, unknown ones by how they are written.

mod name_match;
mod name_words;
mod style;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aho_corasick::{AhoCorasick, MatchKind};

pub(crate) use self::name_match::{NameMatch, is_of_kind};
use self::{name_words::NameWords, style::Style};
use super::{
    spelling::Spelling,
    words::{MOST_CORRECTED, Word},
};
use crate::{english::english, names::Name};

/// Kind of a name that is not known.
pub(crate) const UNKNOWN: &str = "";
/// Kind of the accounts of a user, which are named whole.
pub(crate) const ACCOUNT: &str = "account";

/// The longest name that is not recognized mistyped.
const SHORT_NAME: usize = 4;

/// The names that a user's messages may hold.
#[derive(Debug)]
pub(crate) struct NameIndex {
    pub(super) names: Vec<Name>,
    finder: Option<AhoCorasick>,
    /// The words of names of several.
    words: NameWords,
    /// Names of one word, each with the first name of what it names.
    spelling: Spelling<usize>,
}

/// What is known of words that may be names.
pub(crate) struct Known<'a> {
    /// Whether a word is one that tools use, in any form, and so is no name unless it is written like one.
    pub(crate) by_stem: &'a dyn Fn(&Word) -> bool,
    /// Whether it is one just as it is written, and so is not mistyped.
    pub(crate) as_written: &'a dyn Fn(&Word) -> bool,
    /// Whether it is mistyped for one.
    pub(crate) mistyped: &'a dyn Fn(&Word) -> bool,
}

impl NameIndex {
    pub(crate) fn new(names: Vec<Name>) -> Self {
        let names: Vec<_> = names.into_iter().filter(|name| !name.text.trim().is_empty()).collect();
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).match_kind(MatchKind::Standard);
        let finder = builder.build(names.iter().map(|name| name.text.as_str())).ok();
        let spelling = spelling(&names);
        let texts = names.iter().map(|name| if name.of == ACCOUNT { "" } else { name.text.as_str() });
        let words = NameWords::new(texts);
        Self { names, finder, words, spelling }
    }

    /// What a text names, in order.
    pub(crate) fn find(&self, text: &str, words: &[Word], known: &Known<'_>) -> Vec<NameMatch> {
        let is_known = known.by_stem;
        let mut found = self.find_known(text);
        let is_short = words.len() <= MOST_CORRECTED;
        let mut misspelt = if is_short { self.find_misspelt(words, known) } else { Vec::new() };
        // The longer of two names is meant.
        found.retain(|it| !misspelt.iter().any(|other| other.begin <= it.begin && it.end <= other.end));
        misspelt.retain(|it| !found.iter().any(|other| other.overlaps(it)));
        found.extend(misspelt);
        found.sort_by_key(|it| it.begin);
        let has_small = text.contains(|c: char| c.is_lowercase());
        let mut unknown: Vec<NameMatch> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let next = found.partition_point(|it| it.end <= word.begin);
            let is_taken = found.get(next).is_some_and(|it| it.begin < word.end);
            let style = Style::of(text, word, at == 0, has_small);
            let is_word = || style != Style::Capital && is_known(word);
            if is_taken || word.is_stop() {
                continue;
            }
            let near = || self.near(word, style).filter(|_| is_short && !(known.as_written)(word));
            if is_word() {
                unknown.extend(near());
                continue;
            }
            let is_code = || style == Style::Code && !is_noun(words, at);
            let is_meant =
                || !is_known(word) && (is_code() || style != Style::Code && !(known.mistyped)(word));
            let other = || unknown_name(style, text, word).filter(|_| is_meant());
            let is_name = style == Style::Capital && !is_known(word);
            if let Some(it) = self.part(words, at, style, is_name).or_else(near).or_else(other) {
                match unknown.last_mut() {
                    Some(last) if last.goes_on(&it) && text[last.end..it.begin] == *" " => {
                        let is_foreign = last.is_foreign || !last.candidates.is_empty();
                        *last = NameMatch::unknown(text, last.begin, it.end, is_foreign);
                    }
                    _ => unknown.push(it),
                }
            }
        }
        found.extend(unknown);
        found.sort_by_key(|it| it.begin);
        without_what_is_said_better(text, found)
    }

    /// The longest names that stand in a text as whole words.
    pub(crate) fn find_known(&self, text: &str) -> Vec<NameMatch> {
        let matches = self.finder.iter().flat_map(|finder| finder.find_overlapping_iter(text));
        let mut all: Vec<_> = matches
            .map(|it| (it.start(), it.end(), it.pattern().as_usize()))
            .filter(|(begin, end, name)| self.stands(text, *begin, *end, *name))
            .collect();
        all.sort_by_key(|(begin, end, name)| (*begin, usize::MAX - end, *name));
        let mut found: Vec<NameMatch> = Vec::new();
        for (begin, end, name) in all {
            let meaning = (self.names[name].of.clone(), self.names[name].value.clone());
            match found.last_mut() {
                Some(last) if last.begin == begin && last.end == end => {
                    if !last.meanings.contains(&meaning) {
                        last.meanings.push(meaning);
                    }
                }
                Some(last) if begin < last.end => {}
                _ => found.push(NameMatch {
                    begin,
                    end,
                    meanings: vec![meaning],
                    is_foreign: false,
                    is_guess: false,
                    candidates: Vec::new(),
                }),
            }
        }
        found
    }

    /// Whether a name is a whole word there, and written so that it is the name and not the word.
    fn stands(&self, text: &str, begin: usize, end: usize, name: usize) -> bool {
        let (before, after) = (&text[..begin], &text[end..]);
        let goes_on = |c: char| c.is_alphanumeric();
        let follows = after.strip_prefix('&').unwrap_or(after);
        let is_whole = !before.ends_with(goes_on) && !follows.starts_with(goes_on);
        let name = &self.names[name];
        is_whole && (!name.is_a_word || text[begin..end] == name.text)
    }

    /// Names of several words of which one or more are mistyped: at least their first two words.
    fn find_misspelt(&self, words: &[Word], known: &Known<'_>) -> Vec<NameMatch> {
        let readings: Vec<_> = words.iter().map(|word| self.words.reading(word, known.as_written)).collect();
        let mut found: Vec<NameMatch> = Vec::new();
        for at in 0..words.len().saturating_sub(1) {
            let Some(first) = readings[at] else { continue };
            let is_taken = found.last().is_some_and(|last| words[at].begin < last.end);
            let names = self.words.get(first).into_iter().flatten().filter(|(_, is_first)| *is_first);
            let matches =
                names.filter_map(|(name, _)| Some((self.words.length_at(&readings[at..], *name)?, *name)));
            let matches: Vec<_> = matches.collect();
            let Some(longest) = matches.iter().map(|(length, _)| *length).max() else { continue };
            let mut longest_names =
                matches.iter().filter(|(length, _)| *length == longest).map(|(_, name)| *name);
            let is_exact = || (at..at + longest).all(|at| readings[at] == Some(words[at].lower.as_str()));
            let name = longest_names.next();
            let Some(name) = name.filter(|_| !is_taken && !is_exact()) else { continue };
            if longest_names.all(|other| self.is_same(name, other)) {
                let end = words[at + longest - 1].end;
                found.push(NameMatch { end, is_guess: true, ..self.name_match(&words[at], name) });
            }
        }
        found
    }

    /// A word that is a name, mistyped.
    fn near(&self, word: &Word, style: Style) -> Option<NameMatch> {
        if style == Style::Code {
            return None;
        }
        let name = *self.spelling.near(&word.lower)?.1;
        Some(NameMatch { is_guess: true, ..self.name_match(word, name) })
    }

    /// A word that stands for a name.
    fn name_match(&self, word: &Word, name: usize) -> NameMatch {
        let Name { of, value, .. } = &self.names[name];
        let meanings = vec![(of.clone(), value.clone())];
        let (begin, end, candidates) = (word.begin, word.end, Vec::new());
        NameMatch { begin, end, meanings, is_foreign: false, is_guess: false, candidates }
    }

    /// A word that is a part of names: of one, if it is written as a name or stands beside another word of it; or of
    /// several, which a question then lists.
    fn part(&self, words: &[Word], at: usize, style: Style, is_name: bool) -> Option<NameMatch> {
        let word = &words[at];
        let parts = self.words.get(&word.lower)?;
        if style == Style::Small && !parts.iter().any(|(_, is_first)| *is_first) {
            return None;
        }
        // Of the names of one thing the longest is shown.
        let mut longest: BTreeMap<_, &str> = BTreeMap::new();
        for Name { of, value, text, .. } in parts.iter().map(|(at, _)| &self.names[*at]) {
            let told = longest.entry((of, value)).or_insert(text);
            if told.len() < text.len() {
                *told = text;
            }
        }
        if longest.len() == 1 {
            // `The Indian markets` names no company that begins with `Indian`.
            let (name, _) = parts[0];
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let is_beside = beside.filter_map(|at| words.get(at)).any(|word| self.is_part(word, name));
            return (is_name || is_beside).then(|| self.name_match(word, name));
        }
        // A word that many names have in common names none of them.
        let kinds: BTreeSet<_> = longest.keys().map(|(of, _)| (*of).clone()).collect();
        let candidates: BTreeSet<_> = longest.into_values().map(str::to_owned).collect();
        let (begin, end, candidates) = (word.begin, word.end, candidates.into_iter().collect());
        let meanings = kinds.into_iter().map(|of| (of, String::new())).collect();
        (style != Style::Small).then_some(NameMatch {
            begin,
            end,
            meanings,
            is_foreign: false,
            is_guess: false,
            candidates,
        })
    }

    /// Whether two names are of one thing.
    fn is_same(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.names[one], &self.names[other]);
        one.value == other.value && one.of == other.of
    }

    /// Whether a word is a part of a name of what another one names.
    fn is_part(&self, word: &Word, name: usize) -> bool {
        self.words.get(&word.lower).is_some_and(|parts| parts.iter().any(|(at, _)| self.is_same(*at, name)))
    }
}

/// A name that may be several is none beside one of them: `Tata, I mean Tata Motors`.
fn without_what_is_said_better(text: &str, mut found: Vec<NameMatch>) -> Vec<NameMatch> {
    let clear = found.iter().filter(|it| it.candidates.is_empty());
    let said: BTreeSet<_> = clear.map(|it| text[it.begin..it.end].to_lowercase()).collect();
    let is_said = |name: &String| {
        let name = name.to_lowercase();
        let mut ends = name.char_indices().map(|(end, _)| end).chain([name.len()]);
        ends.any(|end| said.contains(&name[..end]))
    };
    found.retain(|it| !it.candidates.iter().any(is_said));
    found
}

/// Names of one word as they may be mistyped.
fn spelling(names: &[Name]) -> Spelling<usize> {
    let mut first = HashMap::new();
    let read = |(at, name): (usize, &Name)| {
        let first = *first.entry((name.of.clone(), name.value.clone())).or_insert(at);
        (name.text.to_lowercase(), first)
    };
    // Four letters in another order are too often a word: `meat` is no `Meta`.
    let is_long = |(_, name): &(usize, &Name)| name.text.len() > SHORT_NAME;
    let whole: Vec<_> = names.iter().enumerate().filter(is_long).map(read).collect();
    Spelling::of_names(whole.iter().map(|(text, first)| (text.as_str(), *first)))
}

/// Whether a word stands as a noun does, behind an article or a possessive and with no other noun behind it, so that
/// its capitals make no name of it: `who is its CEO`.
fn is_noun(words: &[Word], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &words[before]);
    before.is_some_and(|before| english().articles.has(&before.lower))
        && words.get(at + 1).is_none_or(Word::is_stop)
}

/// A name that is not known.
fn unknown_name(style: Style, text: &str, word: &Word) -> Option<NameMatch> {
    let is_name = matches!(style, Style::Code | Style::Capital);
    is_name.then(|| NameMatch::unknown(text, word.begin, word.end, style == Style::Capital))
}
