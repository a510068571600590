//! What a schema says besides its type, in words.

use serde_json::Value;

use super::is_literal;
use toolwire_engine::exports::{append_sentences, describe_keyword};

/// The description of a schema, and what else restricts its values.
pub(in crate::generate::python) fn words(schema: &Value) -> String {
    let mut sentences = keywords(schema);
    if let Some(items) = schema.get("items") {
        let of_items = items.get("description").and_then(Value::as_str).map(str::to_owned);
        // Members of objects have words of their own.
        let of_items = of_items.into_iter().chain(keywords(items));
        sentences.extend(of_items.map(|sentence| format!("Elements: {sentence}")));
    }
    append_sentences(schema.get("description"), &sentences).unwrap_or_default()
}

fn keywords(schema: &Value) -> Vec<String> {
    let Value::Object(members) = schema else { return Vec::new() };
    let said = members.iter().filter(|(keyword, value)| !is_hint(keyword, value));
    said.filter_map(|(keyword, value)| describe_keyword(keyword, value)).collect()
}

/// Whether the hint says it: each of the values is a literal.
fn is_hint(keyword: &str, value: &Value) -> bool {
    match (keyword, value) {
        ("const", value) => is_literal(value),
        ("enum", Value::Array(values)) => values.iter().all(is_literal),
        _ => false,
    }
}
