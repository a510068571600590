//! A JSON Schema of an offer, in the form that providers of models take: local references inlined, no recursion, no
//! lists of types, no union at the root.

mod keywords;

use serde_json::{Map, Value, json};

use self::keywords::{Holds, holds};
use super::{Budget, Report};
use crate::{
    bounds::{MAX_PARTS, MAX_PROBLEM_TEXT},
    outcome::{compile, cut},
};
use toolwire_contract::json as contract;

/// The parts of a schema once references are inlined. A few definitions that refer to each other would
/// grow without a bound.
const MAX_NODES: usize = 20_000;
/// Those of a result: every one of its values may be looked at by many of them.
const MAX_NODES_OF_OUTPUT: usize = 4_000;
/// The parts that a pattern counts as: compiled, it takes up to 256 KiB.
const PATTERN: usize = 256;
/// The deepest nesting of subschemas.
const MAX_LEVELS: usize = 32;
/// The keywords that may stand beside `$ref`: they constrain nothing.
const ANNOTATIONS: [&str; 7] =
    ["$comment", "default", "deprecated", "description", "examples", "readOnly", "title"];
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

    /// The schema of nothing stated: no arguments, and any result.
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
    let before = report.count;
    let pointer = direction.pointer();
    if text.trim().is_empty() {
        return Some(direction.default());
    }
    let document = match contract::parse(text) {
        Ok(Value::Object(document)) => document,
        Ok(_) => {
            report.refuse(pointer, "wrong-type", "a schema is a JSON object");
            return None;
        }
        Err(error) => {
            report.refuse(pointer, "bad-json", format!("not JSON: {error}"));
            return None;
        }
    };
    let document = Value::Object(document);
    let mut inliner = Inliner {
        document: &document,
        report: &mut *report,
        active: Vec::new(),
        left: direction.max_nodes().min(budget.0),
        max_nodes: direction.max_nodes(),
        is_too_large: false,
    };
    let most = inliner.left;
    let mut schema = inliner.schema(&document, pointer, 0);
    let (parts, is_too_large) = (most - inliner.left, inliner.is_too_large);
    budget.spend(parts);
    if is_too_large {
        return None;
    }
    match schema.as_object_mut() {
        Some(root) => {
            refuse_other_root(root, direction, report);
            if direction == Direction::Input {
                close(root, pointer, report);
            }
        }
        // A reference to `true` would allow everything, unchecked.
        None if report.count > before => {}
        None => report.refuse(pointer, "root-not-object", "the root must be a schema of the type `object`"),
    }
    if report.count > before {
        return None;
    }
    match compile(&schema) {
        Ok(_) => Some(schema),
        Err(error) => {
            let text = "a pattern has no look-around, and at most 256 KiB once it is compiled";
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
    // A union and a list of types were reported as such.
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

struct Inliner<'a> {
    document: &'a Value,
    report: &'a mut Report,
    /// The references that are being inlined, from the outside in.
    active: Vec<String>,
    /// The parts that may still come.
    left: usize,
    max_nodes: usize,
    is_too_large: bool,
}

impl Inliner<'_> {
    fn schema(&mut self, schema: &Value, pointer: &str, level: usize) -> Value {
        if level > MAX_LEVELS {
            self.refuse_size(pointer);
        }
        if !self.spend(1, pointer) {
            return Value::Null;
        }
        let Value::Object(object) = schema else { return self.copy(schema, pointer) };
        match object.get("$ref") {
            Some(reference) => self.reference(reference, object, pointer, level),
            None => Value::Object(self.object(object, pointer, level)),
        }
    }

    /// Counts parts, before they are made. `false` once they are too many, and then for all that follow.
    fn spend(&mut self, parts: usize, pointer: &str) -> bool {
        if parts > self.left {
            self.refuse_size(pointer);
        }
        self.left = self.left.saturating_sub(parts);
        !self.is_too_large
    }

    /// A value that is taken as it is.
    fn copy(&mut self, value: &Value, pointer: &str) -> Value {
        if self.spend(weight(value), pointer) { value.clone() } else { Value::Null }
    }

    /// Once: everything below breaks the bound too.
    fn refuse_size(&mut self, pointer: &str) {
        if !std::mem::replace(&mut self.is_too_large, true) {
            let most = self.max_nodes;
            let text = format!(
                "a schema has at most {MAX_LEVELS} levels and {most} parts, and a catalogue {MAX_PARTS}"
            );
            self.report.refuse(pointer, "schema-too-large", text);
        }
    }

    fn object(&mut self, object: &Map<String, Value>, pointer: &str, level: usize) -> Map<String, Value> {
        let mut inlined = Map::new();
        for (keyword, value) in object {
            let pattern = if keyword == "pattern" { PATTERN } else { 0 };
            if !self.spend(keyword.len() / 64 + pattern, pointer) {
                break;
            }
            let place = join(pointer, keyword);
            match (keyword.as_str(), holds(keyword)) {
                ("$defs" | "definitions" | "$schema", _) => {}
                ("$id" | "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveRef", _) => {
                    let text = format!("`{keyword}` is not taken; refer to a definition by `#/$defs/…`");
                    self.report.refuse(&place, "not-supported", text);
                }
                ("type", _) if value.is_array() => {
                    let text = "a list of types is refused by providers of models; use one type, or `anyOf`";
                    self.report.refuse(&place, "type-list", text);
                    // The root is told apart by it.
                    inlined.insert(keyword.clone(), json!([]));
                }
                (_, Holds::Value) => {
                    let value = self.copy(value, &place);
                    inlined.insert(keyword.clone(), value);
                }
                (_, Holds::Schema) => {
                    let schema = self.schema(value, &place, level + 1);
                    inlined.insert(keyword.clone(), schema);
                }
                (_, Holds::Schemas) => {
                    let names = if keyword == "patternProperties" { PATTERN } else { 0 };
                    let schemas = self.schemas(value, names, &place, level + 1);
                    inlined.insert(keyword.clone(), schemas);
                }
            }
        }
        inlined
    }

    /// The schemas of a list, or of the members of an object, of which each name counts in addition.
    fn schemas(&mut self, value: &Value, name_counts: usize, pointer: &str, level: usize) -> Value {
        match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(at, it)| self.schema(it, &join(pointer, &at.to_string()), level))
                .collect(),
            Value::Object(members) => {
                let mut inlined = Map::new();
                for (name, it) in members {
                    if !self.spend(name.len() / 64 + name_counts, pointer) {
                        break;
                    }
                    inlined.insert(name.clone(), self.schema(it, &join(pointer, name), level));
                }
                inlined.into()
            }
            other => self.copy(other, pointer),
        }
    }

    fn reference(
        &mut self,
        reference: &Value,
        object: &Map<String, Value>,
        pointer: &str,
        level: usize,
    ) -> Value {
        if !self.spend(weight(reference), pointer) {
            return Value::Null;
        }
        let place = join(pointer, "$ref");
        let target = reference
            .as_str()
            .and_then(|it| it.strip_prefix('#'))
            .filter(|it| it.is_empty() || it.starts_with('/'));
        let Some(target) = target else {
            self.report.refuse(
                place,
                "remote-ref",
                "only a reference to a place of the same schema is taken, `#/…`",
            );
            return Value::Null;
        };
        if self.active.iter().any(|it| it == target) {
            let text = format!("`#{target}` holds itself; providers of models refuse recursion");
            self.report.refuse(place, "recursive-schema", text);
            return Value::Null;
        }
        let document = self.document;
        let Some(schema) = document.pointer(&decode_fragment(target)) else {
            self.report.refuse(place, "unknown-ref", format!("there is nothing at `#{target}`"));
            return Value::Null;
        };
        if let Some(other) = object
            .keys()
            .find(|it| *it != "$ref" && !ANNOTATIONS.contains(&it.as_str()) && !is_definitions(it))
        {
            let text = format!("`{other}` beside `$ref` is not taken; put it into the definition");
            self.report.refuse(join(pointer, other), "ref-siblings", text);
            return Value::Null;
        }
        self.active.push(target.to_owned());
        let mut inlined = self.schema(schema, pointer, level + 1);
        self.active.pop();
        if let Some(inlined) = inlined.as_object_mut() {
            for (keyword, value) in object.iter().filter(|(it, _)| ANNOTATIONS.contains(&it.as_str())) {
                let value = self.copy(value, pointer);
                inlined.insert(keyword.clone(), value);
            }
        }
        inlined
    }
}

/// How much a value counts that is copied as it is, about one for each 64 bytes: a long list in a definition is there
/// as often as the definition is referred to.
pub(super) fn weight(value: &Value) -> usize {
    let of_member = |(key, it): (&String, &Value)| {
        key.len() / 64 + weight(it) + if key == "pattern" { PATTERN } else { 0 }
    };
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 1 + members.iter().map(of_member).sum::<usize>(),
        _ => 1,
    }
}

fn is_definitions(keyword: &str) -> bool {
    matches!(keyword, "$defs" | "definitions" | "$schema")
}

/// A JSON pointer one level deeper, as far as a problem shows it.
fn join(pointer: &str, segment: &str) -> String {
    let segment = cut(segment, MAX_PROBLEM_TEXT).replace('~', "~0").replace('/', "~1");
    let mut joined = format!("{pointer}/{segment}");
    joined.truncate(joined.floor_char_boundary(MAX_PROBLEM_TEXT));
    joined
}

/// The pointer of a fragment, in which a URI encodes some characters.
fn decode_fragment(fragment: &str) -> String {
    fragment.replace("%24", "$").replace("%20", " ").replace("%22", "\"").replace("%25", "%")
}
