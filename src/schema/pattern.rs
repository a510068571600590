//! Patterns: matched in metered work, and their sizes, estimated without compiling them.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

use regex::{Regex, RegexBuilder};
use regex_automata::{dfa::dense, nfa::thompson};
use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind},
};
use serde_json::{Map, Value};

use crate::meter;

/// Maximum size of what a matcher remembers of the texts that it has seen, in bytes.
pub(crate) const MAX_CACHE: usize = 512 * 1024;
/// Maximum size of the whole automaton of a pattern that is linear, and of what making it takes, in bytes.
const MAX_AUTOMATON: usize = 64 * 1024;
const MAX_DETERMINIZING: usize = 256 * 1024;
/// Maximum length of a text that is read as a pattern, in bytes: reading it takes 100 times the memory.
const MAX_READ: usize = 4 * 1024;

/// The states that match a class with characters beyond ASCII, of one range each.
const STATES_OF_WIDE_RANGE: usize = 8;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// Steps for eight bytes of text. Most tools are never called.
    steps: OnceLock<u64>,
}

impl Pattern {
    /// `None` if it is no pattern, or too large.
    pub(crate) fn compile(pattern: &str, max_size: Option<usize>) -> Option<Self> {
        let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
        let mut builder = RegexBuilder::new(&translated);
        builder.dfa_size_limit(MAX_CACHE);
        if let Some(max) = max_size {
            builder.size_limit(max);
        }
        Some(Self { regex: builder.build().ok()?, steps: OnceLock::new() })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        let steps = self.steps.get_or_init(|| steps(self.regex.as_str()));
        // The engine panics at some patterns of others.
        let is_match = || catch_unwind(AssertUnwindSafe(|| self.regex.is_match(text))).unwrap_or(false);
        meter::spend(1 + (text.len() as u64 / 8).saturating_mul(*steps)) && is_match()
    }
}

/// Whether a text is a pattern, of those that are short enough.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.len() <= MAX_READ && jsonschema_regex::is_valid_ecma_regex(text)
}

/// What matching eight bytes takes: one step where the automaton is small enough to be made whole; else each byte may
/// be at each position.
fn steps(translated: &str) -> u64 {
    let config = dense::Config::new()
        .dfa_size_limit(Some(MAX_AUTOMATON))
        .determinize_size_limit(Some(MAX_DETERMINIZING));
    let nfa = thompson::Config::new().nfa_size_limit(Some(MAX_AUTOMATON));
    let automaton = dense::Builder::new().configure(config).thompson(nfa).build(translated);
    if automaton.is_ok() { 1 } else { positions(translated).saturating_mul(8) }
}

/// How many positions of a pattern a text can be at, at a time.
fn positions(pattern: &str) -> u64 {
    parse(pattern).map_or(1, |hir| size(&hir, &|_| 1)) as u64
}

/// The steps for eight bytes of a member's name, by all patterns of a schema that are matched with names: each counts
/// twice, since what is said of all other members matches it too.
pub(crate) fn steps_of_names(schema: &Value) -> u64 {
    match schema {
        Value::Array(items) => items.iter().map(steps_of_names).fold(0, u64::saturating_add),
        Value::Object(members) => {
            let patterns = members.get("patternProperties").and_then(Value::as_object);
            let of_pattern =
                |pattern: &String| jsonschema_regex::to_rust_regex(pattern).map_or(0, |it| steps(&it));
            let own =
                patterns.into_iter().flat_map(Map::keys).map(|pattern| of_pattern(pattern).saturating_mul(2));
            own.chain(members.values().map(steps_of_names)).fold(0, u64::saturating_add)
        }
        _ => 0,
    }
}

/// The states of the automaton that a pattern compiles to, by which it takes memory. `None` if it is no pattern.
pub fn states(pattern: &str) -> Option<usize> {
    let of_class = |class: &Class| match class {
        Class::Bytes(class) if class.is_ascii() => 1,
        Class::Unicode(class) if class.is_ascii() => 1,
        Class::Bytes(class) => STATES_OF_WIDE_RANGE * class.ranges().len(),
        Class::Unicode(class) => STATES_OF_WIDE_RANGE * class.ranges().len(),
    };
    parse(pattern).map(|hir| size(&hir, &of_class))
}

fn parse(pattern: &str) -> Option<Hir> {
    // `\d`, `\s` and `\w` are ASCII in JSON Schema. Classes that name wider characters parse with Unicode only.
    let parse = |unicode| ParserBuilder::new().unicode(unicode).utf8(false).build().parse(pattern).ok();
    parse(false).or_else(|| parse(true))
}

fn size(hir: &Hir, of_class: &impl Fn(&Class) -> usize) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(class) => of_class(class),
        HirKind::Repetition(it) => {
            let copies = it.max.unwrap_or(it.min).max(1) as usize;
            // A copy that may be left out has a state for that.
            let choice = usize::from(it.max != Some(it.min));
            size(&it.sub, of_class).saturating_add(choice).saturating_mul(copies)
        }
        HirKind::Capture(it) => size(&it.sub, of_class).saturating_add(2),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().map(|it| size(it, of_class)).fold(all.len(), usize::saturating_add)
        }
    }
}
