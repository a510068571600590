//! The lexicons of the domains: synonyms, names that people use, orders that no tool carries out, and words of other
//! subjects.

use std::collections::HashMap;

use foldhash::HashSet;
use serde::Deserialize;

use super::words::{Word, phrase, words};
use crate::{
    english::{WordSet, english},
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
    /// What orders begin with that no tool carries out, such as `buy` or `get rid of`. Before a
    /// `$`, an order only with a sum of money: `move $`.
    #[serde(default)]
    orders: Vec<String>,
    /// What one thing of a kind is called in questions, by kind.
    #[serde(default)]
    nouns: HashMap<String, String>,
    /// The answer to such an order.
    #[serde(default)]
    orders_answer: Option<String>,
    /// Single words that show that a question is about something that no tool does.
    #[serde(default)]
    out_of_scope: Vec<String>,
    /// Nouns by which a message points at what was named before, such as `book` of `that book`: single words in every
    /// form that counts, the plural too.
    #[serde(default)]
    things: Vec<String>,
    /// Single words for how much of something an order is about, such as `copies`.
    #[serde(default)]
    amounts: Vec<String>,
    /// Verbs, single words, with which a clause begins that orders something.
    #[serde(default)]
    verbs: Vec<String>,
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

/// An order that no tool carries out.
#[derive(Debug)]
pub(crate) struct RefusedOrder {
    /// Its words, in small letters.
    pub(crate) verb: Vec<String>,
    /// Whether they are such an order only with a sum of money.
    pub(crate) is_of_money: bool,
    pub(crate) answer: String,
}

#[derive(Debug, Default)]
pub(crate) struct Words {
    /// The terms of phrases, and the one that stands for each.
    pub(crate) synonyms: HashMap<Vec<String>, String>,
    /// The words of the files but for names, as they are written, in small letters.
    pub(crate) spellings: HashSet<String>,
    /// Groups of terms near to each other.
    pub(crate) related: Vec<Vec<String>>,
    /// What people call things.
    pub(crate) names: Vec<Name>,
    /// What one thing of a kind is called in questions, by kind.
    pub(crate) nouns: HashMap<String, String>,
    /// The orders that no tool carries out.
    pub(crate) orders: Vec<RefusedOrder>,
    /// The terms of words that show that a message is about something that no tool does.
    pub(crate) out_of_scope: HashSet<String>,
    /// Words in small letters that stand behind `that` for what was named before: `pointed_at` of `english.toml`, and
    /// the `things` of the domains.
    pub(crate) things: HashSet<String>,
    /// Words in small letters for how much of something an order is about: those of `english.toml` and of the domains.
    pub(crate) amounts: HashSet<String>,
    /// The first words, in small letters, of a clause that orders something: `ordering` of `english.toml`, and the
    /// `verbs` of the domains.
    pub(crate) verbs: HashSet<String>,
}

impl Words {
    /// Reads the files of all domains.
    pub(crate) fn read(lexicons: &[Lexicon]) -> Result<Self, Problems> {
        let (mut all, mut problems) = (Self::general(), Vec::new());
        for lexicon in lexicons {
            match serde_json::from_str::<File>(lexicon.text) {
                Ok(file) => all.add(file, &lexicon.file, &mut problems),
                // The message of serde_json ends with line and column.
                Err(error) => problems.push(Problem::new(&lexicon.file, "bad-json", error.to_string())),
            }
        }
        if problems.is_empty() { Ok(all) } else { Err(Problems(problems)) }
    }

    /// Those that belong to no domain.
    fn general() -> Self {
        let english = english();
        let lower = |words: &WordSet| words.iter().map(str::to_owned).collect();
        Self {
            things: lower(&english.pointed_at),
            amounts: lower(&english.amounts),
            verbs: lower(&english.ordering),
            ..Self::default()
        }
    }

    fn add(&mut self, file: File, path: &str, problems: &mut Vec<Problem>) {
        let groups = file.synonyms.iter().chain(&file.related).flatten();
        let single = [&file.orders, &file.out_of_scope, &file.things, &file.amounts, &file.verbs];
        let written = groups.chain(single.into_iter().flatten()).flat_map(|text| words(text));
        self.spellings.extend(written.map(|word| word.lower));
        for (index, group) in file.synonyms.iter().enumerate() {
            let pointer = format!("/synonyms/{index}");
            self.add_synonyms(group, |text| problems.push(problem(path, &pointer, text)));
        }
        for (index, group) in file.related.iter().enumerate() {
            let pointer = format!("/related/{index}");
            self.add_related(group, |text| problems.push(problem(path, &pointer, text)));
        }
        self.add_single_words(&file, |pointer, text| problems.push(problem(path, pointer, text)));
        for ThingNames { value, of, names, words } in file.names {
            let name = |text, is_a_word| Name { text, value: value.clone(), of: of.clone(), is_a_word };
            self.names.extend(names.into_iter().map(|text| name(text, false)));
            self.names.extend(words.into_iter().map(|text| name(text, true)));
        }
        self.nouns.extend(file.nouns);
        let answer = file.orders_answer.unwrap_or_else(|| "No tool does that.".to_owned());
        let order = |text: &String| RefusedOrder {
            verb: words(text).into_iter().map(|word| word.lower).collect(),
            is_of_money: text.ends_with('$'),
            answer: answer.clone(),
        };
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

    fn add_single_words(&mut self, file: &File, mut refuse: impl FnMut(&str, String)) {
        let mut add = |key: &str, texts: &[String], all: &mut HashSet<String>, form: fn(Word) -> String| {
            for (index, text) in texts.iter().enumerate() {
                match <[Word; 1]>::try_from(words(text)) {
                    Ok([word]) => _ = all.insert(form(word)),
                    Err(_) => refuse(&format!("/{key}/{index}"), format!("`{text}` is not one word")),
                }
            }
        };
        add("out_of_scope", &file.out_of_scope, &mut self.out_of_scope, |word| word.term);
        add("things", &file.things, &mut self.things, |word| word.lower);
        add("amounts", &file.amounts, &mut self.amounts, |word| word.lower);
        add("verbs", &file.verbs, &mut self.verbs, |word| word.lower);
    }
}

fn problem(path: &str, pointer: &str, text: String) -> Problem {
    Problem { pointer: pointer.to_owned(), ..Problem::new(path, "lexicon", text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::words::stem;

    fn read(text: &'static str) -> Result<Words, Problems> {
        Words::read(&[Lexicon { file: "toys/lexicon.json".to_owned(), text }])
    }

    fn problems(text: &'static str) -> Vec<Problem> {
        read(text).expect_err(text).0
    }

    #[test]
    fn a_domain_says_what_is_out_of_scope() {
        let words = read(r#"{"out_of_scope": ["puppets"]}"#).expect("a lexicon");
        let is_out_of_scope = |word: &str| words.out_of_scope.contains(&stem(word));
        assert!(is_out_of_scope("puppet") && !is_out_of_scope("toy"));
    }

    #[test]
    fn what_domains_call_things_amounts_and_verbs_is_joined() {
        let lexicons = [
            r#"{"things": ["Toy", "toys"], "amounts": ["pieces"], "verbs": ["spin"]}"#,
            r#"{"things": ["book"]}"#,
        ];
        let lexicon = |text| Lexicon { file: "toys/lexicon.json".to_owned(), text };
        let words = Words::read(&lexicons.map(lexicon)).expect("two lexicons");
        for (all, known, unknown) in [
            (&words.things, "one toy toys book", "books"),
            (&words.amounts, "half pieces", "piece"),
            (&words.verbs, "show spin", "spinning"),
        ] {
            assert!(known.split(' ').all(|word| all.contains(word)) && !all.contains(unknown), "{all:?}");
        }
    }

    #[test]
    fn a_list_of_single_words_refuses_others_with_their_place() {
        for key in ["out_of_scope", "things", "amounts", "verbs"] {
            let text = format!(r#"{{"{key}": ["puppet", "puppet show", ""]}}"#).leak();
            let found = problems(text);
            let places: Vec<_> =
                found.iter().map(|it| (it.file.as_str(), it.pointer.clone(), it.rule)).collect();
            let place = |index| ("toys/lexicon.json", format!("/{key}/{index}"), "lexicon");
            assert_eq!(places, [place(1), place(2)]);
        }
    }

    #[test]
    fn a_misspelt_key_is_refused_with_those_that_there_are() {
        let found = problems("{\n  \"thing\": [\"toy\"]\n}");
        let expected = "toys/lexicon.json: unknown field `thing`, expected one of `synonyms`, `related`, `names`, `orders`, \
             `nouns`, `orders_answer`, `out_of_scope`, `things`, `amounts`, `verbs` at line 2 column 9 [bad-json]";
        assert_eq!(found.iter().map(Problem::to_string).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn a_list_that_holds_no_words_is_refused() {
        for text in [r#"{"out_of_scope": "puppet"}"#, r#"{"out_of_scope": [1]}"#] {
            let found = problems(text);
            assert_eq!((found[0].file.as_str(), found[0].rule), ("toys/lexicon.json", "bad-json"), "{text}");
        }
    }
}
