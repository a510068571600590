//! Keywords of older drafts, and of OpenAPI, as those of 2020-12 that say the same.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// Whether a schema has any.
pub(super) fn is_older(schema: &Map<String, Value>) -> bool {
    ["exclusiveMinimum", "exclusiveMaximum", "nullable", "required"].into_iter().any(|it| is_flag(schema, it))
        || schema.get("items").is_some_and(Value::is_array)
        || required_members(schema).next().is_some()
}

/// The same schema without them.
pub(super) fn modern(schema: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    if !is_older(schema) {
        return Cow::Borrowed(schema);
    }
    let is_flag = |name| is_flag(schema, name);
    let mut modern = schema.clone();
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if is_flag(flag)
            && modern.shift_remove(flag) == Some(Value::Bool(true))
            && let Some(value) = modern.shift_remove(bound)
        {
            modern.insert(flag.to_owned(), value);
        }
    }
    if let Some(Value::Array(_)) = modern.get("items") {
        let rest = modern.shift_remove("additionalItems");
        let first = std::mem::replace(&mut modern["items"], rest.unwrap_or(Value::Bool(true)));
        modern.insert("prefixItems".to_owned(), first);
    }
    if is_flag("nullable") && modern.shift_remove("nullable") == Some(Value::Bool(true)) {
        allow_null(&mut modern);
    }
    if is_flag("required") {
        // Its owner says it.
        modern.shift_remove("required");
    }
    let names: Vec<_> = required_members(schema).map(|name| json!(name)).collect();
    if let Value::Array(required) = modern.entry("required").or_insert_with(|| json!([])) {
        let missing: Vec<_> = names.into_iter().filter(|name| !required.contains(name)).collect();
        required.extend(missing);
        if required.is_empty() {
            modern.shift_remove("required");
        }
    }
    Cow::Owned(modern)
}

fn is_flag(schema: &Map<String, Value>, name: &str) -> bool {
    schema.get(name).is_some_and(Value::is_boolean)
}

/// The members that say of themselves that they are required.
fn required_members(schema: &Map<String, Value>) -> impl Iterator<Item = &String> {
    let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    members.filter(|(_, member)| member["required"] == true).map(|(name, _)| name)
}

fn allow_null(schema: &mut Map<String, Value>) {
    let types = match schema.get("type") {
        Some(Value::String(kind)) => json!([kind, "null"]),
        Some(Value::Array(kinds)) if !kinds.contains(&json!("null")) => {
            kinds.iter().cloned().chain([json!("null")]).collect()
        }
        _ => return,
    };
    schema.insert("type".to_owned(), types);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_keywords_become_those_that_say_the_same() {
        for (before, after) in [
            (json!({"minimum": 3, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 3})),
            (json!({"maximum": 3, "exclusiveMaximum": false}), json!({"maximum": 3})),
            (json!({"exclusiveMinimum": true}), json!({})),
            (json!({"exclusiveMinimum": 3}), json!({"exclusiveMinimum": 3})),
            (
                json!({"items": [{"type": "string"}], "additionalItems": false}),
                json!({"items": false, "prefixItems": [{"type": "string"}]}),
            ),
            (json!({"items": [{}]}), json!({"items": true, "prefixItems": [{}]})),
            (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"type": ["string", "null"], "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"type": "string", "nullable": false}), json!({"type": "string"})),
            (json!({"type": "string", "required": true}), json!({"type": "string"})),
            (
                json!({"properties": {"a": {"required": true}, "b": {"required": false}, "c": {}}}),
                json!({"properties": {"a": {"required": true}, "b": {"required": false}, "c": {}}, "required": ["a"]}),
            ),
            (json!({"required": ["a"]}), json!({"required": ["a"]})),
        ] {
            let Value::Object(schema) = before else { panic!("an object") };
            assert_eq!(Value::Object(modern(&schema).into_owned()), after);
        }
    }
}
