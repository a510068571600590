//! The English words by which messages are read: `english.toml`, parsed once.
//!
//! Not here: words of a domain, which its lexicon has (`matching::lexicon`), and words of a tool, which its manifest
//! has.

use std::{hash::Hash, sync::LazyLock};

use foldhash::{HashMap, HashSet};
use serde::Deserialize;

static ENGLISH: LazyLock<English> =
    LazyLock::new(|| toml::from_str(include_str!("english.toml")).expect("a test reads it"));

/// The words of `english.toml`.
pub(crate) fn english() -> &'static English {
    &ENGLISH
}

/// The lists of `english.toml`, by key. Words and phrases are in small letters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct English {
    /// Stop words: they stand in questions of every kind, and say nothing of what a question is about.
    pub(crate) stop: WordSet,
    /// Words without which a message asks the same. Groups of words side by side are counted without them.
    pub(crate) fillers: WordSet,
    /// Endings that are written with a `z` too, each with its `s`.
    pub(crate) british_endings: Phrase,
    /// The first words of questions.
    pub(crate) asking: WordSet,
    /// Beginnings that only make an order polite, or join it to what was said. Each is tried in this order, again and
    /// again.
    pub(crate) polite: Vec<Phrase>,
    /// Endings that only make an order polite, before its question mark.
    pub(crate) tags: Vec<Phrase>,
    /// Subjects with which a statement beside an order begins.
    pub(crate) subjects: WordSet,
    /// Words before a number that something is compared with: it is then not a number of things to show.
    pub(crate) comparisons: Vec<Phrase>,
    /// Words for how much of something an order is about. A lexicon adds the units of its domain.
    pub(crate) amounts: WordSet,
    /// Prepositions before the first word of a question: `at what price`.
    pub(crate) fronted: WordSet,
    /// Words behind which one more order may begin.
    pub(crate) next: WordSet,
    /// The first words of a clause that orders something. A lexicon adds the verbs of its domain.
    pub(crate) ordering: WordSet,
    /// Prepositions of direction, with which the place of an order begins: `off my list`.
    pub(crate) directions: WordSet,
    /// Words that deny or exclude something: a message with one is never answered at once.
    pub(crate) negations: WordSet,
    /// Small words that change what is asked. A call covers one only if an example or a keyword of its tool has it.
    pub(crate) operators: WordSet,
    /// What stands between the last two of a list.
    pub(crate) list_joints: WordSet,
    /// Words behind which a word in capitals is a noun and no name: `its CEO`.
    pub(crate) articles: WordSet,
    /// Words that stand for what was named before.
    pub(crate) pronouns: WordSet,
    /// Small words before a noun, which say nothing of what is asked: `each of my accounts`.
    pub(crate) determiners: WordSet,
    /// Words that stand for one thing alone.
    pub(crate) singular: WordSet,
    /// Words that stand for what was named before if nothing is said behind them.
    pub(crate) demonstratives: WordSet,
    /// Words that stand for what was named before together with one of `pointed_at`: `that one`.
    pub(crate) pointing: WordSet,
    /// See `pointing`. A lexicon adds what the things of its domain are called.
    pub(crate) pointed_at: WordSet,
    /// What each place of a list is called, the first one first.
    pub(crate) ordinals: Vec<Phrase>,
    /// Words before the topic of a question, which only ask.
    pub(crate) before_topic: WordSet,
    /// Words behind the topic of a question, which only ask.
    pub(crate) after_topic: WordSet,
    /// Words before a length of time that is over: `the past two weeks`.
    pub(crate) past: WordSet,
    /// Words that make a unit the one of the calendar before this: `last month`.
    pub(crate) last: WordSet,
    /// Words that make a unit the one of the calendar that has begun: `this year`.
    pub(crate) current: WordSet,
    /// Words that make a unit one that has not begun: `next year`.
    pub(crate) future: WordSet,
    /// Words for the day after this.
    pub(crate) tomorrow: WordSet,
    /// Words for this day.
    pub(crate) today: WordSet,
    /// Phrases for all time there is.
    pub(crate) all_time: Vec<Phrase>,
    /// Words before the date at which a time begins.
    pub(crate) since: WordSet,
    /// Words before the date at which a time ends.
    pub(crate) until: WordSet,
    /// Words before a date that is the whole of a time.
    pub(crate) during: WordSet,
    /// The names of each month, January first.
    pub(crate) months: [Phrase; 12],
    /// The days of the week.
    pub(crate) weekdays: WordSet,
    /// The unit of time that a word in the singular names.
    pub(crate) units: ByForm<Unit>,
    /// Numbers that are written out.
    pub(crate) numbers: HashMap<String, u32>,
    /// The verb of each irregular form.
    pub(crate) irregular: ByForm<String>,
}

/// A unit of a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// Words without an order, from a text that has them between white space.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) struct WordSet(HashSet<String>);

/// Words in their order, from a text that has them between white space.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Phrase(Box<[String]>);

/// What each word is a form of, from a table that has a text of words for each.
#[derive(Debug, Deserialize)]
#[serde(from = "HashMap<K, String>", bound(deserialize = "K: Deserialize<'de> + Clone + Eq + Hash"))]
pub(crate) struct ByForm<K>(HashMap<String, K>);

impl WordSet {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl Phrase {
    pub(crate) fn words(&self) -> &[String] {
        &self.0
    }
}

impl English {
    /// The words that a mistyped one may mean: those of questions of every kind, and of times.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let sets = [&self.stop, &self.ordering, &self.past, &self.today, &self.weekdays];
        let months = self.months.iter().flat_map(Phrase::words).map(String::as_str);
        let numbers = self.numbers.keys().map(String::as_str);
        let forms = self.units.forms().chain(self.irregular.forms());
        sets.into_iter().flat_map(WordSet::iter).chain(months).chain(numbers).chain(forms)
    }
}

impl<K> ByForm<K> {
    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn get(&self, form: &str) -> Option<&K> {
        self.0.get(form)
    }
}

impl From<String> for WordSet {
    fn from(text: String) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }
}

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }
}

impl<K: Clone + Eq + Hash> From<HashMap<K, String>> for ByForm<K> {
    fn from(forms: HashMap<K, String>) -> Self {
        let of = |(key, forms): (&K, &String)| {
            forms.split_whitespace().map(|form| (form.to_owned(), key.clone())).collect::<Vec<_>>()
        };
        Self(forms.iter().flat_map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_words_is_read() {
        let english = english();
        assert!(english.stop.has("the") && !english.stop.has(""));
        assert_eq!(english.months[8].words(), ["sep", "sept", "september"]);
        assert_eq!(english.units.get("weekly"), Some(&Unit::Week));
        assert_eq!(english.numbers["dozen"], 12);
        assert_eq!(english.irregular.get("sold").map(String::as_str), Some("sell"));
    }

    #[test]
    fn no_phrase_is_hidden_by_a_shorter_one_before_it() {
        for phrases in [&english().polite, &english().tags, &english().comparisons] {
            for (at, phrase) in phrases.iter().enumerate() {
                let hides = |before: &&Phrase| phrase.words().starts_with(before.words());
                let hidden_by = phrases[..at].iter().find(hides);
                assert!(hidden_by.is_none(), "{phrase:?} behind {hidden_by:?}");
            }
        }
    }
}
