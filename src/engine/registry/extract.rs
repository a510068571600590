//! How a parameter is read from what a user says: `parameters.<field>.extract` of a manifest.
//!
//! For planners that use no model. It is not part of the contract that callers see. Not here: the reading itself, which
//! is the planner's.

use serde_json::{Map, Value};

use super::{
    problem::{Report, join},
    words::ExtractKind,
};
use crate::registry::reader::{Readable, Reader};

/// How one parameter is read from a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract {
    /// What is looked for.
    pub kind: ExtractKind,
    /// Of which kind of thing the names are, as whoever knows them calls it, such as `market`.
    pub of: Option<String>,
    /// What stands between several names in one text.
    pub join: Option<String>,
    /// Words one of which must stand before what is read. Empty: none has to.
    pub after: Vec<String>,
    /// What people say for a value, by value.
    pub words: Vec<(String, Vec<String>)>,
}

impl Extract {
    /// Reads the value of the key: the kind alone, or an object.
    pub(super) fn read(value: &Value, pointer: &str, report: &mut Report) -> Option<Self> {
        let Value::Object(object) = value else {
            let kind = ExtractKind::read(value);
            if kind.is_none() {
                report.add(pointer, "wrong-type", format!("must be an object, or {}", ExtractKind::form()));
            }
            return kind.map(Self::of_kind);
        };
        let mut reader = Reader::new(object, pointer.to_owned(), report);
        let kind = reader.required("kind");
        let (of, join) = (reader.optional("of"), reader.optional("join"));
        let after = reader.list("after");
        let words = words(&mut reader);
        reader.end();
        let extract = Self { kind: kind?, of, join, after, words };
        extract.refuse_incomplete(pointer, report);
        Some(extract)
    }

    fn of_kind(kind: ExtractKind) -> Self {
        Self { kind, of: None, join: None, after: Vec::new(), words: Vec::new() }
    }

    /// What the value of the parameter itself must be, given its schema.
    pub(super) fn check(&self, schema: &Value, pointer: &str, report: &mut Report) {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        if !self.kind.fits(kind) {
            let word = self.kind.word();
            let text = format!("`{word}` cannot be read into a parameter of type {kind}");
            return report.add(pointer, "extract-type", text);
        }
        let words = schema.get("enum").and_then(Value::as_array);
        for (value, _) in self.words.iter().filter(|_| self.kind == ExtractKind::Words) {
            if words.is_some_and(|words| !words.iter().any(|word| word == value.as_str())) {
                let text = format!("the parameter is never `{value}`; its `enum` has no such word");
                report.add(join(&join(pointer, "words"), value), "extract-word", text);
            }
        }
    }

    fn refuse_incomplete(&self, pointer: &str, report: &mut Report) {
        if self.kind == ExtractKind::Flag && self.words.is_empty() {
            let text =
                "a flag is set only where it is asked for: say by which words, `\"words\": {\"true\": […]}`";
            report.add(join(pointer, "words"), "extract-word", text);
        }
        let mut said: Vec<String> = Vec::new();
        for (value, phrases) in &self.words {
            for phrase in phrases.iter().map(|it| it.to_lowercase()) {
                if said.contains(&phrase) {
                    let text = format!("`{phrase}` stands twice; keep it for one value");
                    report.add(join(&join(pointer, "words"), value), "duplicate", text);
                }
                said.push(phrase);
            }
        }
    }
}

impl ExtractKind {
    /// Whether what is read can be a value of a type of JSON Schema.
    fn fits(self, kind: &str) -> bool {
        match self {
            Self::Days | Self::Count | Self::Quarters => matches!(kind, "integer" | "number"),
            Self::Flag => kind == "boolean",
            Self::Symbols => matches!(kind, "array" | "string"),
            _ => kind == "string",
        }
    }
}

fn words(reader: &mut Reader<'_>) -> Vec<(String, Vec<String>)> {
    let pointer = reader.at("words");
    let Some(object) = reader.optional::<Map<String, Value>>("words") else { return Vec::new() };
    let mut phrases = |(value, phrases): (&String, &Value)| {
        let read = |phrase: &Value| String::read(phrase);
        let all: Option<Vec<_>> = phrases.as_array().and_then(|list| list.iter().map(read).collect());
        if all.is_none() {
            reader.report.add(join(&pointer, value), "wrong-type", "must be a list of phrases");
        }
        (value.clone(), all.unwrap_or_default())
    };
    object.iter().map(&mut phrases).collect()
}
