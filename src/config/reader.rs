//! Reads settings: the flag wins over the variable, that over the file, and that over the default.
//!
//! Keys never requested by any section are reported as unknown. A value that is wrong is replaced by the default, so
//! that all problems are reported at once. Not here: what values mean.

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
}

/// What was read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Registered {
    /// The settings that are single values, in the order in which they are printed.
    pub(super) settings: Vec<ReadSetting>,
    /// The keys of tables that hold entries of their own.
    pub(super) tables: BTreeSet<String>,
    pub(super) variables: BTreeSet<String>,
    /// Names, each with the domain that it belongs to.
    owners: BTreeMap<String, String>,
    /// The entries of tables, as TOML.
    pub(super) entries: Vec<String>,
    /// Lines that are not part of a file of settings.
    pub(super) notes: Vec<String>,
}

/// A setting, and what was read.
#[derive(Clone, Debug)]
pub(super) struct ReadSetting {
    pub(super) setting: Setting,
    pub(super) origin: Origin,
    pub(super) shown: TomlValue,
}

/// A value as TOML.
#[derive(Clone, Debug)]
pub(super) enum TomlValue {
    /// It is set, or has a default that can be written down.
    Value(String),
    /// It is not set, and this is what holds instead, if that is known.
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
        }
    }

    /// What is read from now on belongs to the domain of this name; to the platform if it is empty.
    pub fn on_behalf_of(&mut self, owner: &str) {
        owner.clone_into(&mut self.owner);
    }

    pub fn value<T: Value>(&mut self, setting: Setting, default: T) -> T {
        let value = self.get(&setting, T::read).unwrap_or(default);
        self.learn(setting, TomlValue::Value(value.to_toml()));
        value
    }

    /// A setting that may be unset; then `instead` is what holds, for people to see.
    pub fn optional<T: Value>(&mut self, setting: Setting, instead: Option<T>) -> Option<T> {
        let value = self.get(&setting, T::read);
        let unset = || TomlValue::Unset(instead.map(|it| it.to_toml()).unwrap_or_default());
        let shown = value.as_ref().map_or_else(unset, |value| TomlValue::Value(value.to_toml()));
        self.learn(setting, shown);
        value
    }

    /// A setting that is written as a text of its own form.
    pub fn text<T: Display, E: Display>(
        &mut self,
        setting: Setting,
        default: T,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> T {
        let read = |found: &RawValue| parse(&String::read(found)?).map_err(|error| error.to_string());
        let value = self.get(&setting, read).unwrap_or(default);
        self.learn(setting, TomlValue::Value(quote(&value.to_string())));
        value
    }

    /// The entries of a list of tables, such as `[[auth.users]]`. They stand in the file only. Each is ended by
    /// [`end`](Self::end).
    pub fn list(&mut self, key: &str) -> Vec<Fields> {
        self.learn_table(key);
        let Some(given) = in_file(&self.file, key).cloned() else { return Vec::new() };
        let RawValue::List(list) = given.value else {
            self.problem(key, format!("expected tables [[{key}]], but found {}", given.value));
            return Vec::new();
        };
        let entries = list.into_iter().enumerate();
        entries.filter_map(|(index, given)| self.fields(format!("{key}.{index}"), given)).collect()
    }

    /// The tables below a key by their names, such as `[rules.strict]`. They stand in the file only. Each is ended by
    /// [`end`](Self::end).
    pub fn tables(&mut self, key: &str) -> Vec<(String, Fields)> {
        self.learn_table(key);
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

    /// Takes over what is wrong with a table, unknown keys included. Whether anything was.
    pub fn end(&mut self, fields: Fields) -> bool {
        let problems = fields.problems();
        let is_fine = problems.is_empty();
        self.problems.extend(problems);
        is_fine
    }

    /// A variable that is not a setting of the file, such as one with a secret.
    pub fn variable(&mut self, name: &str) -> Option<String> {
        self.learn_variable(name);
        self.environment.get(name).map(str::to_owned)
    }

    /// Whether anybody said anything about a setting.
    pub fn is_set(&self, key: &str) -> bool {
        let is_read = |read: &ReadSetting| read.setting.key == key && read.origin != Origin::Default;
        self.known.settings.iter().any(is_read) || in_file(&self.file, key).is_some()
    }

    /// What a key was set to means nothing.
    pub fn problem(&mut self, key: &str, what: impl Into<String>) {
        self.problems.push(Problem::new(self.origin(key).place(key), what));
    }

    /// What a variable holds means nothing.
    pub fn problem_of_variable(&mut self, name: &str, what: impl Into<String>) {
        self.problems.push(Problem::new(Origin::Variable(name.to_owned()).place(name), what));
    }

    /// What a key was set to is allowed, but hardly meant.
    pub fn warn(&mut self, key: &str, what: impl Into<String>) {
        self.warnings.push(Problem::new(self.origin(key).place(key), what));
    }

    /// What a key was set to has no effect for the sake of another setting: that is refused. Where the other was said
    /// by a flag it is only reported: a flag is for one run, and what is written down for others.
    pub fn without_effect(&mut self, key: &str, because: &str, what: &str) {
        match self.origin(because) {
            Origin::Flag(_) => self.warn(key, what),
            _ => self.problem(key, what),
        }
    }

    /// What a variable holds is allowed, but hardly meant.
    pub fn warn_of_variable(&mut self, name: &str, what: impl Into<String>) {
        self.warnings.push(Problem::new(Origin::Variable(name.to_owned()).place(name), what));
    }

    /// An entry of a table for the printed configuration: its header with brackets, and names with values as TOML.
    pub fn show_entry(&mut self, header: &str, pairs: &[(&str, String)]) {
        let lines = pairs.iter().map(|(name, value)| format!("\n{name} = {value}"));
        self.known.entries.push(format!("{header}{}", lines.collect::<String>()));
    }

    /// Lines for the printed configuration, about what no file can set.
    pub fn note(&mut self, lines: impl Into<String>) {
        self.known.notes.push(lines.into());
    }

    /// What an earlier section became; its default where none became one.
    pub fn part<T: Part + Default>(&self) -> Arc<T> {
        self.parts.get().unwrap_or_default()
    }

    /// Takes a name such as `table rules` for the domain that is read for. Two that understand the same words
    /// differently would each get half of what was said: the second is refused.
    pub fn claim(&mut self, name: &str) -> bool {
        let owner = self.known.owners.entry(name.to_owned()).or_insert_with(|| self.owner.clone());
        if *owner == self.owner {
            return true;
        }
        let called = |owner: &str| match owner {
            "" => "the platform".to_owned(),
            domain => format!("the domain {domain}"),
        };
        let who = format!("{} and {}", called(owner), called(&self.owner));
        self.problems.push(Problem::new(who, format!("both bring the {name}; it can belong to one only")));
        false
    }

    /// Where a key was said.
    pub(super) fn origin(&self, key: &str) -> Origin {
        let read = self.known.settings.iter().find(|read| read.setting.key == key);
        let in_file = || in_file(&self.file, key).map(|given| given.origin.clone());
        read.map(|read| read.origin.clone()).or_else(in_file).unwrap_or_default()
    }

    /// The names of the flags that were given and never requested.
    pub(super) fn unread_flags(&self) -> impl Iterator<Item = &str> {
        let is_read = |key: &str| self.known.settings.iter().any(|read| read.setting.key == key);
        self.flags.iter().map(|(key, _)| *key).filter(move |key| !is_read(key))
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The value that wins, if it can be read.
    fn get<T>(&mut self, setting: &Setting, read: impl FnOnce(&RawValue) -> Result<T, String>) -> Option<T> {
        let given = self.winner(setting)?;
        read(&given.value)
            .map_err(|what| self.problems.push(Problem::new(given.origin.place(&setting.key), what)))
            .ok()
    }

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

    fn learn(&mut self, setting: Setting, shown: TomlValue) {
        let origin = self.winner(&setting).map(|given| given.origin).unwrap_or_default();
        self.claim(&format!("setting {}", setting.key));
        self.learn_variable(&setting.variable);
        self.known.settings.push(ReadSetting { setting, origin, shown });
    }

    fn learn_table(&mut self, key: &str) {
        self.claim(&format!("table {key}"));
        self.known.tables.insert(key.to_owned());
    }

    fn learn_variable(&mut self, name: &str) {
        self.claim(&format!("variable {name}"));
        self.known.variables.insert(name.to_owned());
    }
}

/// What the file says about a key.
fn in_file<'a>(entries: &'a Entries, key: &str) -> Option<&'a Sourced> {
    let Some((head, rest)) = key.split_once('.') else { return entries.get(key) };
    match &entries.get(head)?.value {
        RawValue::Table(inner) => in_file(inner, rest),
        _ => None,
    }
}
