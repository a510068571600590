//! The types of variables, and the validation of their values.

use std::ops::RangeInclusive;

use http::{HeaderName, HeaderValue, Uri};

use super::pairs;

/// The type of a variable.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `true` or `false`, in any case.
    Flag,
    /// One of these, in any case.
    Word(&'static [&'static str]),
    /// Any of these, separated by commas.
    Words(&'static [&'static str]),
    Number(RangeInclusive<u64>),
    /// A number from 0 to 1.
    Ratio,
    /// The address of a collector.
    Endpoint,
    /// Headers as `name=value`, separated by commas. Their values may be secret and are never shown.
    Headers,
    /// Attributes as `key=value`, separated by commas.
    Attributes,
    Text,
}

impl Kind {
    /// The error of a value, as the end of a sentence that begins with the name of the variable. The invalid part has
    /// no effect: the whole value, or the entries of a list that the error names.
    pub(super) fn problem(&self, value: &str) -> Option<String> {
        // Before its kind: what is not UTF-8 is ignored as a whole, whatever it would have been.
        if value.contains(char::REPLACEMENT_CHARACTER) {
            return Some("is not UTF-8 and is ignored".to_owned());
        }
        match self {
            Self::Flag => Self::flag(value)
                .is_none()
                .then(|| format!("{value:?} is neither true nor false and counts as false")),
            Self::Word(words) => self
                .word(value)
                .is_none()
                .then(|| format!("{value:?} is not known here and is ignored; use {}", either(words))),
            Self::Words(words) => {
                let unknown: Vec<_> = split(value)
                    .filter(|it| !words.iter().any(|word| word.eq_ignore_ascii_case(it)))
                    .collect();
                let names = unknown.join(", ");
                (!unknown.is_empty())
                    .then(|| format!("{names:?} is not known here and is ignored; use {}", either(words)))
            }
            Self::Number(range) => self.number(value).is_none().then(|| {
                format!(
                    "{value:?} is not a whole number from {} to {} and is ignored",
                    range.start(),
                    range.end()
                )
            }),
            Self::Ratio => Self::ratio(value).is_none().then(|| {
                format!(
                    "{value:?} is not a number from 0 to 1 and is ignored: all are traced; one in ten is 0.1"
                )
            }),
            Self::Endpoint => unusable(value),
            Self::Headers => warn_ignored("header", headers(value).filter_map(Result::err)),
            Self::Attributes => warn_ignored("attribute", pairs::read(value).filter_map(Result::err)),
            Self::Text => None,
        }
    }

    fn flag(value: &str) -> Option<bool> {
        value.to_ascii_lowercase().parse().ok()
    }

    /// The keyword in the table that a value matches.
    pub(super) fn word(&self, value: &str) -> Option<&'static str> {
        let Self::Word(words) = self else { return None };
        words.iter().find(|word| word.eq_ignore_ascii_case(value)).copied()
    }

    pub(super) fn number(&self, value: &str) -> Option<u64> {
        let Self::Number(range) = self else { return None };
        value.parse().ok().filter(|number| range.contains(number))
    }

    pub(super) fn ratio(value: &str) -> Option<f64> {
        value.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio))
    }
}

pub(super) fn split(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

/// The headers, or the number of an entry that is none: what it holds may be secret. They
/// are read as the SDK does, which sends them in any case.
pub(super) fn headers(value: &str) -> impl Iterator<Item = Result<(HeaderName, HeaderValue), usize>> {
    split(value).enumerate().map(|(index, entry)| header(entry).ok_or(index + 1))
}

fn header(entry: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = entry.split_once('=')?;
    let value = pairs::decode(value.trim()).unwrap_or_else(|| value.trim().to_owned());
    let mut value: HeaderValue = value.parse().ok()?;
    value.set_sensitive(true);
    Some((name.trim().parse().ok()?, value)).filter(|(_, value)| !value.is_empty())
}

fn warn_ignored(what: &str, entries: impl Iterator<Item = usize>) -> Option<String> {
    let entries: Vec<_> = entries.map(|it| it.to_string()).collect();
    let numbers = entries.join(", ");
    (!entries.is_empty()).then(|| {
        format!(
            "holds entries that are no {what} and are ignored: number {numbers}; write {what}s as key=value with values \
             in percent-encoding, separated by commas"
        )
    })
}

/// Why nothing can be sent to an address. A value that is not a URL at all is refused when the exporter is made.
fn unusable(value: &str) -> Option<String> {
    let uri: Uri = value.parse().ok()?;
    match uri.scheme_str() {
        Some("http" | "https") | None => None,
        Some(scheme) => {
            Some(format!("has the scheme {scheme:?}, to which nothing can be sent; use http:// or https://"))
        }
    }
}

/// `a, b or c`.
fn either(words: &[&str]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        words => words.concat(),
    }
}
