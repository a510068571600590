//! Reads one JSON object of a manifest key by key, and reports every key that is missing, mistyped or unknown.
//!
//! serde would stop at the first; an author wants all of them, each with its pointer.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::registry::problem::{Report, join};
use toolwire_base::duration;
use toolwire_contract::near::did_you_mean;

/// A JSON object whose keys are taken one by one.
pub(in crate::registry) struct Reader<'a> {
    object: &'a Map<String, Value>,
    pointer: String,
    known: Vec<&'static str>,
    pub(in crate::registry) report: &'a mut Report,
}

/// What a key's value can be read as.
pub(in crate::registry) trait Readable: Sized {
    /// What was expected, to end `must be …`.
    fn form() -> String;
    /// The value, if it has that form.
    fn read(value: &Value) -> Option<Self>;
}

impl<'a> Reader<'a> {
    pub(in crate::registry) fn new(
        object: &'a Map<String, Value>,
        pointer: String,
        report: &'a mut Report,
    ) -> Self {
        Self { object, pointer, known: Vec::new(), report }
    }

    /// The value under a key, if there is one; the key is known from now on.
    pub(in crate::registry) fn value(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.object.get(key)
    }

    /// The value under a key that may be missing.
    pub(in crate::registry) fn optional<T: Readable>(&mut self, key: &'static str) -> Option<T> {
        let value = self.value(key)?;
        let read = T::read(value);
        if read.is_none() {
            self.refuse(key, "wrong-type", format!("`{key}` must be {}", T::form()));
        }
        read
    }

    /// The value under a key that must be there.
    pub(in crate::registry) fn required<T: Readable>(&mut self, key: &'static str) -> Option<T> {
        if !self.object.contains_key(key) {
            self.known.push(key);
            self.refuse(key, "missing-key", format!("`{key}` is missing; it must be {}", T::form()));
            return None;
        }
        self.optional(key)
    }

    /// The members of a list that may be missing, each read by itself.
    pub(in crate::registry) fn list<T: Readable>(&mut self, key: &'static str) -> Vec<T> {
        let Some(Items(items)) = self.optional(key) else { return Vec::new() };
        let pointer = join(&self.pointer, key);
        let mut read = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match T::read(item) {
                Some(item) => read.push(item),
                None => self.report.add(
                    join(&pointer, index),
                    "wrong-type",
                    format!("each of `{key}` must be {}", T::form()),
                ),
            }
        }
        read
    }

    /// A reader of the object under a key that may be missing.
    pub(in crate::registry) fn object(&mut self, key: &'static str) -> Option<Reader<'_>> {
        let value = self.value(key)?;
        let Some(object) = value.as_object() else {
            self.refuse(key, "wrong-type", format!("`{key}` must be an object"));
            return None;
        };
        Some(Reader::new(object, self.at(key), self.report))
    }

    /// The pointer to a key of this object.
    pub(in crate::registry) fn at(&self, key: &str) -> String {
        join(&self.pointer, key)
    }

    /// Reports a problem at a key of this object.
    pub(in crate::registry) fn refuse(
        &mut self,
        key: &str,
        rule: &'static str,
        description: impl Into<String>,
    ) {
        self.report.add(join(&self.pointer, key), rule, description);
    }

    /// Reports the keys that were not asked for.
    pub(in crate::registry) fn end(self) {
        for key in self.object.keys().filter(|key| !self.known.contains(&key.as_str())) {
            let hint = did_you_mean(key, self.known.iter().copied());
            self.report.add(join(&self.pointer, key), "unknown-key", format!("unknown key `{key}`{hint}"));
        }
    }
}

struct Items(Vec<Value>);

/// A whole number of milliseconds, at least 1.
pub(in crate::registry) struct Milliseconds(pub(in crate::registry) Duration);

/// A length of time such as `15m`, or a whole number of seconds; not nothing.
pub(in crate::registry) struct Seconds(pub(in crate::registry) Duration);

impl Readable for Items {
    fn form() -> String {
        "a list".to_owned()
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_array().cloned().map(Self)
    }
}

impl Readable for String {
    fn form() -> String {
        "a text that is not blank".to_owned()
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }
}

impl Readable for bool {
    fn form() -> String {
        "true or false".to_owned()
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl Readable for Map<String, Value> {
    fn form() -> String {
        "an object".to_owned()
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_object().cloned()
    }
}

impl Readable for Milliseconds {
    fn form() -> String {
        "a whole number of milliseconds, at least 1".to_owned()
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_u64().filter(|ms| *ms > 0).map(|ms| Self(Duration::from_millis(ms)))
    }
}

impl Readable for Seconds {
    fn form() -> String {
        format!("a number of seconds, at least 1, or {}; not 0", duration::EXPECTED)
    }

    fn read(value: &Value) -> Option<Self> {
        let length = match value {
            Value::String(text) => duration::parse(text).ok()?,
            other => Duration::from_secs(other.as_u64()?),
        };
        (!length.is_zero()).then_some(Self(length))
    }
}
