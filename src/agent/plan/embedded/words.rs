//! The words of questions: what they are found by, which of them say nothing, and numbers that are written out.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::workspace::terms;

/// Words that stand in questions of every kind.
const STOP_WORDS: &str = "a about again bring brought came check come comes d display down fetch list pull summarise summarize up view viewing all already also always am an and any anybody anyone anything are as ask asked \
    asks at away be because been being bit but by can could current currently d did didn do does doesn don \
    each either else ever every everything exactly for from get getting give given go going gone good got had has have \
    haven having hello help here hey hi how i if in into is isn it its itself just kind know left let lets like ll look \
    looking lot m make makes many may maybe me mean means might mine more most much must my myself need next no \
    not of off ok okay on one ones only or our out over particular please put quick quickly quite re really \
    right s same say says see shall she should show shown so some somebody someone something soon still such t take \
    tell than thank thanks that the their them then there these they thing things this those though through to today \
    together told too under us use used user using ve very want wanted wants was way we went were what when \
    where whether which while who whole whom whose why will wish with within without won would yes yet you your";

/// Numbers that are written out.
const NUMBERS: [(&str, u32); 22] = [
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("eighteen", 18),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
    ("hundred", 100),
    ("dozen", 12),
];

static STOPS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());

static STOP_FILLERS: LazyLock<HashSet<String>> =
    LazyLock::new(|| FILLERS.split_whitespace().map(terms::term).collect());

/// One word of a text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::agent::plan) struct Word {
    /// Where it begins, in bytes.
    pub(in crate::agent::plan) begin: usize,
    /// Where it ends.
    pub(in crate::agent::plan) end: usize,
    /// In small letters.
    pub(in crate::agent::plan) lower: String,
    /// What it is found by.
    pub(in crate::agent::plan) term: String,
}

impl Word {
    /// Whether it stands in questions of every kind.
    pub(in crate::agent::plan) fn is_stop(&self) -> bool {
        is_stop(&self.lower)
    }

    /// The number that it is, in digits or written out.
    pub(in crate::agent::plan) fn number(&self) -> Option<u32> {
        let written = || NUMBERS.iter().find(|(word, _)| *word == self.lower).map(|(_, number)| *number);
        self.lower.parse().ok().or_else(written)
    }
}

/// The words of a text, in order.
pub(in crate::agent::plan) fn words(text: &str) -> Vec<Word> {
    words_by(text, terms::term)
}

/// The words of a text, in order, each found by what the function says.
pub(in crate::agent::plan) fn words_by(text: &str, mut term: impl FnMut(&str) -> String) -> Vec<Word> {
    let word = |(begin, word): (usize, &str)| Word {
        begin,
        end: begin + word.len(),
        lower: word.to_lowercase(),
        term: term(word),
    };
    terms::words(text).map(word).filter(|word| !word.term.is_empty()).collect()
}

/// The terms of words, each found out once: tools say the same words over and over.
#[derive(Debug, Default)]
pub(in crate::agent::plan) struct Known(HashMap<String, String>);

impl Known {
    /// The term of a word.
    pub(in crate::agent::plan) fn term(&mut self, word: &str) -> String {
        if let Some(term) = self.0.get(word) {
            return term.clone();
        }
        let term = terms::term(word);
        self.0.insert(word.to_owned(), term.clone());
        term
    }
}

/// Whether a word, in small letters, says nothing of what a question is about.
pub(in crate::agent::plan) fn is_stop(lower: &str) -> bool {
    STOPS.contains(lower)
}

/// Two terms side by side, as one.
pub(in crate::agent::plan) fn pair(left: &str, right: &str) -> String {
    format!("{left} {right}")
}

/// What stands for a name among the words around it.
pub(in crate::agent::plan) const NAME: &str = "@";

/// Words that change nothing of what is asked.
const FILLERS: &str = "still currently right really actually just now please also even ever again already exactly \
    recently lately there then so all of the a an any some";

/// Each three words side by side, as one term, without such as change nothing; names count as one word, whichever they
/// are.
pub(in crate::agent::plan) fn triples<'a>(terms: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<&str> = terms.filter(|term| !STOP_FILLERS.contains(*term)).collect();
    all.dedup_by(|next, before| next == before && *next == NAME);
    all.windows(3).map(|three| three.join(" ")).collect()
}

/// The terms of a phrase, stop words included.
pub(in crate::agent::plan) fn phrase(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.term).collect()
}
