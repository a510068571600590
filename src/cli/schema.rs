//! A JSON Schema for people: one row a field, with dotted paths for nested ones.

use serde_json::Value;

use toolwire_engine::registry::pattern_in_words;

/// How deep the rows go.
const MAX_DEPTH: usize = 3;

/// The constraints that are shown, in words.
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

/// The types that a schema allows; empty if it has none.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    let mut types = Vec::new();
    for variant in variants(schema) {
        let named = match &variant["type"] {
            Value::String(one) => vec![one.as_str()],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        types.extend(named.into_iter().filter(|kind| !types.contains(kind)).collect::<Vec<_>>());
    }
    types
}

/// The schema itself and those of which it allows any, such as an object and null.
fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    let any = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| schema[keyword].as_array()).flatten();
    std::iter::once(schema).chain(any)
}

/// The one among the variants that has a keyword.
pub(super) fn having<'a>(schema: &'a Value, keyword: &str) -> &'a Value {
    variants(schema).find(|variant| variant.get(keyword).is_some()).unwrap_or(&Value::Null)
}

fn collect(schema: &Value, prefix: &str, depth: usize, rows: &mut Vec<[String; 4]>) {
    let schema = having(schema, "properties");
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, field) in properties {
        let path = format!("{prefix}{name}");
        let need = if is_required(schema, name) { "required" } else { "optional" };
        rows.push([path.clone(), type_of(field), need.to_owned(), description(field)]);
        if depth + 1 < MAX_DEPTH {
            collect(field, &format!("{path}."), depth + 1, rows);
            collect(&having(field, "items")["items"], &format!("{path}[]."), depth + 1, rows);
        }
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|it| it == name))
}

fn type_of(field: &Value) -> String {
    let word = |kind: &str| match (kind, &having(field, "items")["items"]) {
        ("array", items) if !items.is_null() => format!("array of {}", as_one(&type_of(items))),
        (kind, _) => kind.to_owned(),
    };
    match types(field).as_slice() {
        [] => "any".to_owned(),
        kinds => kinds.iter().map(|kind| word(kind)).collect::<Vec<_>>().join(" or "),
    }
}

/// In brackets where it is several words that belong together.
fn as_one(kinds: &str) -> String {
    if kinds.contains(" or ") { format!("({kinds})") } else { kinds.to_owned() }
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
    let bounds =
        BOUNDS.into_iter().filter_map(|(keyword, words)| Some(bound(keyword, words, field.get(keyword)?)));
    let default = field.get("default").map(|default| format!("default {}", plain(default)));
    choices.into_iter().chain(bounds).chain(default).collect()
}

fn bound(keyword: &str, words: &str, value: &Value) -> String {
    let pattern = value.as_str().filter(|_| keyword == "pattern").and_then(pattern_in_words);
    pattern.map_or_else(|| format!("{words}{}", plain(value)), str::to_owned)
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
                "fund": {"description": "The fund.", "anyOf": [
                    {"type": "object", "properties": {"fee": {"type": ["number", "null"]}}, "required": ["fee"]},
                    {"type": "null"}
                ]},
                "days": {"oneOf": [{"type": "array", "items": {"anyOf": [
                    {"type": "object", "properties": {"close": {"type": "number"}}}, {"type": "null"}
                ]}}, {"type": "null"}]},
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
                "fund / object or null / optional / The fund.",
                "fund.fee / number or null / required / ",
                "days / array of (object or null) or null / optional / ",
                "days[].close / number / optional / ",
            ]
        );
    }
}
