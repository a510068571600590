//! What the domains say of words: synonyms, names that people use, orders that no tool carries out, and words of other
//! subjects.

use std::collections::HashMap;

use foldhash::HashSet;
use serde::Deserialize;

use super::words::{phrase, stem, words};
use crate::{
    english::english,
    names::{Lexicon, Name},
};
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
    names: Vec<ThingNames>,
    /// What orders begin with that no tool carries out, such as `buy` or `get rid of`.
    #[serde(default)]
    orders: Vec<String>,
    /// What one thing of a kind is called in questions, by kind: `stock`.
    #[serde(default)]
    nouns: HashMap<String, String>,
    /// What is said to such an order.
    #[serde(default)]
    orders_answer: Option<String>,
    /// Single words that show that a question is about something that no tool does.
    #[serde(default)]
    out_of_scope: Vec<String>,
}

/// What people call one thing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThingNames {
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
    /// The terms of words that show that a message is about something that no tool does: the general ones of
    /// `english.toml`, and those of the domains.
    pub(crate) out_of_scope: HashSet<String>,
}

impl Words {
    /// Reads the files of all domains.
    pub(crate) fn read(lexicons: &[Lexicon]) -> Result<Self, Problems> {
        let out_of_scope = english().out_of_scope.iter().map(stem).collect();
        let (mut all, mut problems) = (Self { out_of_scope, ..Self::default() }, Vec::new());
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
        for (index, text) in file.out_of_scope.iter().enumerate() {
            let pointer = format!("/out_of_scope/{index}");
            self.add_out_of_scope(text, |text| problems.push(problem(path, &pointer, text)));
        }
        for ThingNames { value, of, names, words } in file.names {
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

    fn add_out_of_scope(&mut self, text: &str, refuse: impl FnOnce(String)) {
        match <[String; 1]>::try_from(phrase(text)) {
            Ok([term]) => {
                self.out_of_scope.insert(term);
            }
            Err(_) => refuse(format!("`{text}` is not one word")),
        }
    }
}

fn problem(path: &str, pointer: &str, text: String) -> Problem {
    Problem { pointer: pointer.to_owned(), ..Problem::new(path, "lexicon", text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Result<Words, Problems> {
        Words::read(&[Lexicon { file: "toys/lexicon.json".to_owned(), text }])
    }

    #[test]
    fn a_domain_adds_to_what_is_out_of_scope_by_itself() {
        let words = read(r#"{"out_of_scope": ["puppets"]}"#).expect("a lexicon");
        let is_out_of_scope = |word: &str| words.out_of_scope.contains(&stem(word));
        assert!(is_out_of_scope("puppet") && is_out_of_scope("weather") && !is_out_of_scope("toy"));
        assert!(!Words::read(&[]).expect("no lexicon").out_of_scope.contains(&stem("puppet")));
    }

    #[test]
    fn a_mistake_in_what_is_out_of_scope_is_told_with_its_place() {
        let problems = |text| read(text).expect_err(text).0;
        let found = problems(r#"{"out_of_scope": ["puppet", "puppet show", ""]}"#);
        let places: Vec<_> =
            found.iter().map(|it| (it.file.as_str(), it.pointer.as_str(), it.rule)).collect();
        let place = |pointer| ("toys/lexicon.json", pointer, "lexicon");
        assert_eq!(places, [place("/out_of_scope/1"), place("/out_of_scope/2")]);
        for text in [r#"{"out_of_scope": "puppet"}"#, r#"{"out_of_scope": [1]}"#, r#"{"out-of-scope": []}"#] {
            let found = problems(text);
            assert_eq!((found[0].file.as_str(), found[0].rule), ("toys/lexicon.json", "bad-json"), "{text}");
        }
    }
}
