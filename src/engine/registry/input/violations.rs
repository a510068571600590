//! Describes violations: the pointer as the caller wrote it, what was expected, and what was probably meant.

mod union;

use std::cell::Cell;

use serde_json::Value;

use super::normal;
use crate::registry::{
    problem::{MAX_QUOTED, cut, join, quoted},
    schema::pattern_in_words,
};
use toolwire_base::words::counted;
use toolwire_contract::{Violation, near::did_you_mean};
use toolwire_schema::{Breach, Breaches, Kind, TypeKind};

/// Maximum length of what a violation takes over from the schema, such as a pattern, in characters: there may be a
/// hundred of it.
const MAX_TAKEN: usize = 1_000;
/// What the validation of branches of unions may cost for one answer, in parts of their schemas.
const UNION_BUDGET: usize = 2_000;
/// Maximum number of names that are listed, or compared with one.
const MAX_NAMES: usize = 250;
/// Maximum length of what is listed, in characters.
const MAX_LISTED: usize = 4_000;

/// Converts breaches to at most `most` violations, one for each unknown and each missing key.
pub(super) fn explain(broken: &Breaches<'_>, schema: &Value, raw: &Value, most: usize) -> Vec<Violation> {
    Explainer { most, budget: Cell::new(UNION_BUDGET) }.explain(broken, &Location::whole(schema, raw))
}

/// Describes how a value violates a schema other than that of the arguments.
pub(in crate::registry) fn breach(breach: Breach<'_>) -> String {
    expected(breach, None)
}

/// The violation of arguments that satisfy the schema but do not fit the message. `pointer` is that of the value at
/// fault, in its normal form.
pub(super) fn misfit(pointer: &str, reason: &str, schema: &Value, raw: &Value) -> Violation {
    let location = Location::whole(schema, raw).find(pointer);
    location.violation(None, "format", format!("{} cannot be read: {}", location.label(), cut(reason, 200)))
}

/// Explains the breaches of one value.
struct Explainer {
    most: usize,
    /// What is left of [`UNION_BUDGET`].
    budget: Cell<usize>,
}

impl Explainer {
    /// The breaches of the value at a location.
    fn explain(&self, broken: &Breaches<'_>, at: &Location<'_>) -> Vec<Violation> {
        broken.iter().flat_map(|breach| self.explain_one(breach, at)).take(self.most).collect()
    }

    fn explain_one(&self, breach: Breach<'_>, at: &Location<'_>) -> Vec<Violation> {
        let location = at.find(breach.pointer());
        let rule = breach.keyword();
        match breach.kind() {
            Kind::AdditionalProperties { unexpected } => unexpected
                .iter()
                .take(self.most)
                .map(|key| location.violation(Some(key), rule, unknown(key, location.schema)))
                .collect(),
            Kind::Required { property: Value::String(key) } => {
                vec![location.violation(Some(key), rule, missing(key, location.schema))]
            }
            _ => self.explain_union(breach, &location).unwrap_or_else(|| {
                let described =
                    location.schema.and_then(|schema| schema.get("description")).and_then(Value::as_str);
                let expected = expected(breach, described);
                vec![location.violation(None, rule, format!("{} {expected}", location.label()))]
            }),
        }
    }
}

/// A location in the arguments: its pointer as the caller wrote it, its schema, and what the caller wrote there.
struct Location<'a> {
    pointer: String,
    schema: Option<&'a Value>,
    raw: Option<&'a Value>,
}

impl<'a> Location<'a> {
    /// All of the arguments.
    fn whole(schema: &'a Value, raw: &'a Value) -> Self {
        Self { pointer: String::new(), schema: Some(schema), raw: Some(raw) }
    }

    /// Follows a pointer into the normal form, through both the schema and the raw value.
    fn find(&self, normal: &str) -> Location<'a> {
        let Self { mut schema, mut raw, .. } = *self;
        let mut pointer = self.pointer.clone();
        for segment in normal.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            let written = raw.map_or(segment.clone(), |raw| as_written(raw, schema, &segment));
            pointer = join(&pointer, cut(&written, MAX_QUOTED));
            raw = raw.and_then(|raw| raw.get(&written).or_else(|| raw.get(written.parse::<usize>().ok()?)));
            schema = schema.and_then(|schema| member(schema, &segment));
        }
        Location { pointer, schema, raw }
    }

    fn label(&self) -> String {
        match self.pointer.strip_prefix('/') {
            None => "the arguments".to_owned(),
            Some(path) => format!("`{}`", cut(&path.replace('/', "."), MAX_QUOTED)),
        }
    }

    fn violation(&self, key: Option<&str>, rule: &str, description: String) -> Violation {
        let pointer =
            key.map_or_else(|| self.pointer.clone(), |key| join(&self.pointer, cut(key, MAX_QUOTED)));
        Violation { pointer, rule: rule.to_owned(), description }
    }
}

