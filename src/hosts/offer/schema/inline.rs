//! Puts what references refer to in their place, within a bound.

use serde_json::{Map, Value, json};

use super::{
    Direction,
    keywords::{Holds, holds},
    pattern,
};
use crate::{
    bounds::{MAX_PARTS, MAX_PROBLEM_TEXT},
    offer::{Budget, Report},
    outcome::cut,
};

/// The parts of a schema that a pattern counts as, whatever its size: each may have a long text to match.
const PATTERN: usize = 256;
/// The deepest nesting of subschemas.
const MAX_LEVELS: usize = 32;
/// The keywords that may stand beside `$ref`: they constrain nothing.
const ANNOTATIONS: [&str; 7] =
    ["$comment", "default", "deprecated", "description", "examples", "readOnly", "title"];

/// The schema without references, at the expense of the budget. `None` if it is too large, which is reported.
pub(super) fn inline(
    document: &Value,
    direction: Direction,
    budget: &mut Budget,
    report: &mut Report,
) -> Option<Value> {
    let max_nodes = direction.max_nodes();
    let (active, left) = (Vec::new(), max_nodes);
    let mut inliner = Inliner { document, budget, report, active, left, max_nodes, is_too_large: false };
    let schema = inliner.schema(document, direction.pointer(), 0);
    (!inliner.is_too_large).then_some(schema)
}

struct Inliner<'a> {
    document: &'a Value,
    budget: &'a mut Budget,
    report: &'a mut Report,
    /// The references that are being inlined, from the outside in.
    active: Vec<String>,
    /// The parts that may still come, as far as the budget allows.
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
        self.spend_apart(parts, parts, pointer)
    }

    fn spend_pattern(&mut self, pattern: &str, pointer: &str) -> bool {
        self.spend_apart(PATTERN, pattern::parts(pattern), pointer)
    }

    fn spend_apart(&mut self, of_schema: usize, of_catalogue: usize, pointer: &str) -> bool {
        if of_schema > self.left || !self.budget.spend(of_catalogue) {
            self.refuse_size(pointer);
        }
        self.left = self.left.saturating_sub(of_schema);
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
            let pattern = value.as_str().filter(|_| keyword == "pattern");
            let is_enough = self.spend(keyword.len() / 64, pointer)
                && pattern.is_none_or(|pattern| self.spend_pattern(pattern, pointer));
            if !is_enough {
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
                    // Kept, so that a root is not reported to lack its type.
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
                    let schemas = self.schemas(value, keyword == "patternProperties", &place, level + 1);
                    inlined.insert(keyword.clone(), schemas);
                }
            }
        }
        inlined
    }

    /// The schemas of a list, or of the members of an object, whose names may be patterns.
    fn schemas(&mut self, value: &Value, has_patterns: bool, pointer: &str, level: usize) -> Value {
        match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(at, it)| self.schema(it, &join(pointer, &at.to_string()), level))
                .collect(),
            Value::Object(members) => {
                let mut inlined = Map::new();
                for (name, it) in members {
                    let is_enough = self.spend(name.len() / 64, pointer)
                        && (!has_patterns || self.spend_pattern(name, pointer));
                    if !is_enough {
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
pub(in crate::offer) fn weight(value: &Value) -> usize {
    weigh(value, &|_| PATTERN)
}

/// The same, but a pattern counts by the memory that it takes.
pub(in crate::offer) fn memory_weight(value: &Value) -> usize {
    weigh(value, &pattern::parts)
}

fn weigh(value: &Value, of_pattern: &impl Fn(&str) -> usize) -> usize {
    let of_member = |(key, it): (&String, &Value)| {
        let pattern = it.as_str().filter(|_| key == "pattern");
        key.len() / 64 + weigh(it, of_pattern) + pattern.map_or(0, of_pattern)
    };
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(items) => 1 + items.iter().map(|it| weigh(it, of_pattern)).sum::<usize>(),
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
