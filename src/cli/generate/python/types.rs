//! The types of schemas: hints, and a `TypedDict` for each object with members.
//!
//! What no hint can say, such as a bound, stands in words beside it. What a schema leaves open, or says in a way that
//! is not read here, is `Any`: a hint is never narrower than its schema, but that an object with members may have
//! others.

mod class;
mod words;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::class::{Class, Member};
pub(super) use self::words::words;
use super::{
    names::{self, Names},
    text,
};

/// How deep hints go: Python's parser has a bound too.
const DEEPEST: usize = 64;
/// The longest hint of what is referred to, in bytes. References double it where each schema has two to the next.
const LONGEST: usize = 20_000;

/// The classes of objects, made while hints are.
#[derive(Debug)]
pub(super) struct Types {
    names: Names,
    classes: Vec<Class>,
    has_literals: bool,
}

/// The walk through one schema.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    types: &'a mut Types,
    root: &'a Value,
    /// What is referred to, by pointer: its hint, or none while that is made.
    referred: BTreeMap<String, Option<String>>,
}

impl Types {
    pub(super) fn new(names: Names) -> Self {
        Self { names, classes: Vec::new(), has_literals: false }
    }

    pub(super) fn walk<'a>(&'a mut self, root: &'a Value) -> Walk<'a> {
        Walk { types: self, root, referred: BTreeMap::new() }
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = String> {
        self.classes.iter().map(Class::render)
    }

    pub(super) fn has_classes(&self) -> bool {
        !self.classes.is_empty()
    }

    pub(super) fn has_literals(&self) -> bool {
        self.has_literals
    }

    pub(super) fn has_optional(&self) -> bool {
        self.classes.iter().any(Class::has_optional)
    }
}

impl Walk<'_> {
    /// The hint of the whole schema.
    pub(super) fn hint_of_root(&mut self, name: &str) -> String {
        self.refer("", name, 0)
    }

