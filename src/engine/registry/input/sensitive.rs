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

/// The arguments with sensitive values masked.
pub(super) fn mask_all(schema: &Value, arguments: &Arguments) -> Arguments {
    let masked = |(name, value): (&String, &Value)| {
        let schema = schema.get("properties").and_then(|properties| properties.get(name));
        (name.clone(), mask(schema.unwrap_or(&Value::Null), value))
    };
    arguments.iter().map(masked).collect()
}

fn mask(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        _ if is_sensitive(schema) => REDACTED.into(),
        Value::Object(members) => match schema_of_values(schema) {
            Some(of_each) => {
                members.iter().map(|(name, value)| (name.clone(), mask(of_each, value))).collect()
            }
            None => Value::Object(mask_all(schema, members)),
        },
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

fn is_sensitive(schema: &Value) -> bool {
    schema.get(SENSITIVE).is_some_and(|it| it == true)
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
}
