//! One table of the file that holds an entry: its fields, read one by one.

use serde_json::Map;

use super::{
    Problem,
    near::did_you_mean,
    raw_value::{Entries, Origin, RawValue},
    value::Value,
};

/// The fields of an entry. A field is known by being read.
#[derive(Debug)]
pub struct Fields {
    key: String,
    origin: Origin,
    entries: Entries,
    known: Vec<&'static str>,
    problems: Vec<Problem>,
}

impl Fields {
    pub(super) fn new(key: String, origin: Origin, entries: Entries) -> Self {
        Self { key, origin, entries, known: Vec::new(), problems: Vec::new() }
    }

    /// A field that must be there.
    pub fn required<T: Value>(&mut self, name: &'static str) -> Option<T> {
        if !self.has(name) {
            self.problem(format!("{name} is missing; add it"));
        }
        self.optional(name)
    }

    /// A field that may be left out.
    pub fn optional<T: Value>(&mut self, name: &'static str) -> Option<T> {
        self.known.push(name);
        let said = self.entries.get(name)?;
        let place = || said.origin.place(&format!("{}.{name}", self.key));
        T::read(&said.value).map_err(|what| self.problems.push(Problem::new(place(), what))).ok()
    }

    /// A table within the entry, to be ended like the entry. A value that is not a table is a problem.
    pub fn table(&mut self, name: &'static str) -> Option<Self> {
        self.known.push(name);
        let said = self.entries.get(name)?;
        let key = format!("{}.{name}", self.key);
        match &said.value {
            RawValue::Table(entries) => Some(Self::new(key, said.origin.clone(), entries.clone())),
            other => {
                let what = format!("expected a table [{key}], but found {other}");
                self.problems.push(Problem::new(said.origin.place(&key), what));
                None
            }
        }
    }

    /// All that is left of the entry, as JSON, whatever its names are.
    pub(super) fn take_json(&mut self) -> Map<String, serde_json::Value> {
        let mut object = Map::new();
        for (name, said) in std::mem::take(&mut self.entries) {
            if let Some(value) = said.value.to_json() {
                object.insert(name, value);
            } else {
                let place = said.origin.place(&format!("{}.{name}", self.key));
                let what = "expected what JSON has: no date, and no number that is not finite";
                self.problems.push(Problem::new(place, what));
            }
        }
        object
    }

    /// Whether the entry says anything of this name.
    pub fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Whether the entry has a table of this name.
    pub(super) fn is_table(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|said| matches!(said.value, RawValue::Table(_)))
    }

    /// Something is wrong with the entry as a whole.
    pub fn problem(&mut self, what: impl Into<String>) {
        self.problems.push(self.problem_here(what));
    }

    /// Whether nothing was wrong so far.
    pub fn is_fine(&self) -> bool {
        self.problems.is_empty()
    }

    /// A problem of the entry as a whole, with its place.
    pub fn problem_here(&self, what: impl Into<String>) -> Problem {
        Problem::new(self.origin.place(&self.key), what)
    }

    /// All problems, unknown keys included.
    pub(super) fn problems(self) -> Vec<Problem> {
        let Self { key, entries, known, mut problems, .. } = self;
        for (name, said) in entries.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            let place = said.origin.place(&format!("{key}.{name}"));
            let expected = format!("unknown setting; expected one of {}", known.join(", "));
            let what = did_you_mean(name, known.iter().copied()).unwrap_or(expected);
            problems.push(Problem::new(place, what));
        }
        problems
    }
}
