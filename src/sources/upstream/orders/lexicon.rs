//! The phrases by their first word, and where a sentence has them.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    cues::{CUES, Cue},
    words::{Word, is_imperative, words},
};

/// Words before which dropping something is not an order.
const NEGATIONS: [&str; 5] = ["dont", "never", "not", "cannot", "cant"];
/// Words of a condition: a conditional sentence states a rule of its author's.
const CONDITIONS: [&str; 6] = ["if", "agar", "अगर", "wenn", "falls", "unless"];

#[derive(Debug)]
struct Phrase {
    cue: Cue,
    words: Vec<Pattern>,
    is_imperative: bool,
    ends_clause: bool,
}

#[derive(Debug)]
struct Pattern {
    text: String,
    is_beginning: bool,
}

/// Where a phrase stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    cue: Cue,
    pub(super) start: usize,
    /// Behind its last word.
    pub(super) end: usize,
    pub(super) is_imperative: bool,
}

/// Every phrase that a sentence has.
#[derive(Debug)]
pub(super) struct Hits(Vec<Hit>);

/// Phrases whose first word is whole, by that word; and the others.
#[derive(Debug, Default)]
struct Lexicon {
    whole: HashMap<String, Vec<Phrase>>,
    beginnings: Vec<Phrase>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon::default();
    let phrases = CUES.iter().flat_map(|(cue, list)| list.split('|').map(|text| Phrase::read(*cue, text)));
    for phrase in phrases {
        match &phrase.words[..] {
            [first, ..] if !first.is_beginning => {
                lexicon.whole.entry(first.text.clone()).or_default().push(phrase);
            }
            _ => lexicon.beginnings.push(phrase),
        }
    }
    lexicon
});

/// Every phrase that a sentence has.
pub(super) fn hits(words: &[Word]) -> Hits {
    let lexicon = &*LEXICON;
    let hits = (0..words.len()).flat_map(|at| {
        let whole = lexicon.whole.get(&words[at].text).into_iter().flatten();
        whole.chain(&lexicon.beginnings).filter_map(move |phrase| phrase.at(words, at))
    });
    Hits(hits.collect())
}

impl Hits {
    pub(super) fn of(&self, cue: Cue) -> impl Iterator<Item = &Hit> {
        self.0.iter().filter(move |hit| hit.cue == cue)
    }
}

impl Hit {
    /// Whether it counts as a cue: `never forget` drops nothing, and `sell if it falls` presses no reader.
    pub(super) fn counts(&self, cue: Cue, words: &[Word]) -> bool {
        let is = |list: &[&str], word: &Word| list.contains(&word.text.as_str());
        match cue {
            Cue::Drop => !self.start.checked_sub(1).is_some_and(|before| is(&NEGATIONS, &words[before])),
            Cue::Trade => !words[self.start..].iter().any(|word| is(&CONDITIONS, word)),
            _ => true,
        }
    }
}

impl Phrase {
    fn read(cue: Cue, text: &str) -> Self {
        let (text, is_imperative) = text.strip_prefix('^').map_or((text, false), |text| (text, true));
        let (text, ends_clause) = text.strip_suffix(':').map_or((text, false), |text| (text, true));
        let words = text.split(' ').flat_map(|text| {
            let (text, is_beginning) = text.strip_suffix('*').map_or((text, false), |text| (text, true));
            words(text).into_iter().map(move |word| Pattern { text: word.text, is_beginning })
        });
        Self { cue, words: words.collect(), is_imperative, ends_clause }
    }

    fn at(&self, words: &[Word], start: usize) -> Option<Hit> {
        let end = start + self.words.len();
        let is_here = words.get(start..end)?.iter().zip(&self.words).all(|(word, pattern)| pattern.is(word));
        let ends = || words.get(end).is_some_and(|next| next.begins_clause);
        let counts =
            is_here && (!self.is_imperative || is_imperative(words, start)) && (!self.ends_clause || ends());
        counts.then_some(Hit { cue: self.cue, start, end, is_imperative: self.is_imperative })
    }
}

impl Pattern {
    fn is(&self, word: &Word) -> bool {
        if self.is_beginning { word.text.starts_with(&self.text) } else { word.text == self.text }
    }
}
