//! What the domains say of words: synonyms, names that people use, and orders that no tool carries out.

use std::collections::HashMap;

use serde::Deserialize;

use super::words::{phrase, words};
use crate::names::{Lexicon, Name};
use toolwire_base::files::{Problem, Problems};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Groups of phrases that mean the same in questions; the first one stands for all.
    #[serde(default)]
    synonyms: Vec<Vec<String>>,
    /// Groups of words near to each other: each speaks, less, for the tools of the others.
    #[serde(default)]
    related: Vec<Vec<String>>,
    /// What people call things.
    #[serde(default)]
    names: Vec<Named>,
    /// What orders begin with that no tool carries out, such as `buy` or `get rid of`.
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

#[derive(Debug, Default)]
pub(crate) struct Words {
    /// The terms of phrases, and the one that stands for each.
    pub(crate) synonyms: HashMap<Vec<String>, String>,
    /// Groups of terms near to each other.
    pub(crate) related: Vec<Vec<String>>,
    /// What people call things.
    pub(crate) names: Vec<Name>,
    /// What one thing of a kind is called in questions, by kind.
    pub(crate) nouns: HashMap<String, String>,
    /// The words that orders begin with which no tool carries out, and what is said to them.
    pub(crate) orders: Vec<(Vec<String>, String)>,
}

impl Words {
    /// Reads the files of all domains.
    pub(crate) fn read(lexicons: &[Lexicon]) -> Result<Self, Problems> {
        let (mut all, mut problems) = (Self::default(), Vec::new());
        for lexicon in lexicons {
            match serde_json::from_str::<File>(lexicon.text) {
                Ok(file) => all.add(file, &lexicon.file, &mut problems),
                // The message of serde_json ends with line and column.
                Err(error) => problems.push(Problem::new(&lexicon.file, "bad-json", error.to_string())),
            }
        }
        if problems.is_empty() { Ok(all) } else { Err(Problems(problems)) }
    }

    fn add(&mut self, file: File, path: &str, problems: &mut Vec<Problem>) {
        for (index, group) in file.synonyms.iter().enumerate() {
            let pointer = format!("/synonyms/{index}");
            self.add_synonyms(group, |text| problems.push(problem(path, &pointer, text)));
        }
        for (index, group) in file.related.iter().enumerate() {
            let pointer = format!("/related/{index}");
            self.add_related(group, |text| problems.push(problem(path, &pointer, text)));
        }
        for Named { value, of, names, words } in file.names {
            let name = |text, is_a_word| Name { text, value: value.clone(), of: of.clone(), is_a_word };
            self.names.extend(names.into_iter().map(|text| name(text, false)));
            self.names.extend(words.into_iter().map(|text| name(text, true)));
        }
        self.nouns.extend(file.nouns);
        let answer = file.orders_answer.unwrap_or_else(|| "No tool does that.".to_owned());
        let order =
            |text: &String| (words(text).into_iter().map(|word| word.lower).collect(), answer.clone());
        self.orders.extend(file.orders.iter().map(order));
    }

    fn add_synonyms(&mut self, group: &[String], mut refuse: impl FnMut(String)) {
        let mut phrases = group.iter().map(|text| phrase(text));
        let canonical = phrases.next().filter(|terms| terms.len() == 1).and_then(|mut terms| terms.pop());
        let Some(canonical) = canonical else {
            return refuse("a group begins with one word, which stands for the others".to_owned());
        };
        for terms in phrases {
            if terms.is_empty() {
                refuse("a phrase needs a word".to_owned());
            } else if self.synonyms.get(&terms).is_some_and(|word| *word != canonical) {
                refuse(format!("`{}` stands in another group too; keep one", terms.join(" ")));
            } else {
                self.synonyms.insert(terms, canonical.clone());
            }
        }
    }

    fn add_related(&mut self, group: &[String], mut refuse: impl FnMut(String)) {
        let mut terms: Vec<String> = Vec::new();
        for text in group {
            match <[String; 1]>::try_from(phrase(text)) {
                Ok([term]) if !terms.contains(&term) => terms.push(term),
                // `invest` and `investing` are one.
                Ok(_) => {}
                Err(_) => refuse(format!("`{text}` is not one word; phrases belong to `synonyms`")),
            }
        }
        self.related.push(terms);
    }
}

fn problem(path: &str, pointer: &str, text: String) -> Problem {
    Problem { pointer: pointer.to_owned(), ..Problem::new(path, "lexicon", text) }
}
