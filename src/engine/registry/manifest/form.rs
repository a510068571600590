//! Checks the form of a manifest against its schema, and explains each error: where, what is expected, what was found.

use std::{iter::successors, sync::LazyLock};

use serde_json::Value;

use super::schema::manifest_schema;
use crate::registry::{
    field_declaration::FIELD_NAME,
    keys::{SEMANTIC_VERSION, TOOL_NAME},
    problem::{Report, join, quoted},
};
use toolwire_contract::near::did_you_mean;
use toolwire_schema::{Breach, Kind, Misfit, Options, Schema, Work};

static SCHEMA: LazyLock<Value> = LazyLock::new(manifest_schema);
static COMPILED: LazyLock<Schema> = LazyLock::new(|| {
    let options = Options { explains_branches: true, ..Options::default() };
    Schema::compile(&SCHEMA, options).expect("what is published is a schema")
});

/// Maximum number of problems that are looked for in one manifest, those of branches counted.
const MOST_PROBLEMS: usize = 1_000;
/// The same of the keys of one object.
const MOST_UNKNOWN: usize = 100;

/// The prefix of messages in the schema that describe a valid value.
const MUST_BE: &str = "must be ";

pub(super) fn check(manifest: &Value, report: &mut Report) {
    match COMPILED.check(manifest, MOST_PROBLEMS, Work::all()) {
        Ok(()) => {}
        Err(Misfit::Broken(breaches)) => breaches.iter().for_each(|breach| explain(breach, report)),
        Err(misfit @ Misfit::TooMuchWork) => report.add("", "too-large", misfit.to_string()),
    }
}

fn explain(breach: Breach<'_>, report: &mut Report) {
    let pointer = breach.pointer();
    let schema = schemas(breach).next().unwrap_or(&Value::Null);
    match breach.kind() {
        Kind::AdditionalProperties { unexpected } => {
            for key in unexpected.iter().take(MOST_UNKNOWN) {
                let known = schema["properties"].as_object().into_iter().flat_map(|it| it.keys());
                let hint = did_you_mean(key, known.map(String::as_str));
                report.add(join(pointer, key), "unknown-key", format!("unknown key `{key}`{hint}"));
            }
        }
        Kind::Required { property: Value::String(key) } => {
            let form = schemas(breach).find_map(|it| it["properties"].get(key)).map(in_words);
            let form = form.map(|form| format!("; it must be {form}")).unwrap_or_default();
            report.add(join(pointer, key), "missing-key", format!("`{key}` is missing{form}"));
        }
        Kind::PropertyNames { .. } => {
            let name = breach.name().unwrap_or_default();
            report.add(join(pointer, name), "bad-name", format!("`{name}` does not match {FIELD_NAME}"));
        }
        // In a choice between a word and an object, the object is last.
        Kind::AnyOf { .. } if breach.found().is_object() && schema["errorMessage"].is_null() => {
            breach.of_last_branch().for_each(|breach| explain(breach, report));
        }
        kind => report.add(pointer, rule(kind, pointer), expected(pointer, schema, breach.found())),
    }
}

/// The schema that the value violates and the enclosing schemas, innermost first.
fn schemas(breach: Breach<'_>) -> impl Iterator<Item = &'static Value> + use<> {
    let outer = |path: &str| path.rsplit_once('/').map(|(outer, _)| outer.to_owned());
    let paths = successors(outer(breach.schema_pointer()), move |path| outer(path));
    paths.filter_map(|path| SCHEMA.pointer(&path))
}

fn rule(kind: &Kind, pointer: &str) -> &'static str {
    match kind {
        Kind::Pattern { pattern } if pattern == TOOL_NAME => "bad-name",
        Kind::Pattern { pattern } if pattern == SEMANTIC_VERSION => "bad-version",
        Kind::MinProperties { .. } => "empty-condition",
        Kind::MinItems { .. } if pointer.starts_with("/approve_unless") => "empty-condition",
        Kind::MinItems { .. } | Kind::MaxItems { .. } => "keyword-count",
        Kind::MaxLength { .. } => "keyword-length",
        Kind::Not { .. } => "alias-and-name",
        _ => "wrong-type",
    }
}

fn expected(pointer: &str, schema: &Value, found: &Value) -> String {
    if let Some(message) = schema["errorMessage"].as_str().filter(|it| !it.starts_with(MUST_BE)) {
        return message.to_owned();
    }
    let (outer, key) = pointer.rsplit_once('/').unwrap_or_default();
    let subject = match outer.rsplit_once('/') {
        Some((_, list)) if key.bytes().all(|byte| byte.is_ascii_digit()) => format!("each of `{list}`"),
        _ => format!("`{key}`"),
    };
    let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let hint = did_you_mean(found.as_str().unwrap_or_default(), words);
    format!("{subject} {MUST_BE}{}, but is {}{hint}", in_words(schema), quoted(found))
}

/// Describes a valid value.
fn in_words(schema: &Value) -> String {
    if let Some(words) = schema["errorMessage"].as_str().and_then(|it| it.strip_prefix(MUST_BE)) {
        return words.to_owned();
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().map(in_words).collect::<Vec<_>>().join(", or ");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", words.join(", "));
    }
    let words = match schema["type"].as_str() {
        Some("boolean") => "true or false",
        Some("array") => "a list",
        Some("object") => "an object",
        Some("number") => "a number",
        Some("integer") => return format!("a whole number, at least {}", schema["minimum"]),
        _ => "a text",
    };
    words.to_owned()
}
