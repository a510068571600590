//! JSON from outside, read item by item: a bad text, number or type costs the field or the item that it stands in,
//! never the page.
//!
//! Every document takes three steps: [`repair`] makes valid JSON of what is nearly so, [`prune`] removes what does not
//! fit the type that is read, and [`faults`] counts both for the warnings of the call. A record decides what may be
//! lost: a field that is an `Option` or has a `default` is lost alone; any other takes its item with it. A page where
//! nothing fits is an error.
//!
//! Not here: JSON of callers and of our own files, in which every mistake is an error.

mod column;
mod faults;
mod flag;
mod from_text;
mod items;
mod prune;
mod repair;
mod unreadable;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use column::Column;
pub use faults::{Faults, collect};
pub use flag::Flag;
pub use from_text::from_text;
pub use items::{Items, keep_ok, values};
pub use unreadable::Unreadable;

/// A document, without what in it cannot be read. It is UTF-8 whatever a header says (RFC 8259), after a byte order
/// mark if it has one.
pub fn read<T: DeserializeOwned>(document: &[u8]) -> Result<T, Unreadable> {
    let document = document.strip_prefix(b"\xef\xbb\xbf").unwrap_or(document);
    prune::read(&mut parse(document)?)
}

/// What is valid is parsed as it is; only what is not pays for the repair.
fn parse(document: &[u8]) -> Result<Value, Unreadable> {
    let parsed = serde_json::from_slice(document).or_else(|_| {
        let (repaired, lost) = repair::repair(&String::from_utf8_lossy(document));
        let parsed = serde_json::from_str(&repaired)?;
        faults::note(|faults| {
            faults.texts += lost.texts;
            faults.values += lost.values;
        });
        Ok(parsed)
    });
    let mut value = parsed.map_err(|error: serde_json::Error| {
        let (kind, line, column) = (error.classify(), error.line(), error.column());
        Unreadable(format!("{kind:?} at line {line}, column {column}"))
    })?;
    make_whole(&mut value);
    Ok(value)
}

/// Writes whole numbers as such: JSON knows one kind of number, so that `5.0` is no other than `5`.
fn make_whole(value: &mut Value) {
    /// From here on not every whole number is a float.
    const MOST: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < MOST);
            if let Some(float) = float {
                #[allow(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
                let whole = float as i64;
                *value = whole.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_whole),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
