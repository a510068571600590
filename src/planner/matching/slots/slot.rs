//! One parameter that is read from messages: the phrases for its values, and its bounds.

use std::{cmp::Reverse, ops::Range, sync::Arc};

use serde_json::Value;

use crate::matching::{
    message::Message,
    words::{Word, is_stop, phrase, words},
};
use toolwire_engine::registry::{Extract, ExtractKind, RegisteredTool};
use toolwire_state::workspace::terms;

/// Where a note stands in a message, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The words that announce it.
    pub(crate) cue: Range<usize>,
    /// The note, with the marks around it.
    pub(crate) text: Range<usize>,
}

/// One parameter that is read from messages.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) name: String,
    pub(crate) extract: Extract,
    pub(crate) is_required: bool,
    /// Whether it is a list rather than one value.
    pub(crate) is_list: bool,
    /// The values of its enum; empty if it has none.
    pub(crate) allowed: Vec<String>,
    /// Whether it has a value without being given one.
    has_default: bool,
    /// Minimum number of elements.
    pub(crate) fewest: usize,
    /// Its bounds, if it is a number.
    pub(crate) bounds: (f64, f64),
    /// The phrases for values: terms, and the value. The longest first.
    pub(crate) phrases: Vec<(Vec<String>, String)>,
    /// The first terms of the words of `after` behind which a value stands.
    cues: Vec<String>,
    /// The terms of the nouns that it counts.
    counted: Vec<String>,
    /// Phrases that may follow a note and do not belong to it: the keywords of the tool without their verbs.
    tails: Vec<Vec<String>>,
}

impl Slot {
    /// The nouns whose number the parameter takes.
    pub(crate) fn counted_nouns(&self) -> impl Iterator<Item = &str> {
        counted_nouns(&self.extract)
    }

    /// Whether a value may stand behind a word.
    pub(crate) fn is_cue(&self, word: &Word) -> bool {
        self.cues.contains(&word.term)
    }

    /// Whether a word is of a noun whose number the parameter takes.
    pub(crate) fn is_counted(&self, word: &Word) -> bool {
        self.counted.contains(&word.term)
    }

    pub(crate) fn all(tool: &Arc<RegisteredTool>) -> Vec<Self> {
        let schema = &tool.definition.input_schema;
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let slot = |(name, extract): (&String, &Extract)| {
            let property = schema.get("properties")?.get(name)?;
            Some(Self::of(name, extract, property, is_required(name)))
        };
        let tail = |keyword: &String| {
            let words: Vec<_> = words(keyword).into_iter().skip(1).map(|word| word.lower).collect();
            (words.len() > 1).then_some(words)
        };
        let with_tails = |mut slot: Self| {
            if slot.extract.kind == ExtractKind::Rest {
                slot.tails = tool.hints.keywords.iter().filter_map(tail).collect();
            }
            slot
        };
        // In the order of the schema, which is that of the questions.
        let mut slots: Vec<_> = tool.hints.extracts.iter().filter_map(slot).map(with_tails).collect();
        slots.sort_by_key(|slot| !slot.is_required);
        slots
    }

    fn of(name: &str, extract: &Extract, property: &Value, is_required: bool) -> Self {
        let texts = |key: &str| {
            let all = property.get(key).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        let number = |key: &str, without: f64| property.get(key).and_then(Value::as_f64).unwrap_or(without);
        let allowed = texts("enum");
        let values = if allowed.is_empty() { texts("examples") } else { allowed.clone() };
        let cues = extract.after.iter().filter(|cue| !cue.starts_with('…'));
        let fewest = property.get("minItems").and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok());
        Self {
            name: name.to_owned(),
            extract: extract.clone(),
            is_required,
            is_list: property.get("type").is_some_and(|kind| kind == "array"),
            allowed,
            has_default: property.get("default").is_some(),
            fewest: fewest.unwrap_or(1),
            bounds: (number("minimum", f64::MIN), number("maximum", f64::MAX)),
            phrases: phrases(extract, &values),
            cues: cues.filter_map(|cue| phrase(cue).into_iter().next()).collect(),
            counted: counted_nouns(extract).flat_map(phrase).collect(),
            tails: Vec::new(),
        }
    }

    /// The note of a message: behind the first words that announce one, and there the longest.
    pub(crate) fn note(&self, message: &Message<'_>) -> Option<Note> {
        if self.extract.kind != ExtractKind::Rest {
            return None;
        }
        // Other letters may change their length, and so the places of those behind them.
        let lower = message.text.to_ascii_lowercase();
        let places = self.extract.after.iter().filter_map(|cue| place(&lower, &cue.to_ascii_lowercase()));
        let cue = places.min_by_key(|place| (place.start, Reverse(place.end)))?;
        let rest = &message.text[cue.end..];
        let end = cue.end + self.closed(&message.text[..cue.start], rest).unwrap_or(rest.len());
        Some(Note { text: cue.end..end, cue })
    }

    /// A note, without the marks around it.
    pub(crate) fn note_text(&self, message: &Message<'_>) -> Option<String> {
        let note = self.note(message)?;
        let rest =
            message.text[note.text].trim_matches(|c: char| !c.is_alphanumeric() && !"()%$₹€".contains(c));
        let opens = rest.matches('(').count();
        let rest = if rest.matches(')').count() > opens { rest.trim_end_matches(')') } else { rest };
        let rest = if opens > rest.matches(')').count() { rest.trim_start_matches('(') } else { rest };
        (!rest.is_empty()).then(|| rest.to_owned())
    }

