//! The file of settings, `toolwire.toml` unless another is named: read, and each value with its line.

use std::{fs, io, sync::Arc};

use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

use super::{
    ConfigError, Problem, Sources,
    raw_value::{Entries, Origin, RawValue, Sourced},
};
use toolwire_base::words::without_bom;

/// What the file says; nothing if none is named and there is no `toolwire.toml`.
pub(super) fn read(sources: &Sources) -> Result<Entries, ConfigError> {
    let path = sources.file();
    let shown = path.display().to_string();
    match fs::read_to_string(&path) {
        Ok(text) => parse(&shown, without_bom(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !sources.names_file() => Ok(Entries::new()),
        Err(error) => {
            let what = format!("cannot be read: {error}. Name a file that exists with --config FILE");
            Err(ConfigError::one(shown, what))
        }
    }
}

/// A file's text with the places in it.
struct File<'a> {
    name: Arc<str>,
    text: &'a str,
}

/// An error's own display quotes the file, which may hold a token: only its place and its words are used.
fn parse(name: &str, text: &str) -> Result<Entries, ConfigError> {
    let file = File { name: name.into(), text };
    let (document, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(file.table(document.get_ref()));
    }
    let problem = |error: &toml::de::Error| {
        let line = file.line(error.span().map_or(0, |span| span.start));
        Problem::new(
            format!("{name}:{line}"),
            format!("not valid TOML: {}", error.message().replace('\n', ", ")),
        )
    };
    let mut problems: Vec<_> = errors.iter().map(problem).collect();
    // In a list or an inline table that is not closed, whatever comes next is one more error.
    let within = |it: &Problem| ["array", "inline table"].iter().any(|what| it.what.contains(what));
    if let Some(first) = problems.iter().position(within) {
        problems.truncate(first + 1);
    }
    problems.dedup_by(|one, other| one.at == other.at);
    Err(ConfigError(problems))
}

impl File<'_> {
    fn line(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
    }

    fn table(&self, table: &DeTable<'_>) -> Entries {
        // A table stands where its name does, also when its entries are spread over the file.
        let entry = |(name, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            (name.get_ref().to_string(), self.sourced(value, name.span().start))
        };
        table.iter().map(entry).collect()
    }

    fn sourced(&self, value: &Spanned<DeValue<'_>>, at: usize) -> Sourced {
        let origin = Origin::File(Arc::clone(&self.name), self.line(at));
        Sourced { value: self.raw_value(value.get_ref()), origin }
    }

    fn raw_value(&self, value: &DeValue<'_>) -> RawValue {
        match value {
            DeValue::String(text) => RawValue::Text(text.to_string()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => RawValue::Whole(number),
                Err(_) => RawValue::Text(number.to_string()),
            },
            DeValue::Float(number) => number.as_str().parse().map_or(RawValue::Date, RawValue::Number),
            DeValue::Boolean(flag) => RawValue::Flag(*flag),
            DeValue::Datetime(_) => RawValue::Date,
            DeValue::Array(list) => {
                RawValue::List(list.iter().map(|value| self.sourced(value, value.span().start)).collect())
            }
            DeValue::Table(table) => RawValue::Table(self.table(table)),
        }
    }
}
