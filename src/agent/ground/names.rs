//! The names of a sentence that nothing in the turn has, so that no figure of one thing is said of another.
//!
//! Known names are those of the domains, each with all names of what it means. Unknown ones are recognized by their
//! capitals where no sentence begins. Not here: which sentences must not have them.

use std::{
    collections::HashSet,
    ops::Range,
    sync::{Arc, LazyLock},
};

use chrono::{Month, Weekday};
use serde_json::Value;

use super::markdown::{Covered, Line};
use toolwire_engine::registry::RegisteredTool;
use toolwire_planner::{KnownNames, PlanRequest, is_stop_word};

/// Common words of English, in small letters.
static COMMON: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("common_words.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// The names that an answer may use.
#[derive(Debug, Default)]
pub(super) struct TurnNames {
    known: KnownNames,
    /// The texts of results and of the arguments of their calls, in small letters, each between line ends.
    results: String,
    /// The user's message, in small letters.
    message: String,
    tools: Vec<Arc<RegisteredTool>>,
}

impl TurnNames {
    pub(super) fn of(request: &PlanRequest<'_>) -> Self {
        let tools = request.offer.tools().to_vec();
        Self { tools, ..Self::new(request.offer.known_names(), request.message) }
    }

    pub(super) fn new(known: KnownNames, message: &str) -> Self {
        Self { known, message: message.to_lowercase(), results: "\n".to_owned(), tools: Vec::new() }
    }

    /// Takes the texts of a result, or of an argument, and the names of its fields.
    pub(super) fn add(&mut self, value: &Value) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => self.add_text(text),
                Value::Array(items) => open.extend(items),
                Value::Object(map) => {
                    map.keys().for_each(|name| self.add_text(name));
                    open.extend(map.values());
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }

    pub(super) fn add_text(&mut self, text: &str) {
        self.results.extend(text.chars().flat_map(char::to_lowercase));
        self.results.push('\n');
    }

    /// The first name of a sentence that nothing in the turn has.
    pub(super) fn find_foreign<'a>(
        &self,
        text: &'a str,
        line: Line,
        left_out: &[Range<usize>],
    ) -> Option<&'a str> {
        let known = self.known.find(text);
        let mut covered = Covered::of(left_out);
        let strange = known.iter().find(|name| {
            let begins = begins_part(text, name.range.start);
            !covered.has(name.range.start)
                && (!begins || !name.is_a_word)
                && !name.names.iter().any(|name| has_word(&self.results, &name.to_lowercase()))
        });
        if let Some(name) = strange {
            return Some(&text[name.range.clone()]);
        }
        // Titles have capitals everywhere.
        if matches!(line, Line::Heading | Line::Row) {
            return None;
        }
        let mut covered = Covered::of(left_out);
        let is_known = |run: &Range<usize>| {
            known.iter().any(|name| name.range.start < run.end && run.start < name.range.end)
        };
        let mut runs = capitalised_runs(text).into_iter();
        runs.find(|run| {
            !covered.has(run.start)
                && !begins_part(text, run.start)
                && !is_known(run)
                && !text[run.clone()].split(' ').any(|word| self.is_familiar(word))
        })
        .map(|run| &text[run])
    }

    /// Whether a word is one of the turn's, of the language, or of the calendar.
    fn is_familiar(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        let is_of_turn = || self.results.contains(&lower) || self.message.contains(&lower);
        let is_of_tools = || self.tools.iter().any(|tool| tool.definition.mentions(&lower));
        let is_date = || lower.parse::<Weekday>().is_ok() || lower.parse::<Month>().is_ok();
        COMMON.contains(lower.as_str()) || is_stop_word(&lower) || is_date() || is_of_turn() || is_of_tools()
    }
}

/// Whether a text has a word, or several, as such.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric();
    text.match_indices(word)
        .any(|(at, found)| !text[..at].ends_with(is_part) && !text[at + found.len()..].starts_with(is_part))
}

/// Whether a sentence, an item, a quotation or a part behind a colon begins at a place. Only what goes on behind a word
/// or a comma is surely the middle of a sentence.
fn begins_part(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(['*', '_']);
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, ',' | '\'' | '’');
    !before.ends_with(' ') || !before.trim_end().ends_with(goes_on)
}

/// The runs of words with a first capital and small letters behind it, joined by single spaces.
fn capitalised_runs(text: &str) -> Vec<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric();
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_part).map(|found| at + found) {
        let end = text[start..].find(|c: char| !is_part(c)).map_or(text.len(), |length| start + length);
        at = end;
        let word = &text[start..end];
        let is_name = word.chars().count() > 2
            && word.starts_with(char::is_uppercase)
            && word.chars().all(char::is_alphabetic)
            && word.contains(char::is_lowercase);
        match runs.last_mut() {
            Some(last) if is_name && &text[last.end..start] == " " => last.end = end,
            _ if is_name => runs.push(start..end),
            _ => {}
        }
    }
    runs
}
