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
    /// Words of what people ask any assistant: the weather, meals, travel, health, games, code. A question with one
    /// that no tool has is hardly about a tool. A lexicon adds those beside the subject of its domain.
    pub(crate) out_of_scope: WordSet,
    /// The first words of questions.
    pub(crate) asking: WordSet,
    /// Beginnings that only make an order polite, or join it to what was said. Each is tried in this order, again and
    /// again.
    pub(crate) polite: Vec<Phrase>,
    /// Endings that only make an order polite, before its question mark.
    pub(crate) tags: Vec<Phrase>,
    /// Verbs between a thing and what is to become of it: `Acme can come off my list`.
    pub(crate) permissions: WordSet,
    /// Words behind a verb that expresses an intention: `thinking of`.
    pub(crate) behind_attitudes: WordSet,
    /// Verbs by which a statement reports the words of others: it makes no order of them.
    pub(crate) reporting: WordSet,
    /// Subjects with which a statement beside an order begins.
    pub(crate) subjects: WordSet,
    /// Words before a number that something is compared with: it is then not a number of things to show.
    pub(crate) comparisons: Vec<Phrase>,
    /// Beginnings of a clause that asks for advice.
    pub(crate) advice: Vec<Phrase>,
    /// Verbs that put a list in an order or in groups.
    pub(crate) sorting: WordSet,
    /// Words before what a list is to be ordered or grouped by.
    pub(crate) criteria: WordSet,
    /// Words for how much of something an order is about. A lexicon adds the units of its domain.
    pub(crate) amounts: WordSet,
    /// Prepositions before the first word of a question: `at what price`.
    pub(crate) fronted: WordSet,
    /// Words with which a part begins that only says more of the one before it: `including what I sold`.
    pub(crate) subordinate: WordSet,
    /// What stands between two clauses if the second one begins as a sentence does, with marks and spaces. Each is
    /// tried in this order.
    pub(crate) between: Vec<String>,
    /// What stands between two halves that need not begin as a sentence does, with marks and spaces: `the price of Acme
    /// and its news`. Each is tried in this order.
    pub(crate) joints: Vec<String>,
    /// Words behind which one more order may begin.
    pub(crate) next: WordSet,
    /// The first words of a clause that orders something. A lexicon adds the verbs of its domain.
    pub(crate) ordering: WordSet,
    /// The first words of a clause that says without a verb what is wanted.
    pub(crate) wanted: WordSet,
    /// Function words: determiners, pronouns and courtesies, which change nothing about an order. Prepositions of
    /// direction, such as `on` and `off`, are not among them: a tool's manifest must have them.
    pub(crate) function: WordSet,
    /// Optional words of an order's phrase.
    pub(crate) optional: WordSet,
    /// Prepositions of direction. Any of them is accepted behind a verb that belongs to one tool only.
    pub(crate) directions: WordSet,
    /// Adverbs that make another verb of the one that they follow, unless the tool has both: `add up`, `drop in`.
    pub(crate) particles: WordSet,
    /// Negations. They are accepted only within a whole phrase of a tool.
    pub(crate) negations: WordSet,
    /// Beginnings of a message that only changes the last call.
    pub(crate) leads: Vec<Phrase>,
    /// Phrases before what something else replaces.
    pub(crate) instead_of: Vec<Phrase>,
    /// The directions that lead away from where something is.
    pub(crate) away: Vec<Phrase>,
    /// What takes back the message before, in front of a comma or a full stop.
    pub(crate) retractions: Vec<Phrase>,
    /// What sets aside the thing that is named behind it, before a comma or a full stop: `never mind the news, …`.
    pub(crate) setting_aside: Vec<Phrase>,
    /// What stands between the last two of a list.
    pub(crate) list_joints: WordSet,
    /// Words behind which a word in capitals is a noun and no name: `its CEO`.
    pub(crate) articles: WordSet,
    /// Words with which a clause begins that says when, or whether, something is to be done.
    pub(crate) conditions: Vec<Phrase>,
    /// Words behind which `if` and `when` begin an indirect question: `tell me if …`.
    pub(crate) indirect: WordSet,
    /// Words that stand for what was named before.
    pub(crate) pronouns: WordSet,
    /// Words that stand for each of what was named in the same message.
    pub(crate) distributives: WordSet,
    /// Words with which what a distributive is about follows it: `each of my accounts`.
    pub(crate) determiners: WordSet,
    /// Words that stand for one thing alone.
    pub(crate) singular: WordSet,
    /// Words that stand, at the end of a clause, for what the clause before is about: `do I have any`.
    pub(crate) indefinites: WordSet,
    /// Words that stand for what was named before if nothing is said behind them.
    pub(crate) demonstratives: WordSet,
    /// Words that stand for what was named before together with one of `pointed_at`: `that one`.
    pub(crate) pointing: WordSet,
    /// See `pointing`. A lexicon adds what the things of its domain are called.
    pub(crate) pointed_at: WordSet,
    /// What each place of a list is called, the first one first.
    pub(crate) ordinals: Vec<Phrase>,
    /// Words for the place at the end of a list.
    pub(crate) at_the_end: WordSet,
    /// Words before the number of a place: `number 2`.
    pub(crate) numbered: WordSet,
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
    /// Words before a time that was said before: `the same year`.
    pub(crate) same: WordSet,
    /// Words for any length of time.
    pub(crate) periods: WordSet,
    /// The unit of time that a word in the singular names.
    pub(crate) units: ByForm<Unit>,
    /// Numbers that are written out.
    pub(crate) numbers: HashMap<String, u32>,
    /// The word for each short form of it: `acct`.
    pub(crate) shorthand: ByForm<String>,
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
    /// Whether a word is the first ordinal.
    pub(crate) fn is_first(&self, word: &str) -> bool {
        self.ordinals.first().is_some_and(|first| first.words().iter().any(|it| it == word))
    }

    /// The words that a mistyped one may mean: those of questions of every kind, of times and of other subjects.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let sets = [&self.stop, &self.out_of_scope, &self.ordering, &self.past, &self.today, &self.weekdays];
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