    /// The hint of a schema, whose classes begin with this name.
    pub(super) fn hint(&mut self, schema: &Value, name: &str, depth: usize) -> String {
        let Value::Object(members) = schema else { return "Any".to_owned() };
        if depth > DEEPEST {
            return "Any".to_owned();
        }
        if let Some(reference) = members.get("$ref") {
            return match reference.as_str().and_then(|it| it.strip_prefix('#')) {
                Some(pointer) => self.refer(&pointer.replace("%25", "%"), name, depth),
                None => "Any".to_owned(),
            };
        }
        if let Some(value) = members.get("const") {
            return self.literals(std::slice::from_ref(value));
        }
        if let Some(Value::Array(values)) = members.get("enum") {
            return self.literals(values);
        }
        match members.get("type") {
            Some(Value::String(kind)) => self.of_kind(kind, members, name, depth),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().map(|kind| kind.as_str().unwrap_or_default());
                let hints = kinds.map(|kind| self.of_kind(kind, members, name, depth)).collect();
                union(hints)
            }
            _ if members.contains_key("properties") => self.object(members, name, depth),
            _ => self.branches(members, name, depth),
        }
    }

    fn of_kind(&mut self, kind: &str, members: &Map<String, Value>, name: &str, depth: usize) -> String {
        match kind {
            "string" => "str".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "null" => "None".to_owned(),
            "array" => self.array(members, name, depth),
            "object" => self.object(members, name, depth),
            _ => "Any".to_owned(),
        }
    }

    fn array(&mut self, members: &Map<String, Value>, name: &str, depth: usize) -> String {
        let item = names::class(name, "item");
        let mut hints = Vec::new();
        if let Some(Value::Array(first)) = members.get("prefixItems") {
            hints.extend(first.iter().map(|schema| self.hint(schema, &item, depth + 1)));
        }
        // What stands behind the first ones, if any may.
        match members.get("items") {
            Some(Value::Bool(false)) if !hints.is_empty() => {}
            Some(schema) => hints.push(self.hint(schema, &item, depth + 1)),
            None => hints.push("Any".to_owned()),
        }
        format!("list[{}]", union(hints))
    }

    fn object(&mut self, members: &Map<String, Value>, name: &str, depth: usize) -> String {
        let properties = members.get("properties").and_then(Value::as_object).filter(|it| !it.is_empty());
        let others =
            members.get("additionalProperties").filter(|it| it.as_object().is_some_and(|it| !it.is_empty()));
        match (properties, others) {
            _ if members.contains_key("patternProperties") => "dict[str, Any]".to_owned(),
            (Some(properties), None) => {
                let name = self.types.names.take(name);
                self.class(&name, members, properties, depth);
                name
            }
            (None, Some(schema)) => {
                format!("dict[str, {}]", self.hint(schema, &names::class(name, "value"), depth + 1))
            }
            (Some(_), Some(_)) | (None, None) => "dict[str, Any]".to_owned(),
        }
    }

    /// Makes the class of an object with members.
    fn class(
        &mut self,
        name: &str,
        members: &Map<String, Value>,
        properties: &Map<String, Value>,
        depth: usize,
    ) {
        let index = self.types.classes.len();
        // Before those of its members.
        self.types.classes.push(Class::new(name, members.get("description").and_then(Value::as_str)));
        let is_required = |key: &str| {
            let required = members.get("required").and_then(Value::as_array);
            required.is_some_and(|required| required.iter().any(|it| it == key))
        };
        let made = properties.iter().map(|(key, schema)| Member {
            key: key.clone(),
            hint: self.hint(schema, &names::class(name, key), depth + 1),
            is_required: is_required(key),
            words: words(schema),
        });
        let made: Vec<_> = made.collect();
        self.types.classes[index].members = made;
    }

    /// What one of several schemas accepts. Of those that must all hold, one that says what the value is.
    fn branches(&mut self, members: &Map<String, Value>, name: &str, depth: usize) -> String {
        let of = |keyword: &str| members.get(keyword).and_then(Value::as_array).filter(|it| !it.is_empty());
        if let Some(schemas) = of("anyOf").or_else(|| of("oneOf")) {
            return union(schemas.iter().map(|schema| self.hint(schema, name, depth + 1)).collect());
        }
        let mut hints = of("allOf").into_iter().flatten().map(|schema| self.hint(schema, name, depth + 1));
        hints.find(|hint| hint != "Any").unwrap_or_else(|| "Any".to_owned())
    }

    /// The hint of what a JSON pointer leads to.
    fn refer(&mut self, pointer: &str, name: &str, depth: usize) -> String {
        if let Some(known) = self.referred.get(pointer) {
            return known.clone().unwrap_or_else(|| "Any".to_owned());
        }
        let root = self.root;
        let Some(Value::Object(members)) = root.pointer(pointer) else { return "Any".to_owned() };
        let properties = members.get("properties").and_then(Value::as_object).filter(|it| !it.is_empty());
        if let Some(properties) = properties.filter(|_| is_class(members)) {
            let name = self.types.names.take(name);
            self.referred.insert(pointer.to_owned(), Some(name.clone()));
            self.class(&name, members, properties, depth);
            return name;
        }
        self.referred.insert(pointer.to_owned(), None);
        let hint = self.hint(&root.pointer(pointer).cloned().unwrap_or_default(), name, depth + 1);
        let hint = if hint.len() > LONGEST { "Any".to_owned() } else { hint };
        self.referred.insert(pointer.to_owned(), Some(hint.clone()));
        hint
    }

    fn literals(&mut self, values: &[Value]) -> String {
        let (mut said, mut others): (Vec<String>, Vec<String>) = Default::default();
        for value in values {
            let (hints, hint) = match value {
                Value::Null => (&mut others, "None".to_owned()),
                Value::Bool(true) => (&mut said, "True".to_owned()),
                Value::Bool(false) => (&mut said, "False".to_owned()),
                Value::String(text) => (&mut said, text::literal(text)),
                Value::Number(number) if is_literal(value) => (&mut said, number.to_string()),
                Value::Number(number) if number.is_f64() => (&mut others, "float".to_owned()),
                Value::Number(_) => (&mut others, "int".to_owned()),
                Value::Array(_) => (&mut others, "list[Any]".to_owned()),
                Value::Object(_) => (&mut others, "dict[str, Any]".to_owned()),
            };
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        if !said.is_empty() {
            self.types.has_literals = true;
            others.insert(0, format!("Literal[{}]", said.join(", ")));
        }
        union(others)
    }
}

/// Whether a hint can name this value. A float is no literal, and mypy takes no integer beyond ±(2^63 - 1) for one.
fn is_literal(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => number.as_i64().is_some_and(|it| it != i64::MIN),
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Whether an object is of a class.
fn is_class(members: &Map<String, Value>) -> bool {
    let has_others =
        members.get("additionalProperties").and_then(Value::as_object).is_some_and(|it| !it.is_empty());
    let has = |keyword: &str| members.contains_key(keyword);
    let is_object = members.get("type").is_none_or(|kind| kind == "object");
    is_object && !has_others && !["$ref", "const", "enum", "patternProperties"].into_iter().any(has)
}

/// Either of these hints.
fn union(hints: Vec<String>) -> String {
    let mut apart: Vec<String> = Vec::new();
    for hint in hints {
        if hint == "Any" {
            return hint;
        }
        if !apart.contains(&hint) {
            apart.push(hint);
        }
    }
    // Last, as people write it.
    if let Some(none) = apart.iter().position(|hint| hint == "None") {
        let none = apart.remove(none);
        apart.push(none);
    }
    if apart.is_empty() { "Any".to_owned() } else { apart.join(" | ") }
}
