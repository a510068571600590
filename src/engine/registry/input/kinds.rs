//! Which kinds of values a schema takes at a place: by `type`, `enum` and `const`, through `allOf`, `anyOf` and
//! `oneOf`.
//!
//! Every other keyword only takes fewer, and a reference may take anything, so that a kind that is not taken here never
//! is. Not here: whether a value is valid.

use std::cell::Cell;

use serde_json::{Map, Value};

use toolwire_contract::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    /// A whole number that is known exactly.
    Integer,
    /// Any other number.
    Decimal,
    Text,
    Array,
    Object,
}

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Member(&'a str),
    Element(usize),
}

impl Kind {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(n) if !n.is_f64() => Self::Integer,
            Value::Number(n) => match n.as_f64() {
                Some(n) if n.fract() == 0.0 && n.abs() < json::MAX_EXACT => Self::Integer,
                _ => Self::Decimal,
            },
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    fn is(self, name: &Value) -> bool {
        match name.as_str() {
            Some("null") => self == Self::Null,
            Some("boolean") => self == Self::Bool,
            Some("integer") => self == Self::Integer,
            Some("number") => matches!(self, Self::Integer | Self::Decimal),
            Some("string") => self == Self::Text,
            Some("array") => self == Self::Array,
            Some("object") => self == Self::Object,
            _ => true,
        }
    }
}

/// The steps that are left to look through schemas.
#[derive(Debug)]
pub(super) struct Steps(Cell<u64>);

impl Steps {
    pub(super) fn new(steps: u64) -> Self {
        Self(Cell::new(steps))
    }

    /// `false` once there are none.
    pub(super) fn spend(&self, steps: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(steps as u64));
        self.0.get() > 0
    }
}

/// Whether a schema of a whole may take a value of this kind at a path within it: true when there are no steps left.
pub(super) fn takes(schema: &Value, path: &[Step<'_>], kind: Kind, steps: &Steps) -> bool {
    let schema = match schema {
        Value::Bool(all) => return *all,
        Value::Object(schema) => schema,
        _ => return true,
    };
    let options = schema.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
    if !steps.spend(1 + options / 8) {
        return true;
    }
    let itself = match path {
        [] => is_allowed(schema, kind),
        [step @ Step::Member(_), rest @ ..] => {
            is_allowed(schema, Kind::Object)
                && part(schema, *step).is_none_or(|it| takes(it, rest, kind, steps))
        }
        [step @ Step::Element(_), rest @ ..] => {
            is_allowed(schema, Kind::Array)
                && part(schema, *step).is_none_or(|it| takes(it, rest, kind, steps))
        }
    };
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let takes = |it: &Value| takes(it, path, kind, steps);
    itself
        && list("allOf").is_none_or(|all| all.iter().all(takes))
        && list("anyOf").is_none_or(|any| any.iter().any(takes))
        && list("oneOf").is_none_or(|one| one.iter().any(takes))
}

/// Whether the keywords of a schema itself allow values of a kind.
fn is_allowed(schema: &Map<String, Value>, kind: Kind) -> bool {
    let by_type = match schema.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(|name| kind.is(name)),
        Some(name) => kind.is(name),
    };
    by_type
        && schema.get("const").is_none_or(|only| Kind::of(only) == kind)
        && schema
            .get("enum")
            .and_then(Value::as_array)
            .is_none_or(|all| all.iter().any(|it| Kind::of(it) == kind))
}

/// The schema of a part; `None` if it may be anything.
fn part<'a>(schema: &'a Map<String, Value>, step: Step<'_>) -> Option<&'a Value> {
    match step {
        Step::Member(key) => {
            let declared = schema.get("properties").and_then(|properties| properties.get(key));
            let other =
                || schema.get("additionalProperties").filter(|_| !schema.contains_key("patternProperties"));
            declared.or_else(other)
        }
        Step::Element(index) => {
            let placed = schema.get("prefixItems").and_then(|items| items.get(index));
            placed.or_else(|| schema.get("items"))
        }
    }
}
