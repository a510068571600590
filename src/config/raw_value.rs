//! The raw value of a setting, of any type, with its origin.
//!
//! Not here: what it should have been, which each type knows (`value`).

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::{Map, Number, Value};

/// Where a setting comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    #[default]
    Default,
    /// The file, and the line in it, counted from 1.
    File(Arc<str>, usize),
    Variable(String),
    Flag(&'static str),
}

/// A value as it was given.
#[derive(Clone, Debug, PartialEq)]
pub enum RawValue {
    /// A text. The value of a variable or a flag is always one, whatever it spells.
    Text(String),
    Whole(i64),
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A date or a time of day: no setting is one.
    Date,
    List(Vec<Sourced>),
    Table(Entries),
}

/// The entries of a table, by name.
pub type Entries = BTreeMap<String, Sourced>;

/// A value and where it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced {
    pub value: RawValue,
    pub origin: Origin,
}

impl RawValue {
    /// The same in JSON, which has no dates, and no number that is not finite.
    pub(super) fn to_json(&self) -> Option<Value> {
        match self {
            Self::Text(text) => Some(Value::from(text.as_str())),
            Self::Whole(number) => Some(Value::from(*number)),
            Self::Number(number) => Number::from_f64(*number).map(Value::Number),
            Self::Flag(flag) => Some(Value::from(*flag)),
            Self::Date => None,
            Self::List(items) => items.iter().map(|it| it.value.to_json()).collect(),
            Self::Table(entries) => {
                let members = entries.iter().map(|(name, it)| Some((name.clone(), it.value.to_json()?)));
                members.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
        }
    }
}

impl Origin {
    /// The place of a key, in the words that a problem begins with.
    pub(super) fn place(&self, key: &str) -> String {
        match self {
            Self::Default => key.to_owned(),
            Self::File(file, line) => format!("{file}:{line}: {key}"),
            Self::Variable(name) => format!("variable {name}"),
            Self::Flag(flag) => format!("flag {flag}"),
        }
    }
}

/// Without the line number: it would make a printed configuration longer and tell nothing.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(file, _) => f.write_str(file),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{:?}", text.chars().take(64).collect::<String>()),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Date => f.write_str("a date"),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
        }
    }
}
