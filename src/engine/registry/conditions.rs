//! Conditions on arguments: a call that breaks one needs a confirmation, whatever else asks for one.
//!
//! They add up: those of the manifest and those of the configuration must all hold. Not here: when they are looked at
//! (`pipeline/confirm`), and the form of a condition, which the schema of manifests states.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    input::{InputSchema, breach},
    manifest::Manifest,
    problem::{MAX_QUOTED, Report, cut, join},
    schema::compile_bounded,
};
use toolwire_contract::{arguments::Arguments, near::did_you_mean};
use toolwire_schema::{Misfit, Schema, TooMuchWork, Work};

/// Maximum number of problems of a manifest: with that many, no more are looked for.
const MOST_PROBLEMS: usize = 100;
/// Maximum number of names that one is compared with.
const MAX_COMPARED: usize = 250;
/// The JSON pointer of conditions within a manifest.
const POINTER: &str = "/approve_unless";

/// The keywords that apply to these types only: a value of another type satisfies them.
const APPLIES: [(&[&str], &[&str]); 4] = [
    (&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], &["integer", "number"]),
    (&["minLength", "maxLength", "pattern"], &["string"]),
    (&["minItems", "maxItems", "uniqueItems", "items", "contains"], &["array"]),
    (&["properties", "required", "additionalProperties"], &["object"]),
];

/// The conditions of the configuration on one tool.
#[derive(Clone, Debug)]
pub(super) struct Configured<'a> {
    /// The pointer of the table of all tools in `toolwire.toml`.
    pub(super) pointer: String,
    pub(super) conditions: &'a Map<String, Value>,
}

/// The conditions of a tool that has some.
#[derive(Debug)]
pub struct Conditions(Vec<Arc<Condition>>);

#[derive(Debug)]
struct Condition {
    argument: String,
    schema: Value,
    compiled: Schema,
    is_sensitive: bool,
}

