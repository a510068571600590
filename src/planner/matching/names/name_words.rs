//! The words of names of several, so that one of them, or a mistyped one, leads to the names that have it.

use std::collections::HashMap;

use crate::matching::{
    spelling::Spelling,
    words::{Word, words},
};

/// The shortest word that may be a part of a name.
const SHORTEST_PART: usize = 3;

/// The words of names of several, by the places of the names.
#[derive(Debug)]
pub(super) struct NameWords {
    /// By name: its words in small letters; none of a name of one word.
    lists: Vec<Box<[String]>>,
    /// By a word: the names that have it, and whether one begins with it.
    names: HashMap<String, Vec<(usize, bool)>>,
    spelling: Spelling<String>,
}

impl NameWords {
    /// Of these names. An empty text has no words.
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let is_several = |text: &str| text.contains(' ');
        let list = |text: &str| -> Box<[String]> {
            let words = words(text).into_iter().filter(|_| is_several(text));
            words.map(|word| word.lower).collect()
        };
        let lists: Vec<Box<[String]>> = texts.map(list).collect();
        let mut names: HashMap<_, Vec<_>> = HashMap::new();
        for (at, list) in lists.iter().enumerate() {
            for (place, word) in list.iter().enumerate().filter(|(_, word)| word.len() >= SHORTEST_PART) {
                names.entry(word.clone()).or_default().push((at, place == 0));
            }
        }
        let spelling = Spelling::of_names(names.keys().map(|word| (word.as_str(), word.clone())));
        Self { lists, names, spelling }
    }

    /// The names that have a word, and whether they begin with it.
    pub(super) fn get(&self, word: &str) -> Option<&Vec<(usize, bool)>> {
        self.names.get(word)
    }

    /// The word of a name that a word is, or is mistyped for.
    pub(super) fn reading<'a>(&'a self, word: &Word, is_known: &dyn Fn(&Word) -> bool) -> Option<&'a str> {
        if let Some((part, _)) = self.names.get_key_value(&word.lower) {
            return Some(part);
        }
        let is_word = || word.is_stop() || is_known(word);
        self.spelling.near(&word.lower).filter(|_| !is_word()).map(|(part, _)| part)
    }

    /// How many words of a name, at least two, the readings begin with.
    pub(super) fn length_at(&self, readings: &[Option<&str>], name: usize) -> Option<usize> {
        let list = self.lists[name].iter().zip(readings);
        let same = list.take_while(|(word, reading)| **reading == Some(word.as_str())).count();
        (same >= 2).then_some(same)
    }
}
