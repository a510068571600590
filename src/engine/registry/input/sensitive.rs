//! Masks the values of sensitive parameters.

use serde_json::Value;

use crate::registry::field_declaration::SENSITIVE;
use toolwire_contract::{arguments::Arguments, redaction::REDACTED};

/// Whether a schema contains a sensitive parameter.
pub(super) fn any(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => is_sensitive(schema) || members.values().any(any),
        Value::Array(elements) => elements.iter().any(any),
        _ => false,
    }
}

/// The arguments with sensitive values masked. Where it depends on other keywords than `properties`,
/// `additionalProperties` and `items` which part of a value is sensitive, all of the value is masked.
pub(super) fn mask_all(schema: &Value, arguments: &Arguments) -> Arguments {
    let is_unclear = is_unclear(schema);
    let of_others = schema_of_values(schema);
    let masked = |(name, value): (&String, &Value)| {
        let of_name = schema.get("properties").and_then(|properties| properties.get(name));
        let masked = match of_name.or(of_others) {
            _ if is_unclear && !value.is_null() => REDACTED.into(),
            Some(schema) => mask(schema, value),
            None => value.clone(),
        };
        (name.clone(), masked)
    };
    arguments.iter().map(masked).collect()
}

fn mask(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        _ if is_sensitive(schema) || is_unclear(schema) => REDACTED.into(),
        Value::Object(members) => Value::Object(mask_all(schema, members)),
        Value::Array(elements) => {
            let of_each = schema.get("items").unwrap_or(&Value::Null);
            elements.iter().map(|element| mask(of_each, element)).collect()
        }
        other => other.clone(),
    }
}

/// The schema of the values of a map.
fn schema_of_values(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|values| values.is_object())
}

/// Whether a schema refers to another one, or has a sensitive parameter under a keyword that applies to some values
/// only, such as `anyOf` or `patternProperties`.
fn is_unclear(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else { return false };
    keywords.iter().any(|(keyword, of_keyword)| match keyword.as_str() {
        "$ref" | "$dynamicRef" => true,
        // Those that the mask follows, and those that hold values and no schema.
        "properties" | "additionalProperties" | "items" | "const" | "default" | "enum" | "examples" => false,
        _ => any(of_keyword),
    })
}

/// By the keyword of JSON Schema, or by the word of a manifest in the schema of a provider.
fn is_sensitive(schema: &Value) -> bool {
    [SENSITIVE, "sensitive"].iter().any(|keyword| schema.get(keyword).is_some_and(|it| it == true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_sensitive_is_masked_wherever_it_stands() {
        let schema = json!({"properties": {
            "to": {"type": "string"},
            "token": {"type": "string", "writeOnly": true},
            "cards": {"items": {"properties": {"number": {"writeOnly": true}, "name": {}}}},
            "by_name": {"additionalProperties": {"writeOnly": true}}
        }});
        let given = json!({
            "to": "a", "token": "s3cret", "cards": [{"number": 42, "name": "n"}], "by_name": {"x": "y"}
        });
        let shown = json!({
            "to": "a", "token": REDACTED, "cards": [{"number": REDACTED, "name": "n"}], "by_name": {"x": REDACTED}
        });
        assert!(any(&schema) && !any(&json!({"properties": {"to": {"type": "string"}}})));
        assert_eq!(Value::Object(mask_all(&schema, given.as_object().unwrap())), shown);
    }

    #[test]
    fn what_may_be_sensitive_is_masked_whole() {
        let secret = json!({"writeOnly": true});
        let given = json!({"a": {"pin": 1, "note": "n"}, "b": [1, 2], "c": null, "d": "plain"});
        let masked = |schema: Value| {
            assert!(any(&schema), "{schema}");
            Value::Object(mask_all(&schema, given.as_object().unwrap()))
        };
        let a_masked = json!({"a": REDACTED, "b": [1, 2], "c": null, "d": "plain"});
        let all_masked = json!({"a": REDACTED, "b": REDACTED, "c": null, "d": REDACTED});
        for (of_a, shown) in [
            (json!({"anyOf": [{"properties": {"pin": secret}}, {"type": "string"}]}), &a_masked),
            (json!({"allOf": [{"properties": {"pin": secret}}]}), &a_masked),
            (json!({"patternProperties": {"^p": secret}}), &a_masked),
            (json!({"sensitive": true}), &a_masked),
        ] {
            assert_eq!(masked(json!({"properties": {"a": of_a}})), *shown);
        }
        let by_reference = json!({"properties": {"a": {"$ref": "#/properties/e"}, "e": secret}});
        assert_eq!(masked(by_reference), a_masked);
        let elsewhere = json!({"properties": {"a": {"$ref": "#/$defs/card"}}, "$defs": {"card": secret}});
        assert_eq!(masked(elsewhere), all_masked);
        // A member that has a schema of its own beside those of a map.
        let both = json!({"properties": {"a": {"properties": {"pin": secret}}}, "additionalProperties": {}});
        let shown = json!({"a": {"pin": REDACTED, "note": "n"}, "b": [1, 2], "c": null, "d": "plain"});
        assert_eq!(masked(both), shown);
        // An example is no schema.
        let example = json!({"properties": {"a": {"examples": [{"writeOnly": true}]}}});
        assert_eq!(masked(example), given);
    }
}
