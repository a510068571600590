//! Checks the placeholders of a template against a schema: each value must exist and fit its form.

use serde_json::{Map, Value};

use super::{Form, Path, Piece, Template};
use crate::registry::problem::Report;
use toolwire_contract::near::did_you_mean;

impl Template {
    /// Reports every placeholder that does not fit the schema of the values.
    pub(in crate::registry) fn check(&self, schema: &Value, pointer: &str, report: &mut Report) {
        for piece in &self.0 {
            let Piece::Placeholder { path, form } = piece else { continue };
            match find(path, schema) {
                Ok(schema) => refuse_misfit(path, form, schema, pointer, report),
                Err(known) => {
                    let hint = path.0.last().map(|name| did_you_mean(name, known));
                    let text = format!("no value `{}`{}", path.text(), hint.unwrap_or_default());
                    report.add(pointer, "unknown-placeholder", text);
                }
            }
        }
    }
}

fn refuse_misfit(path: &Path, form: &Form, schema: &Value, pointer: &str, report: &mut Report) {
    let (fits, expected): (&[&str], _) = match form {
        Form::Plain => {
            (&["string", "integer", "number", "boolean", "array"], "is an object; name one of its values")
        }
        Form::Number { .. } => (&["integer", "number"], "is not a number; drop the format"),
        Form::Counted { .. } => (&["integer", "number", "array"], "is nothing to count; drop the noun"),
        Form::Choice { .. } => (&["boolean"], "is not a boolean; drop the choice"),
    };
    let kinds = kinds(schema);
    if !kinds.is_empty() && !kinds.iter().any(|kind| fits.contains(kind)) {
        report.add(pointer, "placeholder-form", format!("`{}` {expected}", path.text()));
    }
}

/// The schema at a path, or the names of the members of the last object on the way to it.
fn find<'a>(path: &Path, schema: &'a Value) -> Result<&'a Value, impl Iterator<Item = &'a str> + use<'a>> {
    let mut schema = schema;
    for name in &path.0 {
        let object = object(schema);
        match member(object, name) {
            Some(found) => schema = found,
            None => {
                return Err(object.and_then(properties).into_iter().flat_map(Map::keys).map(String::as_str));
            }
        }
    }
    Ok(schema)
}

/// The schema of an object, also if it is nullable.
fn object(schema: &Value) -> Option<&Value> {
    let either = schema.get("anyOf").and_then(Value::as_array);
    let mut candidates = either.into_iter().flatten().chain([schema]);
    candidates.find(|it| kinds(it).contains(&"object") || (either.is_none() && kinds(it).is_empty()))
}

fn properties(object: &Value) -> Option<&Map<String, Value>> {
    object.get("properties").and_then(Value::as_object)
}

/// The schema of a member; an open object has any member.
fn member<'a>(object: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    let object = object?;
    let declared = properties(object).and_then(|properties| properties.get(name));
    declared.or_else(|| match object.get("additionalProperties") {
        Some(Value::Bool(false)) => None,
        open => Some(open.unwrap_or(&Value::Null)),
    })
}

/// The types that a schema names; empty if it accepts any.
fn kinds(schema: &Value) -> Vec<&str> {
    match (schema.get("type"), schema.get("anyOf")) {
        (Some(Value::String(kind)), _) => vec![kind],
        (Some(Value::Array(kinds)), _) => kinds.iter().filter_map(Value::as_str).collect(),
        (None, Some(Value::Array(either))) => either.iter().flat_map(kinds).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The rules that a template breaks.
    fn check(template: &str) -> Vec<String> {
        let schema = json!({
            "type": "object", "additionalProperties": false,
            "properties": {
                "symbol": {"type": "string"},
                "rsi_14": {"type": ["number", "null"]},
                "found": {"type": "boolean"},
                "posts": {"type": "array"},
                "best": {"anyOf": [
                    {"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": false},
                    {"type": "null"}
                ]},
                "free": {"type": "object"},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "any": {}
            }
        });
        let mut report = Report::new("tools/x.json");
        template.parse::<Template>().expect("a template").check(&schema, "/summary", &mut report);
        report.into_problems().into_iter().map(|it| format!("{} {}", it.rule, it.description)).collect()
    }

    #[test]
    fn what_the_schema_has_is_good() {
        let good = "{symbol} {rsi_14} {rsi_14:+.1} {found?a:b} {posts|post|posts} {best.title} {free.x.y} {counts.k:.0} {any:.1}";
        assert_eq!(check(good), Vec::<String>::new());
    }

    #[test]
    fn every_place_that_is_not_there_or_does_not_fit_is_reported() {
        assert_eq!(
            check(
                "{rsi_15:.0} {best.titel} {symbol.length} {symbol:.1} {symbol|a|b} {posts?a:b} {best} {free}"
            ),
            [
                "unknown-placeholder no value `rsi_15`. Did you mean rsi_14?",
                "unknown-placeholder no value `best.titel`. Did you mean title?",
                "unknown-placeholder no value `symbol.length`",
                "placeholder-form `symbol` is not a number; drop the format",
                "placeholder-form `symbol` is nothing to count; drop the noun",
                "placeholder-form `posts` is not a boolean; drop the choice",
                "placeholder-form `best` is an object; name one of its values",
                "placeholder-form `free` is an object; name one of its values",
            ]
        );
    }
}
