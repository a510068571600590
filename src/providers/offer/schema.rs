//! A JSON Schema of an offer, in the form that providers of models take: local references inlined, no recursion, a
//! choice in place of a list of types, no union at the root.

mod adapt;
mod inline;
mod keywords;
mod old_drafts;
mod pattern;
mod types;
mod weight;

use serde_json::{Map, Value, json};

use self::inline::inline;
pub(super) use self::weight::{memory_weight, weight};
use super::{Budget, Report};
use crate::outcome::OPTIONS;
use toolwire_contract::json as contract;
use toolwire_schema::Schema;

/// The parts of a schema once references are inlined. A few definitions that refer to each other would
/// grow without a bound.
const MAX_NODES: usize = 20_000;
/// Those of a result: every one of its values may be looked at by many of them.
const MAX_NODES_OF_OUTPUT: usize = 4_000;
/// What makes a root something else than one object.
const UNIONS: [&str; 6] = ["allOf", "anyOf", "else", "if", "not", "oneOf"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Input,
    Output,
}

impl Direction {
    const fn pointer(self) -> &'static str {
        match self {
            Self::Input => "/input_schema_json",
            Self::Output => "/output_schema_json",
        }
    }

    const fn max_nodes(self) -> usize {
        match self {
            Self::Input => MAX_NODES,
            Self::Output => MAX_NODES_OF_OUTPUT,
        }
    }

    /// The schema of an offer that states none: no arguments, and any object as the result.
    fn default(self) -> Value {
        match self {
            Self::Input => json!({"type": "object", "properties": {}, "additionalProperties": false}),
            Self::Output => json!({"type": "object"}),
        }
    }
}

/// Reads a schema. `None` if something is wrong with it, which is reported.
pub(super) fn read(
    text: &str,
    direction: Direction,
    budget: &mut Budget,
    report: &mut Report,
) -> Option<Value> {
    if text.trim().is_empty() {
        return Some(direction.default());
    }
    let (before, pointer) = (report.count, direction.pointer());
    let document = parse(text, pointer, report)?;
    let mut schema = inline(&document, direction, budget, report)?;
    match schema.as_object_mut() {
        Some(root) => {
            if report.adapts {
                adapt::adapt_root(root, direction, report);
            }
            refuse_other_root(root, direction, report);
            if direction == Direction::Input {
                close(root, pointer, report);
            }
        }
        // A reference to `true` would allow everything, unchecked.
        None if report.count > before => {}
        None => report.refuse(pointer, "root-not-object", "the root must be a schema of the type `object`"),
    }
    if report.count > before { None } else { compile(schema, pointer, report) }
}

fn parse(text: &str, pointer: &str, report: &mut Report) -> Option<Value> {
    match contract::parse(text) {
        Ok(document @ Value::Object(_)) => return Some(document),
        Ok(_) => report.refuse(pointer, "wrong-type", "a schema is a JSON object"),
        Err(error) => report.refuse(pointer, "bad-json", format!("not JSON: {error}")),
    }
    None
}

/// The schema, if it compiles, and of a server without the patterns that do not.
fn compile(mut schema: Value, pointer: &str, report: &mut Report) -> Option<Value> {
    if report.adapts && Schema::compile(&schema, OPTIONS).is_err() {
        adapt::drop_patterns(&mut schema, pointer, report);
    }
    match Schema::compile(&schema, OPTIONS) {
        Ok(_) => Some(schema),
        Err(error) => {
            let text = "a pattern has no look-around, and at most 512 KiB once it is compiled";
            let next = if error.ends_with("\"regex\"") { format!("; {text}") } else { String::new() };
            report.refuse(pointer, "bad-schema", format!("the schema does not compile: {error}{next}"));
            None
        }
    }
}

fn refuse_other_root(root: &Map<String, Value>, direction: Direction, report: &mut Report) {
    let pointer = direction.pointer();
    for union in UNIONS.into_iter().filter(|keyword| root.contains_key(*keyword)) {
        let text = format!("`{union}` at the root is refused by providers of models; use one object");
        report.refuse(format!("{pointer}/{union}"), "root-union", text);
    }
    // A union was reported as such.
    let is_union = UNIONS.iter().any(|keyword| root.contains_key(*keyword));
    let is_other = root.get("type").map_or(!is_union, |it| it.as_str().is_some_and(|it| it != "object"));
    if is_other {
        report.refuse(format!("{pointer}/type"), "root-not-object", "the root must have the type `object`");
    }
}

/// Arguments are closed objects.
fn close(root: &mut Map<String, Value>, pointer: &str, report: &mut Report) {
    match root.get("additionalProperties") {
        None => drop(root.insert("additionalProperties".to_owned(), false.into())),
        Some(Value::Bool(false)) => {}
        Some(_) => {
            let text = "arguments are a closed object: set `additionalProperties` to false";
            report.refuse(format!("{pointer}/additionalProperties"), "open-object", text);
        }
    }
    // What it matches is allowed whatever `additionalProperties` says, also the name of a bound argument.
    if root.contains_key("patternProperties") {
        let text = "arguments are a closed object: name each one under `properties`";
        report.refuse(format!("{pointer}/patternProperties"), "open-object", text);
    }
    root.entry("properties").or_insert_with(|| json!({}));
}
