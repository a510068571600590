//! The parameters of a tool on one line, for a model that is given no schema.

use serde_json::{Map, Value};

/// The deepest object whose members are listed.
const DEEPEST: usize = 2;

/// `symbol (required): string; limit: integer 1 to 50, default 10`, or `none`.
pub(super) fn parameters(schema: &Value) -> String {
    let members = members(schema, 0);
    if members.is_empty() { "none".to_owned() } else { members }
}

fn members(schema: &Value, depth: usize) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let member = |(name, property): (&String, &Value)| {
        let required = if is_required(name) { " (required)" } else { "" };
        format!("{}{required}: {}", key(name), value(property, depth))
    };
    properties(schema).map(member).collect::<Vec<_>>().join("; ")
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

/// A name as it is, or in quotation marks if it is no plain word: a provider's may hold a line break.
fn key(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.$".contains(c));
    if is_plain { name.to_owned() } else { Value::from(name).to_string() }
}

/// The type with what bounds it, examples if nothing lists the values, and the default.
fn value(schema: &Value, depth: usize) -> String {
    let mut text = kind(schema, depth);
    let examples = schema.get("examples").and_then(Value::as_array).filter(|_| !text.starts_with("one of"));
    if let Some(examples) = examples.filter(|all| !all.is_empty()) {
        text = format!("{text}, such as {}", list(examples));
    }
    if let Some(default) = schema.get("default") {
        text = format!("{text}, default {default}");
    }
    text
}

fn kind(schema: &Value, depth: usize) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return format!("one of {}", list(values));
    }
    if let Some(variants) = schema.get("anyOf").and_then(Value::as_array) {
        return variants.iter().map(|it| kind(it, depth)).collect::<Vec<_>>().join(" or ");
    }
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    };
    if let Some(items) = schema.get("items") {
        return format!("{name}{} of {}", range(schema, ["minItems", "maxItems"]), kind(items, depth));
    }
    let inner = if depth < DEEPEST { members(schema, depth + 1) } else { String::new() };
    let inner = if inner.is_empty() { inner } else { format!(" {{{inner}}}") };
    format!("{name}{}{inner}", range(schema, ["minimum", "maximum"]))
}

/// The bounds, both allowed.
fn range(schema: &Value, keywords: [&str; 2]) -> String {
    match keywords.map(|keyword| schema.get(keyword)) {
        [Some(least), Some(most)] => format!(" {least} to {most}"),
        [Some(least), None] => format!(" of at least {least}"),
        [None, Some(most)] => format!(" of at most {most}"),
        [None, None] => String::new(),
    }
}

fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_values_bounds_and_defaults_stand_on_one_line() {
        let schema = json!({
            "properties": {
                "symbol": {"type": "string", "examples": ["INFY", "TCS"]},
                "sort": {"type": "string", "enum": ["new", "top"], "examples": ["new"], "default": "new"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
                "pages": {"type": "integer", "minimum": 1},
                "tags": {"type": "array", "maxItems": 32, "items": {"type": "string"}},
                "range": {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]},
                "odd\nname": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            },
            "required": ["symbol"],
        });
        let expected = [
            r#"symbol (required): string, such as "INFY", "TCS""#,
            r#"sort: one of "new", "top", default "new""#,
            "limit: integer 1 to 50, default 10",
            "pages: integer of at least 1",
            "tags: array of at most 32 of string",
            "range: object {from (required): string}",
            r#""odd\nname": number or null"#,
        ];
        assert_eq!(parameters(&schema), expected.join("; "));
        assert_eq!(parameters(&json!({"type": "object", "properties": {}})), "none");
    }
}
