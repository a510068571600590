//! Reads settings: a flag wins over a variable, a variable over the file, the file over the default.
//!
//! Keys that no section reads are reported as unknown. An invalid value is replaced by the default, so that all
//! problems are reported at once. Not here: the types of values (`value`).

pub(super) mod tokens;
mod values;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    sync::Arc,
};

use super::{
    Environment, Problem, Setting, Sources,
    fields::Fields,
    parts::{Part, Parts},
    raw_value::{Entries, Origin, RawValue, Sourced},
    value::{Value, quote},
};

/// Reads the settings of one section after the other.
#[derive(Debug)]
pub struct Reader {
    owner: String,
    flags: Vec<(&'static str, String)>,
    environment: Environment,
    pub(super) file: Entries,
    pub(super) parts: Parts,
    pub(super) known: Registered,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// Tokens whose variables are not set.
    pub(super) unset_tokens: Vec<Problem>,
}

/// The names and values that were read, for unknown keys and `--print-config`.
#[derive(Clone, Debug, Default)]
pub(super) struct Registered {
    /// The settings that are single values, in the order in which they are printed.
    pub(super) settings: Vec<ReadSetting>,
    /// The keys of tables that hold entries of their own.
    pub(super) tables: BTreeSet<String>,
    pub(super) variables: BTreeSet<String>,
    /// The domain of each name; empty for the platform.
    owners: BTreeMap<String, String>,
    /// The entries of tables, as TOML.
    pub(super) entries: Vec<String>,
    /// Lines that are not part of a file of settings.
    pub(super) notes: Vec<String>,
}

/// A setting with its effective value.
#[derive(Clone, Debug)]
pub(super) struct ReadSetting {
    pub(super) setting: Setting,
    pub(super) origin: Origin,
    pub(super) shown: TomlValue,
}

/// A value as TOML.
#[derive(Clone, Debug)]
pub(super) enum TomlValue {
    /// The value, or the default.
    Value(String),
    /// Not set. What applies instead, empty if unknown.
    Unset(String),
}

impl Reader {
    pub(super) fn new(file: Entries, sources: &Sources) -> Self {
        Self {
            owner: String::new(),
            flags: sources.flags.values.clone(),
            environment: sources.environment.clone(),
            file,
            parts: Parts::default(),
            known: Registered::default(),
            problems: Vec::new(),
            warnings: Vec::new(),
            unset_tokens: Vec::new(),
        }
    }

    /// Attributes the following reads to the domain of this name; to the platform if it is empty.
    pub fn on_behalf_of(&mut self, owner: &str) {
        owner.clone_into(&mut self.owner);
    }

    /// Reads a setting.
    pub fn value<T: Value>(&mut self, setting: Setting, default: T) -> T {
        let value = self.get(&setting, T::read).unwrap_or(default);
        self.register(setting, TomlValue::Value(value.to_toml()));
        value
    }

    /// Reads a setting that may be unset. `--print-config` then shows `instead`, which applies.
    pub fn optional<T: Value>(&mut self, setting: Setting, instead: Option<T>) -> Option<T> {
        let value = self.get(&setting, T::read);
        let unset = || TomlValue::Unset(instead.map(|it| it.to_toml()).unwrap_or_default());
        let shown = value.as_ref().map_or_else(unset, |value| TomlValue::Value(value.to_toml()));
        self.register(setting, shown);
        value
    }

