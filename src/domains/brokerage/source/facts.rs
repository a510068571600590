//! Educational snippets: markdown files, found by topic (spec 000 `get_facts`).
//!
//! 000's two key words come first, as words and not as letters within others; then an index of all files by words,
//! tolerant of spelling; then the fallback.

use std::{collections::BTreeSet, sync::Arc};

/// What 000 answers to a topic that matches nothing.
pub const FALLBACK: &str = "rebalancing.md";

/// 000's key words and their files, in its order: what a word of the topic must be.
const KEY_WORDS: [(IsKey, &str); 2] = [
    (|word| word.starts_with("roth"), "roth_ira.md"),
    (|word| matches!(word, "etf" | "etfs"), "etf_basics.md"),
];

type IsKey = fn(&str) -> bool;

/// Words that say nothing about a topic.
const STOP_WORDS: [&str; 36] = [
    "a",
    "about",
    "all",
    "an",
    "and",
    "are",
    "at",
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
    "my",
    "of",
    "on",
    "or",
    "should",
    "simulated",
    "tell",
    "that",
    "the",
    "this",
    "to",
    "we",
    "what",
    "when",
    "which",
    "why",
    "with",
    "you",
];

/// How much a word of the topic counts when it stands in a title, nearly stands there, or stands in few texts.
const TITLE: u32 = 4;
const NEAR_TITLE: u32 = 3;
const RARE: u32 = 1;

/// A word that stands in more files than this does not tell them apart.
const RARE_IN: usize = 2;

/// The similarity from which two words count as one (Jaro-Winkler).
const NEAR: f64 = 0.9;

/// One snippet.
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
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The snippet.
    pub fact: &'a Fact,
    /// Whether it is only what 000 answers to a topic that matches nothing.
    pub is_fallback: bool,
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
}

impl Facts {
    pub(super) fn new(facts: Vec<Arc<Fact>>) -> Self {
        Self(facts)
    }

    /// The snippet on a topic. `None` only if even the fallback's file is missing.
    pub fn find(&self, topic: &str) -> Option<Answer<'_>> {
        let words: Vec<_> = words(topic).collect();
        let key_word = KEY_WORDS.iter().find(|(is_key, _)| words.iter().any(|word| is_key(word)));
        let found = key_word.and_then(|(_, file_name)| self.file(file_name)).or_else(|| self.best(&words));
        let is_fallback = found.is_none();
        Some(Answer { fact: found.or_else(|| self.file(FALLBACK))?, is_fallback })
    }

    /// What there are snippets on, such as `roth ira`.
    pub fn topics(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|fact| fact.file_name.trim_end_matches(".md").replace('_', " "))
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
        let scored = self.0.iter().map(|fact| (score(fact), fact.as_ref()));
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
    word.len() > 3 && other.len() > 3 && strsim::jaro_winkler(word, other) >= NEAR
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).filter(|word| !STOP_WORDS.contains(&word.as_str()))
}