    /// Where a note ends that is closed: by the quotation mark or the bracket that it opens with, or before words that
    /// say where it goes, as `on my list`.
    fn closed(&self, before: &str, rest: &str) -> Option<usize> {
        let opened = rest.trim_start_matches([' ', ':', '-']);
        let start = rest.len() - opened.len();
        let marks = [('"', '"'), ('“', '”'), ('\'', '\''), ('‘', '’'), ('(', ')')];
        for (open, close) in marks {
            if let Some(inside) = opened.strip_prefix(open) {
                return inside.find(close).map(|at| start + open.len_utf8() + at + close.len_utf8());
            }
        }
        if before.trim_end().ends_with('(') {
            return rest.rfind(')');
        }
        let said = words(rest);
        let ends = |tail: &&Vec<String>| {
            let at = said.len().checked_sub(tail.len());
            at.is_some_and(|at| {
                at > 0 && said[at..].iter().zip(tail.iter()).all(|(word, it)| word.lower == *it)
            })
        };
        let tail = self.tails.iter().filter(ends).max_by_key(|tail| tail.len())?;
        Some(said[said.len() - tail.len()].begin)
    }

    /// Whether it takes names of things.
    pub(crate) fn takes_names(&self) -> bool {
        matches!(self.extract.kind, ExtractKind::Symbol | ExtractKind::Symbols | ExtractKind::Company)
    }

    /// Whether its tool is about what it names. A name that is optional only narrows what the tool shows.
    pub(crate) fn is_subject(&self) -> bool {
        self.is_required && self.takes_names()
    }

    pub(crate) fn takes_a_time(&self) -> bool {
        matches!(
            self.extract.kind,
            ExtractKind::Since
                | ExtractKind::Until
                | ExtractKind::Days
                | ExtractKind::Quarters
                | ExtractKind::Timeframe
        )
    }

    /// Whether it takes a time that need not end now.
    pub(crate) fn takes_dates(&self) -> bool {
        self.takes_a_time() && self.extract.kind != ExtractKind::Timeframe
    }

    /// The kind of the names that it takes.
    pub(crate) fn of_kind(&self) -> &str {
        let account = if self.extract.kind == ExtractKind::Account { "account" } else { "" };
        self.extract.of.as_deref().unwrap_or(account)
    }

    /// Whether it only narrows what is shown, so that this many of its values, if they are all, are as good as none.
    pub(crate) fn is_whole(&self, count: usize) -> bool {
        !self.is_required && !self.has_default && count == self.allowed.len()
    }

    /// The question about a number out of bounds.
    pub(crate) fn out_of_bounds(&self, number: f64) -> Option<String> {
        let (least, most) = self.bounds;
        let name = self.name.replace('_', " ");
        (number < least || number > most)
            .then(|| format!("The {name} may be {least} to {most}. How many should it be?"))
    }
}

/// The nouns that `after` lists behind a `…`.
fn counted_nouns(extract: &Extract) -> impl Iterator<Item = &str> {
    extract.after.iter().filter_map(|cue| cue.strip_prefix('…')).map(str::trim)
}

/// The words of a phrase, in small letters.
fn lower(text: &str) -> Vec<String> {
    terms::words(text).map(|(_, word)| word.to_lowercase()).collect()
}

/// Where a cue stands in a text: as it is, or with what is named in the place of its `…`, behind which it counts.
fn place(text: &str, cue: &str) -> Option<Range<usize>> {
    let find = |from: usize, part: &str| {
        let begins_word = part.starts_with(char::is_alphanumeric);
        let stands = |at: &usize| !begins_word || !text[..*at].ends_with(char::is_alphanumeric);
        text[from..].match_indices(part).map(|(at, _)| from + at).find(stands)
    };
    let Some((first, second)) = cue.split_once('…') else {
        let at = find(0, cue)?;
        return Some(at..at + cue.len());
    };
    let from = find(0, first.trim_end())? + first.trim_end().len();
    let at = find(from, second)?;
    Some(at..at + second.len())
}

/// The words of an `extract`, and the values themselves where they may be said.
fn phrases(extract: &Extract, values: &[String]) -> Vec<(Vec<String>, String)> {
    let said =
        extract.words.iter().flat_map(|(value, phrases)| phrases.iter().map(move |it| (lower(it), value)));
    let are_words = matches!(extract.kind, ExtractKind::Words | ExtractKind::Profile);
    // `all` stands in questions of every kind, so by itself it is not a value.
    let is_said = |terms: &[String]| are_words && !terms.iter().all(|term| is_stop(term));
    let themselves = values.iter().map(|value| (lower(value), value)).filter(|(terms, _)| is_said(terms));
    let all = said.chain(themselves).filter(|(terms, _)| !terms.is_empty());
    let mut all: Vec<_> = all.map(|(terms, value)| (terms, value.clone())).collect();
    all.sort_by_key(|(terms, _)| std::cmp::Reverse(terms.len()));
    all
}
