//! Puts what references refer to in their place, within a bound.

use serde_json::{Map, Value, json};

use super::{
    Direction,
    keywords::{Holds, holds},
    old_drafts::{is_older, modern},
    pattern,
    types::without_list,
    weight::{PATTERN, weight},
};
use crate::{
    bounds::{MAX_PARTS, MAX_PROBLEM_TEXT},
    offer::{Budget, Report},
    outcome::cut,
};

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
        // Before anything is copied.
        if is_older(object) && !self.spend(weight(schema), pointer) {
            return Value::Null;
        }
        let object = &*modern(object);
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
                // Nothing refers to them.
                ("$defs" | "definitions" | "$schema" | "$id" | "$anchor" | "$dynamicAnchor", _) => {}
                ("$dynamicRef" | "$recursiveRef", _) => {
                    let text = format!("`{keyword}` is not taken; refer to a definition by `#/$defs/…`");
                    self.report.refuse_or_warn(&place, "not-supported", &text);
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
        self.without_type_list(inlined, pointer, level)
    }

    /// One type, or a choice.
    fn without_type_list(
        &mut self,
        mut schema: Map<String, Value>,
        pointer: &str,
        level: usize,
    ) -> Map<String, Value> {
        let Some(Value::Array(types)) = schema.get("type") else { return schema };
        if level == 0 && types.iter().any(|it| it == "object") {
            // Arguments and results are never anything else.
            schema.insert("type".to_owned(), "object".into());
            return schema;
        }
        if !self.spend(types.len(), pointer) {
            return Map::new();
        }
        without_list(schema).unwrap_or_else(|what| {
            self.report.refuse(join(pointer, "type"), "type-list", what);
            Map::new()
        })
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
        let (target, schema) = match resolve(self.document, reference) {
            Ok(found) => found,
            Err((rule, text)) => {
                self.report.refuse_or_warn(join(pointer, "$ref"), rule, &text);
                return self.anything(object, None, pointer);
            }
        };
        if self.active.iter().any(|it| it == target) {
            let text = format!("`#{target}` holds itself, and providers of models refuse recursion");
            self.report.refuse_or_warn(join(pointer, "$ref"), "recursive-schema", &text);
            return self.anything(object, Some(schema), pointer);
        }
        self.active.push(target.to_owned());
        let inlined = self.schema(schema, pointer, level + 1);
        self.active.pop();
        self.add_siblings(inlined, object, pointer, level)
    }

    /// What a reference refers to, with the keywords beside the reference.
    fn add_siblings(
        &mut self,
        inlined: Value,
        object: &Map<String, Value>,
        pointer: &str,
        level: usize,
    ) -> Value {
        let is_beside =
            |it: &String| it != "$ref" && !ANNOTATIONS.contains(&it.as_str()) && !is_definitions(it);
        let beside = object.iter().filter(|(it, _)| is_beside(it));
        if !self.spend(beside.clone().map(|(_, it)| weight(it)).sum(), pointer) {
            return Value::Null;
        }
        let beside: Map<_, _> = beside.map(|(key, it)| (key.clone(), it.clone())).collect();
        let mut whole = match inlined {
            Value::Object(inlined) if beside.is_empty() => inlined,
            inlined if beside.is_empty() => return inlined,
            // Both hold.
            inlined => {
                let beside = self.object(&beside, pointer, level + 1);
                Map::from_iter([("allOf".to_owned(), json!([inlined, beside]))])
            }
        };
        self.annotate(&mut whole, object, pointer);
        whole.into()
    }

    /// In place of what is left to the server: any value, of one type if the schema says which.
    fn anything(&mut self, object: &Map<String, Value>, schema: Option<&Value>, pointer: &str) -> Value {
        let kind = schema.and_then(|it| it.get("type")).filter(|it| it.is_string());
        let mut anything: Map<_, _> = kind.map(|it| ("type".to_owned(), it.clone())).into_iter().collect();
        self.annotate(&mut anything, object, pointer);
        anything.into()
    }

    /// The words beside a reference stand for those of what it refers to.
    fn annotate(&mut self, schema: &mut Map<String, Value>, object: &Map<String, Value>, pointer: &str) {
        for (keyword, value) in object.iter().filter(|(it, _)| ANNOTATIONS.contains(&it.as_str())) {
            let value = self.copy(value, pointer);
            schema.insert(keyword.clone(), value);
        }
    }
}

/// The place that a reference names, and the schema there. An error is the rule that is broken, and how.
fn resolve<'a>(
    document: &'a Value,
    reference: &'a Value,
) -> Result<(&'a str, &'a Value), (&'static str, String)> {
    let target = reference.as_str().and_then(|it| it.strip_prefix('#'));
    let Some(target) = target.filter(|it| it.is_empty() || it.starts_with('/')) else {
        let text = "only a reference to a place of the same schema is taken, `#/…`";
        return Err(("remote-ref", text.to_owned()));
    };
    match document.pointer(&decode_fragment(target)) {
        Some(schema) => Ok((target, schema)),
        None => Err(("unknown-ref", format!("there is nothing at `#{target}`"))),
    }
}

fn is_definitions(keyword: &str) -> bool {
    matches!(keyword, "$anchor" | "$defs" | "$id" | "$schema" | "definitions")
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
