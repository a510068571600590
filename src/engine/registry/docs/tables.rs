//! Renders schemas as tables, with nested fields by dotted path.

use serde_json::Value;

use crate::registry::schema::pattern_in_words;

/// The constraints in the order of the table, with their labels.
const CONSTRAINTS: [(&str, &str); 9] = [
    ("enum", "one of"),
    ("minimum", "≥"),
    ("maximum", "≤"),
    ("minLength", "characters ≥"),
    ("maxLength", "characters ≤"),
    ("minItems", "elements ≥"),
    ("maxItems", "elements ≤"),
    ("pattern", "matches"),
    ("format", "format"),
];

/// The table of a tool's parameters; empty if there are none.
pub(super) fn parameters(schema: &Value) -> String {
    let row = |field: Field<'_>| {
        let required = if field.is_required { "yes" } else { "no" };
        let default = field.schema.get("default").map(code).unwrap_or_default();
        let constraints = constraints(field.schema);
        let description = description(field.schema);
        [
            format!("`{}`", field.path),
            type_of(field.schema),
            required.to_owned(),
            default,
            constraints,
            description,
        ]
    };
    let rows: Vec<_> = fields(schema, "").into_iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    table(["name", "type", "required", "default", "constraints", "description"], rows)
}

/// The table of returned fields; empty if there are none.
pub(super) fn returns(schema: &Value) -> String {
    let row = |field: Field<'_>| {
        let description = [description(field.schema), constraints(field.schema)];
        let description =
            description.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" — ");
        [format!("`{}`", field.path), type_of(field.schema), description]
    };
    let rows: Vec<_> = fields(schema, "").into_iter().map(row).collect();
    if rows.is_empty() { String::new() } else { table(["name", "type", "description"], rows) }
}

pub(super) fn table<const N: usize>(heads: [&str; N], rows: Vec<[String; N]>) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![line(heads.map(str::to_owned).to_vec()), line(vec!["---".to_owned(); N])];
    lines.extend(rows.into_iter().map(|row| line(row.map(|cell| escape(&cell)).to_vec())));
    lines.join("\n")
}

struct Field<'a> {
    path: String,
    schema: &'a Value,
    is_required: bool,
}

/// The fields of an object and of the objects within it, parents first.
fn fields<'a>(schema: &'a Value, parent: &str) -> Vec<Field<'a>> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|it| it == name));
    let mut all = Vec::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = format!("{parent}{name}");
        let (inner, suffix) = inner(property);
        let nested = fields(inner, &format!("{path}{suffix}."));
        all.push(Field { path, schema: property, is_required: is_required(name) });
        all.extend(nested);
    }
    all
}

/// The schema that contains the nested fields of a field, and the suffix of their paths.
fn inner(property: &Value) -> (&Value, &'static str) {
    let object = property.pointer("/anyOf/0").unwrap_or(property);
    if let Some(items) = object.get("items") {
        return (items, "[]");
    }
    match object.get("additionalProperties").filter(|values| values.is_object()) {
        Some(values) => (values, "{}"),
        None => (object, ""),
    }
}

fn type_of(schema: &Value) -> String {
    if let Some(Value::Array(variants)) = schema.get("anyOf") {
        return variants.iter().map(type_of).collect::<Vec<_>>().join(" or ");
    }
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    };
    match schema.get("items") {
        Some(items) => format!("{name} of {}", type_of(items)),
        None => name,
    }
}

fn description(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn constraints(schema: &Value) -> String {
    let constraint = |(keyword, word): (&str, &str)| {
        let value = schema.get(keyword)?;
        let words = value.as_str().filter(|_| keyword == "pattern").and_then(pattern_in_words);
        Some(words.map_or_else(|| format!("{word} {}", code(value)), str::to_owned))
    };
    let own = CONSTRAINTS.into_iter().filter_map(constraint);
    let items = schema.get("items").map(constraints).filter(|text| !text.is_empty());
    own.chain(items.map(|text| format!("each: {text}"))).collect::<Vec<_>>().join("; ")
}

fn code(value: &Value) -> String {
    match value {
        Value::Array(words) => words.iter().map(code).collect::<Vec<_>>().join(", "),
        Value::String(word) if !word.is_empty() => format!("`{word}`"),
        other => format!("`{other}`"),
    }
}

fn escape(cell: &str) -> String {
    cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', r"\|")
}