impl Conditions {
    /// The conditions of a manifest and those of the configuration on the same tool.
    pub(super) fn new(
        manifest: &Manifest,
        configured: &[Configured<'_>],
        input: &InputSchema,
        report: &mut Report,
    ) -> Option<Self> {
        let mut all = Vec::new();
        if let Some(conditions) = &manifest.approve_unless {
            all.extend(Condition::all(conditions, input, report));
        }
        for Configured { pointer, conditions } in configured {
            let mut of_configuration = Report::new("toolwire.toml");
            Manifest::check_conditions(conditions, &mut of_configuration);
            if of_configuration.len() == 0 {
                all.extend(Condition::all(conditions, input, &mut of_configuration));
            }
            report.take_over(of_configuration, POINTER, &join(pointer, &manifest.name));
        }
        (!all.is_empty()).then_some(Self(all))
    }

    /// Joins the conditions of a file's tool with those of its offer, both on the file's arguments.
    pub(super) fn join(
        of_file: Option<&Self>,
        offered: &Map<String, Value>,
        input: &InputSchema,
        report: &mut Report,
    ) -> Self {
        let of_file = of_file.into_iter().flat_map(|it| &it.0).cloned();
        Self(of_file.chain(Condition::all(offered, input, report)).collect())
    }

    /// The conditions as one object, as a definition shows them.
    pub(super) fn to_map(&self) -> Map<String, Value> {
        let mut map = Map::new();
        for condition in &self.0 {
            let Condition { argument, schema, .. } = &**condition;
            let both = map.get(argument).map(|other: &Value| json!({"allOf": [other, schema]}));
            map.insert(argument.clone(), both.unwrap_or_else(|| schema.clone()));
        }
        map
    }

    /// Whether checked arguments satisfy them all, and that can be said.
    pub fn hold(&self, arguments: &Arguments) -> bool {
        self.hold_within(arguments, Work::all()) == Ok(true)
    }

    /// Whether checked arguments satisfy them all, if that takes no more work.
    pub fn hold_within(&self, arguments: &Arguments, mut work: Work) -> Result<bool, TooMuchWork> {
        for it in &self.0 {
            let Some(value) = it.value(arguments) else { return Ok(false) };
            if !it.compiled.accepts(value, &mut work)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What checked arguments break, in words; empty if they satisfy them all.
    pub fn explain_broken(&self, arguments: &Arguments) -> String {
        self.0.iter().filter_map(|it| it.explain_broken(arguments)).collect::<Vec<_>>().join("; ")
    }
}

impl Condition {
    fn all(conditions: &Map<String, Value>, input: &InputSchema, report: &mut Report) -> Vec<Arc<Self>> {
        let good = conditions.iter().filter_map(|(argument, it)| Self::new(argument, it, input, report));
        good.map(Arc::new).collect()
    }

    fn new(argument: &str, schema: &Value, input: &InputSchema, report: &mut Report) -> Option<Self> {
        if report.len() >= MOST_PROBLEMS {
            return None;
        }
        let pointer = join(POINTER, argument);
        let Some(property) = input.property(argument) else {
            let hint = did_you_mean(argument, input.names().take(MAX_COMPARED));
            let next = if hint.is_empty() { "; name a parameter, or remove it" } else { &*hint };
            let text = format!("the tool has no parameter `{argument}`{next}");
            report.add(pointer, "unknown-parameter", text);
            return None;
        };
        if input.is_of_execution(argument) {
            let text = format!("`{argument}` has its value only when the tool is carried out; remove it");
            report.add(pointer, "condition-too-early", text);
            return None;
        }
        let before = report.len();
        refuse_inapplicable(schema, property, type_of(property), &pointer, report);
        match compile_bounded(&require_members(schema, false)) {
            _ if report.len() > before => None,
            Ok(compiled) => Some(Self {
                argument: argument.to_owned(),
                schema: schema.clone(),
                compiled,
                is_sensitive: InputSchema::is_sensitive(property),
            }),
            Err(reason) => {
                report.add(pointer, "bad-condition", format!("the condition does not compile: {reason}"));
                None
            }
        }
    }

    /// The value of the argument. Null is as good as absent: keywords that speak of other types would hold for it.
    fn value<'a>(&self, arguments: &'a Arguments) -> Option<&'a Value> {
        arguments.get(&self.argument).filter(|value| !value.is_null())
    }

    fn explain_broken(&self, arguments: &Arguments) -> Option<String> {
        let Self { argument, compiled, is_sensitive, .. } = self;
        let Some(value) = self.value(arguments) else { return Some(format!("`{argument}` is not given")) };
        Some(match compiled.check(value, 1, Work::little()).err()? {
            _ if *is_sensitive => format!("`{argument}` breaks its condition"),
            Misfit::Broken(breaches) => {
                let first = breaches.first();
                format!("`{argument}{}` {}", first.pointer().replace('/', "."), breach(first))
            }
            Misfit::TooMuchWork => format!("`{argument}` is too large to say what it breaks"),
        })
    }
}

/// The condition as it is checked: `properties` holds for a member that is absent, so those that it names are required.
/// Below `not` the contrary would let calls without them pass.
fn require_members(condition: &Value, is_negated: bool) -> Value {
    let Value::Object(keywords) = condition else { return condition.clone() };
    let nested = |it: &Value| require_members(it, is_negated);
    let checked = keywords.iter().map(|(keyword, value)| {
        let value = match (keyword.as_str(), value) {
            ("not", _) => require_members(value, !is_negated),
            ("items" | "contains", _) => nested(value),
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => all.iter().map(nested).collect(),
            ("properties", Value::Object(members)) => {
                members.iter().map(|(name, it)| (name.clone(), nested(it))).collect::<Map<_, _>>().into()
            }
            _ => value.clone(),
        };
        (keyword.clone(), value)
    });
    let mut checked: Map<_, _> = checked.collect();
    if let Some(members) = keywords.get("properties").and_then(Value::as_object).filter(|_| !is_negated) {
        let stated = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        let stated = stated.filter(|it| it.as_str().is_none_or(|name| !members.contains_key(name)));
        let required: Vec<_> = stated.cloned().chain(members.keys().cloned().map(Value::from)).collect();
        checked.insert("required".to_owned(), required.into());
    }
    checked.into()
}

/// Refuses keywords that say nothing of values of the argument's type: they would let every call pass. `kind` is that
/// type, if it is known.
fn refuse_inapplicable(condition: &Value, of: &Value, kind: &str, pointer: &str, report: &mut Report) {
    if !condition.is_object() || report.len() >= MOST_PROBLEMS {
        return;
    }
    let kind = condition["type"].as_str().unwrap_or(kind);
    for (keywords, kinds) in APPLIES {
        for keyword in keywords.iter().filter(|it| !condition[**it].is_null() && !kinds.contains(&kind)) {
            let what = if kind.is_empty() { "of any type; add `type`" } else { "of another; remove it" };
            let text = format!("`{keyword}` is about the type {}, and the value is {what}", kinds[0]);
            report.add(join(pointer, keyword), "constraint-not-applicable", text);
        }
    }
    refuse_inapplicable(&condition["not"], of, kind, &join(pointer, "not"), report);
    for key in ["items", "contains"] {
        let element = &of["items"];
        refuse_inapplicable(&condition[key], element, type_of(element), &join(pointer, key), report);
    }
    refuse_unknown_members(condition, of, pointer, report);
    let members = condition["properties"].as_object().into_iter().flatten();
    for (name, it) in members.filter(|(name, _)| has_member(of, name)) {
        let member = &of["properties"][name];
        let pointer = join(&join(pointer, "properties"), name);
        refuse_inapplicable(it, member, type_of(member), &pointer, report);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, it) in condition[key].as_array().into_iter().flatten().enumerate() {
            refuse_inapplicable(it, of, kind, &join(&join(pointer, key), index), report);
        }
    }
}

fn type_of(schema: &Value) -> &str {
    schema["type"].as_str().unwrap_or_default()
}

/// Refuses names of members that no valid value has: misspelt, they would make every call ask.
fn refuse_unknown_members(condition: &Value, of: &Value, pointer: &str, report: &mut Report) {
    let names = condition["properties"].as_object().into_iter().flat_map(Map::keys);
    for name in names.filter(|name| !has_member(of, name)).take(MOST_PROBLEMS) {
        let known = of["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str);
        let hint = did_you_mean(name, known.take(MAX_COMPARED));
        let next = if hint.is_empty() { "; name a member, or remove it" } else { &*hint };
        let text = format!("the parameter has no member `{}`{next}", cut(name, MAX_QUOTED));
        report.add(join(&join(pointer, "properties"), name), "unknown-parameter", text);
    }
}

/// Whether values of a schema may have a member. One that declares none may have any.
fn has_member(of: &Value, name: &str) -> bool {
    match &of["properties"] {
        Value::Object(members) => members.contains_key(name),
        _ => of["additionalProperties"] != false,
    }
}