fn as_written(raw: &Value, schema: Option<&Value>, segment: &str) -> String {
    let (Some(map), Some(properties)) = (raw.as_object(), schema.and_then(normal::properties)) else {
        return segment.to_owned();
    };
    if map.contains_key(segment) {
        return segment.to_owned();
    }
    let means = |key: &&String| normal::declared_key(properties, key) == Some(segment);
    map.keys().find(means).map_or_else(|| segment.to_owned(), Clone::clone)
}

fn member<'a>(schema: &'a Value, segment: &str) -> Option<&'a Value> {
    let property = normal::properties(schema).and_then(|properties| properties.get(segment));
    property.or_else(|| schema.get("items")).or_else(|| schema.get("additionalProperties"))
}

fn unknown(key: &str, schema: Option<&Value>) -> String {
    let names =
        || schema.and_then(normal::properties).into_iter().flat_map(|it| it.keys().map(String::as_str));
    let mut hint = did_you_mean(key, names().take(MAX_NAMES));
    if hint.is_empty() {
        let known = list(names().map(|name| format!("`{name}`")));
        hint = if known.is_empty() { "; none is taken".to_owned() } else { format!("; known: {known}") };
    }
    format!("unknown parameter `{}`{hint}", cut(key, MAX_QUOTED))
}

fn missing(key: &str, schema: Option<&Value>) -> String {
    let property = schema.and_then(normal::properties).and_then(|properties| properties.get(key));
    let description = property.and_then(|it| it.get("description")).and_then(Value::as_str);
    match description {
        Some(description) => format!("`{key}` is required: {}", cut(description, MAX_TAKEN)),
        None => format!("`{key}` is required"),
    }
}

/// Describes what was expected and what was found.
fn expected(breach: Breach<'_>, description: Option<&str>) -> String {
    let found = || quoted(breach.found());
    if let Some(pattern) = breach.pattern() {
        return match pattern_in_words(pattern) {
            Some(words) => format!("must be {words}, but is {}", found()),
            None => like(pattern, description, &found()),
        };
    }
    match breach.kind() {
        Kind::Type { kind } => format!("must be {}, but is {}", type_name(kind), found()),
        Kind::Enum { options } => one_of(options.as_array().into_iter().flatten(), &found()),
        Kind::Minimum { limit } => format!("must be at least {limit}, but is {}", found()),
        Kind::Maximum { limit } => format!("must be at most {limit}, but is {}", found()),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}, but is {}", found()),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}, but is {}", found()),
        Kind::Constant { expected_value } => {
            format!("must be {}, but is {}", quoted(expected_value), found())
        }
        Kind::MinLength { limit: 1 } | Kind::MinItems { limit: 1 } => "must not be empty".to_owned(),
        Kind::MinLength { limit } => {
            format!("must have at least {}, but is {}", counted(*limit, "character", "characters"), found())
        }
        Kind::MaxLength { limit } => {
            format!("must have at most {}, but is {}", counted(*limit, "character", "characters"), found())
        }
        Kind::MinItems { limit } => {
            format!("must have at least {}", counted(*limit, "element", "elements"))
        }
        Kind::MaxItems { limit } => format!("must have at most {}", counted(*limit, "element", "elements")),
        Kind::Format { format } if format == "date-time" => {
            format!("must be a time such as \"2026-01-15T10:30:00Z\", but is {}", found())
        }
        Kind::Format { format } => format!("must be a {format}, but is {}", found()),
        other => format!("breaks the rule {}, being {}", other.keyword(), found()),
    }
}

/// Explains a pattern by the description of the parameter.
fn like(pattern: &str, description: Option<&str>, found: &str) -> String {
    let what = description.map(|text| format!(". What it is: {}", cut(text, MAX_TAKEN))).unwrap_or_default();
    format!("must match the pattern {}, but is {found}{what}", cut(pattern, MAX_TAKEN))
}

fn one_of<'v>(options: impl IntoIterator<Item = &'v Value, IntoIter: Clone>, found: &str) -> String {
    let options = options.into_iter();
    let listed = list(options.clone().map(ToString::to_string));
    let names = options.filter_map(Value::as_str).take(MAX_NAMES);
    let hint = did_you_mean(found.trim_matches('"'), names);
    format!("must be one of {listed}, but is {found}{hint}")
}

/// As many of the words as a violation shows.
fn list(mut words: impl Iterator<Item = String>) -> String {
    let shown: Vec<_> = words.by_ref().take(MAX_NAMES).collect();
    let shown = cut(&shown.join(", "), MAX_LISTED);
    match words.count() {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}

fn type_name(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => with_article(&kind.to_string()),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| with_article(&kind.to_string())).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}
