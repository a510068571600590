//! What a JSON Schema says, for people: one row a field, with dotted paths for what lies deeper.

use serde_json::Value;

/// How deep the rows go.
const MAX_DEPTH: usize = 3;

/// The constraints that are shown, as people say them.
const BOUNDS: [(&str, &str); 7] = [
    ("minimum", "at least "),
    ("maximum", "at most "),
    ("minLength", "min. length "),
    ("maxLength", "max. length "),
    ("minItems", "min. items "),
    ("maxItems", "max. items "),
    ("pattern", "like "),
];

/// A schema from its text; of no fields if there is none.
pub(super) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Path, type, whether it must be given, and description of every field.
pub(super) fn rows(schema: &Value) -> Vec<[String; 4]> {
    let mut rows = Vec::new();
    collect(schema, "", 0, &mut rows);
    rows
}

/// Whether a schema allows values of a type.
pub(super) fn allows(schema: &Value, kind: &str) -> bool {
    types(schema).contains(&kind)
}

/// The types that a schema allows; none if it does not say.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn collect(schema: &Value, prefix: &str, depth: usize, rows: &mut Vec<[String; 4]>) {
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, field) in properties {
        let path = format!("{prefix}{name}");
        let need = if is_required(schema, name) { "required" } else { "optional" };
        rows.push([path.clone(), type_of(field), need.to_owned(), description(field)]);
        if depth + 1 < MAX_DEPTH {
            collect(field, &format!("{path}."), depth + 1, rows);
            collect(&field["items"], &format!("{path}[]."), depth + 1, rows);
        }
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|it| it == name))
}

fn type_of(field: &Value) -> String {
    let word = |kind: &str| match (kind, &field["items"]) {
        ("array", items) if !items.is_null() => format!("array of {}", type_of(items)),
        (kind, _) => kind.to_owned(),
    };
    match types(field).as_slice() {
        [] => "any".to_owned(),
        kinds => kinds.iter().map(|kind| word(kind)).collect::<Vec<_>>().join(" or "),
    }
}

fn description(field: &Value) -> String {
    let text = field["description"].as_str().unwrap_or_default().replace('\n', " ");
    let notes = notes(field);
    match (text.is_empty(), notes.is_empty()) {
        (_, true) => text,
        (true, false) => format!("[{}]", notes.join(", ")),
        (false, false) => format!("{text} [{}]", notes.join(", ")),
    }
}

fn notes(field: &Value) -> Vec<String> {
    let choices =
        field["enum"].as_array().map(|choices| choices.iter().map(plain).collect::<Vec<_>>().join(" | "));
    let bounds = BOUNDS
        .into_iter()
        .filter_map(|(keyword, words)| Some(format!("{words}{}", plain(field.get(keyword)?))));
    let default = field.get("default").map(|default| format!("default {}", plain(default)));
    choices.into_iter().chain(bounds).chain(default).collect()
}

/// A value without the quotes of a text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_says_what_the_schema_says() {
        let schema = json!({
            "type": "object",
            "properties": {
                "period": {"type": "string", "description": "The period.", "enum": ["1Y", "YTD"], "default": "YTD"},
                "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 50},
                "lots": {"type": "array", "items": {
                    "type": "object", "properties": {"price": {"type": "number", "description": "In USD."}},
                    "required": ["price"]
                }},
            },
            "required": ["limit"]
        });
        let rows: Vec<_> = rows(&schema).iter().map(|row| row.join(" / ")).collect();
        assert_eq!(
            rows,
            [
                "period / string / optional / The period. [1Y | YTD, default YTD]",
                "limit / integer or null / required / [at least 1, at most 50]",
                "lots / array of object / optional / ",
                "lots[].price / number / required / In USD.",
            ]
        );
    }
}
