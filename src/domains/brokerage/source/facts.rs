//! Educational snippets: markdown files, found by topic.
//!
//! Two key words come first, as words and not as letters within others; then an index of all files by words,
//! tolerant of spelling; then the fallback. A text that fits only a part of the topic comes with a warning: a wrong
//! text presented with confidence is worse than none.

use std::{collections::BTreeSet, sync::Arc};

/// The answer to a topic that matches nothing.
pub const FALLBACK: &str = "rebalancing.md";

/// The key words and their files, in order of precedence: what a word of the topic must be.
const KEY_WORDS: [(IsKey, &str); 2] = [
    (|word| word.starts_with("roth"), "roth_ira.md"),
    (|word| matches!(word, "etf" | "etfs"), "etf_basics.md"),
];

type IsKey = fn(&str) -> bool;

/// Words that say nothing about a topic.
const STOP_WORDS: [&str; 47] = [
    "a",
    "about",
    "all",
    "an",
    "and",
    "are",
    "at",
    "basics",
    "best",
    "better",
    "can",
    "do",
    "does",
    "explain",
    "for",
    "how",
    "i",
    "in",
    "is",
    "it",
    "me",
    "mean",
    "means",
    "my",
    "of",
    "on",
    "or",
    "should",
    "simulated",
    "tell",
    "than",
    "that",
    "the",
    "this",
    "to",
    "use",
    "used",
    "vs",
    "we",
    "what",
    "when",
    "which",
    "why",
    "with",
    "work",
    "works",
    "you",
];

/// How much a word of the topic counts when it stands in a title, nearly stands there, or stands in few texts.
const TITLE: u32 = 4;
const NEAR_TITLE: u32 = 3;
const RARE: u32 = 1;

/// A word that stands in more files than this does not tell them apart.
const RARE_IN: usize = 2;

/// The similarity from which two words count as one (Jaro-Winkler).
const MIN_SIMILARITY: f64 = 0.9;

#[derive(Clone, Debug)]
pub struct Fact {
    /// The file, such as `roth_ira.md`.
    pub file_name: String,
    /// The text without its heading.
    pub snippet: String,
    title: BTreeSet<String>,
    body: BTreeSet<String>,
}

/// The snippet on a topic.
#[derive(Clone, Debug)]
pub struct Snippet<'a> {
    pub fact: &'a Fact,
    /// How well it answers the topic.
    pub fit: Fit,
}

/// How well a snippet answers a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is on this very topic.
    Exact,
    /// It is on something that is near: these words of the topic it has, and these it has not.
    Partial {
        /// Those that it has. At least one.
        has: Vec<String>,
        /// Those that it has not. None where the text only mentions the topic, or is on something narrower.
        lacks: Vec<String>,
    },
    /// It matches nothing, and this is the file for such topics.
    Fallback,
}

/// All snippets, in the order of their file names.
#[derive(Clone, Debug, Default)]
pub struct Facts(Vec<Arc<Fact>>);

impl Fact {
    pub(super) fn parse(file_name: &str, text: &str) -> Self {
        let text = text.trim();
        let (heading, body) = match text.split_once('\n') {
            Some((heading, body)) if heading.starts_with('#') => (heading, body.trim()),
            _ => ("", text),
        };
        let stem = file_name.trim_end_matches(".md");
        Self {
            file_name: file_name.to_owned(),
            snippet: body.to_owned(),
            title: words(heading).chain(words(stem)).collect(),
            body: words(body).collect(),
        }
    }

    /// What it is on, such as `roth ira`.
    pub fn topic(&self) -> String {
        self.file_name.trim_end_matches(".md").replace('_', " ")
    }

    fn has_in_title(&self, word: &str) -> bool {
        self.title.contains(word) || self.title.iter().any(|other| is_near(word, other))
    }

    fn has(&self, word: &str) -> bool {
        self.has_in_title(word) || self.body.iter().any(|other| is_form_of(word, other))
    }

    /// Whether it is an answer at all: by its title, or else by saying something of every word. One word of several
    /// that stands somewhere in a text is an accident.
    fn may_answer(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.has_in_title(word)) || words.iter().all(|word| self.has(word))
    }

    fn fit(&self, words: &[String], is_named: bool) -> Fit {
        let (has, lacks): (Vec<_>, Vec<_>) = words.iter().cloned().partition(|word| self.has(word));
        let is_in_topic = |title: &String| words.iter().any(|word| word == title || is_near(word, title));
        let is_named = is_named || self.title.iter().all(is_in_topic);
        if lacks.is_empty() && is_named { Fit::Exact } else { Fit::Partial { has, lacks } }
    }
}

impl Facts {
    pub(super) fn new(facts: Vec<Arc<Fact>>) -> Self {
        Self(facts)
    }

    /// The snippet on a topic. `None` only if even the fallback's file is missing.
    pub fn find(&self, topic: &str) -> Option<Snippet<'_>> {
        let words: Vec<_> = words(topic).collect();
        let key_word = KEY_WORDS.iter().find(|(is_key, _)| words.iter().any(|word| is_key(word)));
        let by_key_word = key_word.and_then(|(_, file_name)| self.file(file_name));
        let Some(fact) = by_key_word.or_else(|| self.best(&words)) else {
            return Some(Snippet { fact: self.file(FALLBACK)?, fit: Fit::Fallback });
        };
        Some(Snippet { fact, fit: fact.fit(&words, by_key_word.is_some()) })
    }

    /// What there are snippets on, such as `roth ira`.
    pub fn topics(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|fact| fact.topic())
    }

    /// Whether there is such a file.
    pub(super) fn has(&self, file_name: &str) -> bool {
        self.file(file_name).is_some()
    }

    fn file(&self, file_name: &str) -> Option<&Fact> {
        self.0.iter().map(Arc::as_ref).find(|fact| fact.file_name == file_name)
    }

    fn best(&self, words: &[String]) -> Option<&Fact> {
        let score = |fact: &Fact| words.iter().map(|word| self.score(fact, word)).sum::<u32>();
        let answers = self.0.iter().filter(|fact| fact.may_answer(words));
        let scored = answers.map(|fact| (score(fact), fact.as_ref()));
        // The first of equals: `max_by_key` would take the last.
        scored.rev().max_by_key(|(score, _)| *score).filter(|(score, _)| *score > 0).map(|(_, fact)| fact)
    }

    fn score(&self, fact: &Fact, word: &str) -> u32 {
        let is_rare = || self.0.iter().filter(|other| other.body.contains(word)).count() <= RARE_IN;
        if fact.title.contains(word) {
            TITLE
        } else if fact.title.iter().any(|other| is_near(word, other)) {
            NEAR_TITLE
        } else if fact.body.contains(word) && is_rare() {
            RARE
        } else {
            0
        }
    }
}

fn is_near(word: &str, other: &str) -> bool {
    word.len() > 3 && other.len() > 3 && strsim::jaro_winkler(word, other) >= MIN_SIMILARITY
}

/// Whether two words are one but for their ending: `tax` and `taxed`.
fn is_form_of(word: &str, other: &str) -> bool {
    const MAX_ENDING: usize = 3;
    let (short, long) = if word.len() < other.len() { (word, other) } else { (other, word) };
    word == other || (short.len() >= 3 && long.len() - short.len() <= MAX_ENDING && long.starts_with(short))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).filter(|word| !STOP_WORDS.contains(&word.as_str()))
}
