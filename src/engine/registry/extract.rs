//! The extraction of a parameter from a user's message: `parameters.<field>.extract` of a manifest.
//!
//! For planners without a model. It is not part of the contract that callers see. Not here: the extraction itself,
//! which is the planner's.

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value, json};

use super::{
    keys::{keys, text, texts},
    problem::{Report, join},
    words::ExtractKind,
};

keys! {
    /// How one parameter is read from a message.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Extract {
        /// What is looked for.
        "kind" () pub kind: ExtractKind = ExtractKind::form(),
        /// Of which kind of thing the names are, such as `market`.
        "of" (default) pub of: Option<String> = text(),
        /// What stands between several names in one text.
        "join" (default) pub join: Option<String> = text(),
        /// Words one of which must stand near what is read. One that is listed behind a `…` must stand behind it.
        "after" (default) pub after: Vec<String> = texts(),
        /// What people say for a value, by value.
        "words" (default, deserialize_with = "words") pub words: Vec<(String, Vec<String>)> =
            json!({"type": "object", "additionalProperties": texts()}),
    }
}

impl Extract {
    /// The JSON Schema of its two forms: the kind alone, or an object.
    pub(super) fn form() -> Value {
        json!({"anyOf": [ExtractKind::form(), Self::schema()]})
    }

    /// Reads a value of either form.
    pub(super) fn read(value: Value) -> Option<Self> {
        let object = if value.is_string() { json!({"kind": value}) } else { value };
        serde_json::from_value(object).ok()
    }

    /// Reports if the kind or its words do not fit the schema of the parameter.
    pub(super) fn check(&self, schema: &Value, pointer: &str, report: &mut Report) {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        if !self.kind.fits(kind) {
            let word = self.kind.into_str();
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

    pub(super) fn refuse_incomplete(&self, pointer: &str, report: &mut Report) {
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
    /// Whether an extracted value can have a type of JSON Schema.
    fn fits(self, kind: &str) -> bool {
        match self {
            Self::Days | Self::Count | Self::Quarters => matches!(kind, "integer" | "number"),
            Self::Flag => kind == "boolean",
            Self::Symbols => matches!(kind, "array" | "string"),
            _ => kind == "string",
        }
    }
}

/// Deserialises an object as pairs, which keeps their order.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Vec<String>)>, D::Error> {
    let members = Map::deserialize(deserializer)?.into_iter();
    members
        .map(|(value, phrases)| Ok((value, serde_json::from_value(phrases).map_err(D::Error::custom)?)))
        .collect()
}
