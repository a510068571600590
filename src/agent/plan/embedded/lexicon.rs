//! What the domains say of words: synonyms, names that people use, and orders that no tool carries out.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::words::{Word, phrase};
use crate::{
    agent::plan::names::{Lexicon, Name},
    files::{Problem, Problems},
};

/// A domain's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Groups of phrases that mean the same in questions; the first one stands for all.
    #[serde(default)]
    synonyms: Vec<Vec<String>>,
    /// What people call things.
    #[serde(default)]
    names: Vec<Named>,
    /// Verbs of orders that no tool carries out, such as `buy`.
    #[serde(default)]
    orders: Vec<String>,
    /// What one thing of a kind is called in questions, by kind: `stock`.
    #[serde(default)]
    nouns: HashMap<String, String>,
    /// What is said to such an order.
    #[serde(default)]
    orders_answer: Option<String>,
}

/// What people call one thing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    value: String,
    of: String,
    names: Vec<String>,
    /// Names that are ordinary words too: they count only as they are written here.
    #[serde(default)]
    words: Vec<String>,
}

/// The words of all domains.
#[derive(Debug, Default)]
pub(in crate::agent::plan) struct Words {
    /// By the first term of the phrase: all its terms, and what stands for it. The longest first.
    synonyms: HashMap<String, Vec<(Vec<String>, String)>>,
    /// The terms of all phrases: these words are no names.
    terms: HashSet<String>,
    /// What people call things.
    pub(in crate::agent::plan) names: Vec<Name>,
    /// What one thing of a kind is called in questions, by kind.
    pub(in crate::agent::plan) nouns: HashMap<String, String>,
    /// By the verb, what is said to an order that begins with it.
    pub(in crate::agent::plan) orders: HashMap<String, String>,
}

impl Words {
    /// Reads the files of all domains.
    pub(in crate::agent::plan) fn read(lexicons: &[Lexicon]) -> Result<Self, Problems> {
        let (mut all, mut problems) = (Self::default(), Vec::new());
        for lexicon in lexicons {
            match serde_json::from_str::<File>(lexicon.text) {
                Ok(file) => all.add(file, &lexicon.file, &mut problems),
                // The message of serde_json ends with line and column.
                Err(error) => problems.push(Problem::new(&lexicon.file, "bad-json", error.to_string())),
            }
        }
        for phrases in all.synonyms.values_mut() {
            phrases.sort_by_key(|(terms, _)| std::cmp::Reverse(terms.len()));
        }
        if problems.is_empty() { Ok(all) } else { Err(Problems(problems)) }
    }

    fn add(&mut self, file: File, path: &str, problems: &mut Vec<Problem>) {
        for (index, group) in file.synonyms.iter().enumerate() {
            let pointer = format!("/synonyms/{index}");
            self.add_synonyms(group, |text| problems.push(problem(path, &pointer, text)));
        }
        for Named { value, of, names, words } in file.names {
            let name = |text, is_a_word| Name { text, value: value.clone(), of: of.clone(), is_a_word };
            self.names.extend(names.into_iter().map(|text| name(text, false)));
            self.names.extend(words.into_iter().map(|text| name(text, true)));
        }
        self.nouns.extend(file.nouns);
        let answer = file.orders_answer.unwrap_or_else(|| "No tool does that.".to_owned());
        self.orders.extend(file.orders.into_iter().map(|verb| (verb.to_lowercase(), answer.clone())));
    }

    fn add_synonyms(&mut self, group: &[String], mut refuse: impl FnMut(String)) {
        let mut phrases = group.iter().map(|text| phrase(text));
        let canonical = phrases.next().filter(|terms| terms.len() == 1).and_then(|mut terms| terms.pop());
        let Some(canonical) = canonical else {
            return refuse("a group begins with one word, which stands for the others".to_owned());
        };
        for terms in phrases {
            let Some(first) = terms.first().cloned() else {
                refuse("a phrase needs a word".to_owned());
                continue;
            };
            self.terms.extend(terms.iter().cloned());
            let known = self.synonyms.entry(first).or_default();
            if known.iter().any(|(other, word)| *other == terms && *word != canonical) {
                refuse(format!("`{}` stands in another group too; keep one", terms.join(" ")));
            } else {
                known.push((terms, canonical.clone()));
            }
        }
    }

    /// Whether a word stands in a phrase.
    pub(in crate::agent::plan) fn knows(&self, word: &Word) -> bool {
        self.terms.contains(&word.term)
    }

    /// What a text is about: its terms without stop words, what stands for a phrase in its place; each with the place
    /// of its first word among the words.
    pub(in crate::agent::plan) fn content(&self, words: &[Word]) -> Vec<(String, usize)> {
        let (mut terms, mut at) = (Vec::new(), 0);
        while at < words.len() {
            let rest = words[at..].iter().map(|word| word.term.as_str());
            if let Some((length, word)) = self.synonym(&rest) {
                terms.push((word.to_owned(), at));
                at += length;
                continue;
            }
            if !words[at].is_stop() {
                terms.push((words[at].term.clone(), at));
            }
            at += 1;
        }
        terms
    }

    /// The phrase of synonyms that stands at the beginning of the terms: how many they are, and what stands for them.
    fn synonym<'a>(&self, terms: &(impl Iterator<Item = &'a str> + Clone)) -> Option<(usize, &str)> {
        let phrases = self.synonyms.get(terms.clone().next()?)?;
        let stands = |(phrase, _): &&(Vec<String>, String)| {
            let mut terms = terms.clone();
            phrase.iter().all(|term| terms.next() == Some(term.as_str()))
        };
        phrases.iter().find(stands).map(|(phrase, word)| (phrase.len(), word.as_str()))
    }
}

fn problem(path: &str, pointer: &str, text: String) -> Problem {
    Problem { pointer: pointer.to_owned(), ..Problem::new(path, "lexicon", text) }
}