    /// Reads a setting that is a text in a format of its own.
    pub fn text<T: Display, E: Display>(
        &mut self,
        setting: Setting,
        default: T,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> T {
        let read = |found: &RawValue| parse(&String::read(found)?).map_err(|error| error.to_string());
        let value = self.get(&setting, read).unwrap_or(default);
        self.register(setting, TomlValue::Value(quote(&value.to_string())));
        value
    }

    /// Reads the entries of an array of tables, such as `[[auth.users]]`, which only the file can have. Each must be
    /// passed to [`end`](Self::end).
    pub fn list(&mut self, key: &str) -> Vec<Fields> {
        self.register_table(key);
        let Some(given) = in_file(&self.file, key).cloned() else { return Vec::new() };
        let RawValue::List(list) = given.value else {
            self.problem(key, format!("expected tables [[{key}]], but found {}", given.value));
            return Vec::new();
        };
        let entries = list.into_iter().enumerate();
        entries.filter_map(|(index, given)| self.fields(format!("{key}.{index}"), given)).collect()
    }

    /// Reads the tables below a key by name, such as `[rules.strict]`, which only the file can have. Each must be
    /// passed to [`end`](Self::end).
    pub fn tables(&mut self, key: &str) -> Vec<(String, Fields)> {
        self.register_table(key);
        let Some(given) = in_file(&self.file, key).cloned() else { return Vec::new() };
        let RawValue::Table(table) = given.value else {
            self.problem(key, format!("expected tables [{key}.NAME], but found {}", given.value));
            return Vec::new();
        };
        let named = |(name, given): (String, Sourced)| {
            let fields = self.fields(format!("{key}.{name}"), given)?;
            Some((name, fields))
        };
        table.into_iter().filter_map(named).collect()
    }

    fn fields(&mut self, key: String, given: Sourced) -> Option<Fields> {
        match given.value {
            RawValue::Table(entries) => Some(Fields::new(key, given.origin, entries)),
            other => {
                let what = format!("expected a table [{key}], but found {other}");
                self.problems.push(Problem::new(given.origin.place(&key), what));
                None
            }
        }
    }

    /// Reports the problems of a table, unknown keys included. Returns whether there are none.
    pub fn end(&mut self, fields: Fields) -> bool {
        let problems = fields.problems();
        let is_fine = problems.is_empty();
        self.problems.extend(problems);
        is_fine
    }

    /// Whether a flag, a variable or the file has a setting, read or not.
    pub fn is_set(&self, key: &str) -> bool {
        let is_read = |read: &ReadSetting| read.setting.key == key && read.origin != Origin::Default;
        self.known.settings.iter().any(is_read) || in_file(&self.file, key).is_some()
    }

    /// Reports a problem with the value of a key.
    pub fn problem(&mut self, key: &str, what: impl Into<String>) {
        self.problems.push(Problem::new(self.origin(key).place(key), what));
    }

    /// Reports a problem with the value of a variable.
    pub fn problem_of_variable(&mut self, name: &str, what: impl Into<String>) {
        self.problems.push(Problem::new(Origin::Variable(name.to_owned()).place(name), what));
    }

    /// Warns of a value that is valid but probably a mistake.
    pub fn warn(&mut self, key: &str, what: impl Into<String>) {
        self.warnings.push(Problem::new(self.origin(key).place(key), what));
    }

    /// Reports a setting that has no effect because of another one. That is a problem, or only a warning if the other
    /// one is a flag: a flag is for one run, the file for all.
    pub fn without_effect(&mut self, key: &str, because: &str, what: &str) {
        match self.origin(because) {
            Origin::Flag(_) => self.warn(key, what),
            _ => self.problem(key, what),
        }
    }

    /// Warns of a variable whose value is valid but probably a mistake.
    pub fn warn_of_variable(&mut self, name: &str, what: impl Into<String>) {
        self.warnings.push(Problem::new(Origin::Variable(name.to_owned()).place(name), what));
    }

    /// Adds a table to the printed configuration: its header with brackets, and its keys with values as TOML.
    pub fn show_entry(&mut self, header: &str, pairs: &[(&str, String)]) {
        let lines = pairs.iter().map(|(name, value)| format!("\n{name} = {value}"));
        self.known.entries.push(format!("{header}{}", lines.collect::<String>()));
    }

    /// Adds a comment to the printed configuration, on what the file cannot set.
    pub fn note(&mut self, lines: impl Into<String>) {
        self.known.notes.push(lines.into());
    }

    /// The value of a section that was read before; the default if there is none.
    pub fn part<T: Part + Default>(&self) -> Arc<T> {
        self.parts.get().unwrap_or_default()
    }

    /// Claims a name such as `table rules` for the current domain. A second domain is refused: each would read the same
    /// keys in its own sense, and report those of the other as unknown.
    pub fn claim(&mut self, name: &str) -> bool {
        let owner = self.known.owners.entry(name.to_owned()).or_insert_with(|| self.owner.clone());
        if *owner == self.owner {
            return true;
        }
        let called = |owner: &str| match owner {
            "" => "the platform".to_owned(),
            domain => format!("the domain {domain}"),
        };
        let owners = format!("{} and {}", called(owner), called(&self.owner));
        self.problems.push(Problem::new(owners, format!("both bring the {name}; it can belong to one only")));
        false
    }

    /// The origin of a key's value.
    pub(super) fn origin(&self, key: &str) -> Origin {
        let read = self.known.settings.iter().find(|read| read.setting.key == key);
        let in_file = || in_file(&self.file, key).map(|given| given.origin.clone());
        read.map(|read| read.origin.clone()).or_else(in_file).unwrap_or_default()
    }

    /// The keys of the given flags that no section has read.
    pub(super) fn unread_flags(&self) -> impl Iterator<Item = &str> {
        let is_read = |key: &str| self.known.settings.iter().any(|read| read.setting.key == key);
        self.flags.iter().map(|(key, _)| *key).filter(move |key| !is_read(key))
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The effective value, if it is given and valid. An invalid one is reported.
    fn get<T>(&mut self, setting: &Setting, read: impl FnOnce(&RawValue) -> Result<T, String>) -> Option<T> {
        let given = self.winner(setting)?;
        read(&given.value)
            .map_err(|what| self.problems.push(Problem::new(given.origin.place(&setting.key), what)))
            .ok()
    }

    /// The value with the highest precedence. Of a flag that is given twice the last counts.
    fn winner(&self, setting: &Setting) -> Option<Sourced> {
        let text = |text: &str, origin| Sourced { value: RawValue::Text(text.to_owned()), origin };
        let flag = self.flags.iter().rfind(|(key, _)| *key == setting.key);
        if let Some((key, value)) = flag {
            return Some(text(value, Origin::Flag(setting.flag.unwrap_or(key))));
        }
        if let Some(value) = self.environment.get(&setting.variable) {
            return Some(text(value, Origin::Variable(setting.variable.clone())));
        }
        in_file(&self.file, &setting.key).cloned()
    }

    fn register(&mut self, setting: Setting, shown: TomlValue) {
        let origin = self.winner(&setting).map(|given| given.origin).unwrap_or_default();
        self.claim(&format!("setting {}", setting.key));
        self.register_variable(&setting.variable);
        self.known.settings.push(ReadSetting { setting, origin, shown });
    }

    fn register_table(&mut self, key: &str) {
        self.claim(&format!("table {key}"));
        self.known.tables.insert(key.to_owned());
    }

    fn register_variable(&mut self, name: &str) {
        self.claim(&format!("variable {name}"));
        self.known.variables.insert(name.to_owned());
    }
}

/// The value of a dotted key in the file.
fn in_file<'a>(entries: &'a Entries, key: &str) -> Option<&'a Sourced> {
    let Some((head, rest)) = key.split_once('.') else { return entries.get(key) };
    match &entries.get(head)?.value {
        RawValue::Table(inner) => in_file(inner, rest),
        _ => None,
    }
}
