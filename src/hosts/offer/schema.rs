//! A JSON Schema of an offer, in the form that providers of models take: local references inlined, no recursion, no
//! lists of types, no union at the root.

mod keywords;

use serde_json::{Map, Value, json};

use self::keywords::{Holds, holds};
use super::Report;
use crate::outcome::compile;
use toolwire_contract::json as contract;

/// The parts of a schema once references are inlined. A few definitions that refer to each other would
/// grow without a bound.
const MAX_NODES: usize = 20_000;
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

    /// The schema of nothing stated: no arguments, and any result.
    fn default(self) -> Value {
        match self {
            Self::Input => json!({"type": "object", "properties": {}, "additionalProperties": false}),
            Self::Output => json!({"type": "object"}),
        }
    }
}

/// Reads a schema. `None` if something is wrong with it, which is reported.
pub(super) fn read(text: &str, direction: Direction, report: &mut Report) -> Option<Value> {
    let before = report.problems.len();
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
        nodes: 0,
        is_too_large: false,
    };
    let mut schema = inliner.schema(&document, pointer, 0);
    if inliner.nodes > MAX_NODES {
        inliner.refuse_size(pointer);
    }
    if let Some(root) = schema.as_object_mut() {
        refuse_other_root(root, direction, report);
        if direction == Direction::Input {
            close(root, pointer, report);
        }
    }
    if report.problems.len() > before {
        return None;
    }
    match compile(&schema) {
        Ok(_) => Some(schema),
        Err(error) => {
            report.refuse(pointer, "bad-schema", format!("the schema does not compile: {error}"));
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
    root.entry("properties").or_insert_with(|| json!({}));
}

struct Inliner<'a> {
    document: &'a Value,
    report: &'a mut Report,
    /// The references that are being inlined, from the outside in.
    active: Vec<String>,
    nodes: usize,
    is_too_large: bool,
}

impl Inliner<'_> {
    fn schema(&mut self, schema: &Value, pointer: &str, level: usize) -> Value {
        self.nodes += 1;
        if level > MAX_LEVELS || self.nodes > MAX_NODES {
            self.refuse_size(pointer);
            return Value::Null;
        }
        let Value::Object(object) = schema else { return schema.clone() };
        match object.get("$ref") {
            Some(reference) => self.reference(reference, object, pointer, level),
            None => Value::Object(self.object(object, pointer, level)),
        }
    }

    /// Once: everything below breaks the bound too.
    fn refuse_size(&mut self, pointer: &str) {
        if !std::mem::replace(&mut self.is_too_large, true) {
            let text = format!("a schema has at most {MAX_LEVELS} levels and {MAX_NODES} parts");
            self.report.refuse(pointer, "schema-too-large", text);
        }
    }

    fn object(&mut self, object: &Map<String, Value>, pointer: &str, level: usize) -> Map<String, Value> {
        let mut inlined = Map::new();
        for (keyword, value) in object {
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
                    inlined.insert(keyword.clone(), value.clone());
                }
                (_, Holds::Value) => {
                    self.nodes += weight(value);
                    inlined.insert(keyword.clone(), value.clone());
                }
                (_, Holds::Schema) => {
                    let schema = self.schema(value, &place, level + 1);
                    inlined.insert(keyword.clone(), schema);
                }
                (_, Holds::Schemas) => {
                    let schemas = self.schemas(value, &place, level + 1);
                    inlined.insert(keyword.clone(), schemas);
                }
            }
        }
        inlined
    }

    /// The schemas of a list, or of the members of an object.
    fn schemas(&mut self, value: &Value, pointer: &str, level: usize) -> Value {
        match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(at, it)| self.schema(it, &join(pointer, &at.to_string()), level))
                .collect(),
            Value::Object(members) => {
                let member = |(name, it): (&String, &Value)| {
                    (name.clone(), self.schema(it, &join(pointer, name), level))
                };
                Value::Object(members.iter().map(member).collect())
            }
            other => other.clone(),
        }
    }

    fn reference(
        &mut self,
        reference: &Value,
        object: &Map<String, Value>,
        pointer: &str,
        level: usize,
    ) -> Value {
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
        }
        self.active.push(target.to_owned());
        let mut inlined = self.schema(schema, pointer, level + 1);
        self.active.pop();
        if let Some(inlined) = inlined.as_object_mut() {
            for (keyword, value) in object.iter().filter(|(it, _)| ANNOTATIONS.contains(&it.as_str())) {
                inlined.insert(keyword.clone(), value.clone());
            }
        }
        inlined
    }
}

/// How much a value counts that is copied as it is, about one for each 64 bytes: a long list in a definition is there
/// as often as the definition is referred to.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(key, it)| key.len() / 64 + weight(it)).sum::<usize>()
        }
        _ => 1,
    }
}

fn is_definitions(keyword: &str) -> bool {
    matches!(keyword, "$defs" | "definitions" | "$schema")
}

fn join(pointer: &str, segment: &str) -> String {
    format!("{pointer}/{}", segment.replace('~', "~0").replace('/', "~1"))
}

/// The pointer of a fragment, in which a URI encodes some characters.
fn decode_fragment(fragment: &str) -> String {
    fragment.replace("%24", "$").replace("%20", " ").replace("%22", "\"").replace("%25", "%")
}
