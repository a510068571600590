//! A list of types as `anyOf` of a schema each, which providers of models take.
//!
//! What restricts values of one type goes with that type, so that each branch is a whole schema; what restricts all
//! values stays beside the choice.

use serde_json::{Map, Value, json};

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// The same schema with one type at most. An error is what is wrong with its list.
pub(super) fn without_list(mut schema: Map<String, Value>) -> Result<Map<String, Value>, &'static str> {
    let Some(Value::Array(listed)) = schema.get("type") else { return Ok(schema) };
    let mut types: Vec<&'static str> = Vec::new();
    for listed in listed {
        let known = TYPES.into_iter().find(|it| listed == it).ok_or("a type is a name such as `string`")?;
        if !types.contains(&known) {
            types.push(known);
        }
    }
    if types.is_empty() {
        return Err("a list of types names at least one");
    }
    let mut branches: Vec<_> = types.iter().filter_map(|it| branch(it, &schema, &types)).collect();
    // Nothing is of these types and among the values too: then the values say it.
    if branches.is_empty() {
        schema.insert("type".to_owned(), types[0].into());
        return Ok(schema);
    }
    let is_apart =
        |keyword: &str| types.iter().any(|it| is_of(it, keyword)) || ["const", "enum"].contains(&keyword);
    let has_choice = schema.contains_key("anyOf");
    let mut whole = Map::new();
    for (keyword, value) in schema {
        match keyword.as_str() {
            "type" if branches.len() == 1 => whole.append(&mut branches[0]),
            "type" if has_choice => {}
            "type" => drop(whole.insert("anyOf".to_owned(), std::mem::take(&mut branches).into())),
            keyword if is_apart(keyword) => {}
            _ => drop(whole.insert(keyword, value)),
        }
    }
    if branches.len() > 1 {
        let choice = json!({"anyOf": branches});
        match whole.entry("allOf").or_insert_with(|| json!([])) {
            Value::Array(all) => all.push(choice),
            _ => return Err("`allOf` is a list of schemas"),
        }
    }
    Ok(whole)
}

/// The schema of values of one type. `None` if none of them is among those that are named.
fn branch(kind: &str, schema: &Map<String, Value>, types: &[&str]) -> Option<Map<String, Value>> {
    let mut branch = Map::from_iter([("type".to_owned(), json!(kind))]);
    let fits = |value: &Value| type_of(value, types) == Some(kind);
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("enum", Value::Array(values)) => {
                let fitting: Vec<_> = values.iter().filter(|it| fits(it)).cloned().collect();
                if fitting.is_empty() {
                    return None;
                }
                if kind != "null" {
                    branch.insert(keyword.clone(), fitting.into());
                }
            }
            ("const", value) if !fits(value) => return None,
            ("const", _) if kind == "null" => {}
            (other, _) if other == "const" || is_of(kind, other) => {
                branch.insert(keyword.clone(), value.clone());
            }
            _ => {}
        }
    }
    Some(branch)
}

/// The first of the types that a value has.
fn type_of<'a>(value: &Value, types: &[&'a str]) -> Option<&'a str> {
    let is = |kind: &str| match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(it) => {
            kind == "number" || (kind == "integer" && it.as_f64().is_some_and(|it| it.fract() == 0.0))
        }
    };
    types.iter().copied().find(|kind| is(kind))
}

/// Whether a keyword restricts values of one type only.
fn is_of(kind: &str, keyword: &str) -> bool {
    match keyword {
        "contentEncoding" | "contentMediaType" | "contentSchema" | "format" | "maxLength" | "minLength"
        | "pattern" => kind == "string",
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" | "multipleOf" => {
            kind == "number" || kind == "integer"
        }
        "additionalItems" | "contains" | "items" | "maxContains" | "maxItems" | "minContains"
        | "minItems" | "prefixItems" | "unevaluatedItems" | "uniqueItems" => kind == "array",
        "additionalProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxProperties"
        | "minProperties"
        | "patternProperties"
        | "properties"
        | "propertyNames"
        | "required"
        | "unevaluatedProperties" => kind == "object",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::OPTIONS;
    use toolwire_schema::{Schema, Work};

    fn split(schema: &Value) -> Value {
        let Value::Object(schema) = schema.clone() else { panic!("an object") };
        without_list(schema).expect("split").into()
    }

    #[test]
    fn each_type_has_what_restricts_it_and_the_rest_stays() {
        assert_eq!(
            split(&json!({"description": "A", "type": ["string", "null"], "minLength": 1, "default": null})),
            json!({"description": "A", "anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}], "default": null})
        );
        assert_eq!(
            split(&json!({"type": ["string"], "maxLength": 2})),
            json!({"type": "string", "maxLength": 2})
        );
        assert_eq!(
            split(&json!({"type": ["boolean", "string", "boolean"]})),
            json!({"anyOf": [{"type": "boolean"}, {"type": "string"}]})
        );
        assert_eq!(
            split(&json!({"type": ["string", "null"], "enum": ["a", "b", null]})),
            json!({"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]})
        );
        assert_eq!(
            split(&json!({"type": ["string", "null"], "enum": ["a"]})),
            json!({"type": "string", "enum": ["a"]})
        );
        assert_eq!(
            split(&json!({"type": ["array", "object"], "items": {"type": "string"}, "required": ["a"]})),
            json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object", "required": ["a"]}]})
        );
        assert_eq!(
            split(&json!({"type": ["string", "null"], "anyOf": [{"const": "a"}, {"const": null}]})),
            json!({"anyOf": [{"const": "a"}, {"const": null}], "allOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}]})
        );
        for wrong in [json!([]), json!(["text"]), json!([7]), json!([["string"]])] {
            let Value::Object(schema) = json!({"type": wrong}) else { panic!("an object") };
            assert!(without_list(schema).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_same_values_are_valid() {
        let schemas = [
            json!({"type": ["string", "null"], "minLength": 2}),
            json!({"type": ["integer", "string"], "minimum": 3, "pattern": "^a"}),
            json!({"type": ["integer", "number"], "maximum": 3}),
            json!({"type": ["number", "null", "boolean"], "enum": [1, 2.5, null, "a"]}),
            json!({"type": ["string", "integer"], "enum": [true]}),
            json!({"type": ["string", "null"], "const": null}),
            json!({"type": ["string", "null"], "const": "ab"}),
            json!({"type": ["array", "object", "string"], "items": {"type": "integer"}, "required": ["a"], "minLength": 1}),
            json!({"type": ["string", "integer"], "anyOf": [{"minLength": 3}, {"minimum": 3}], "not": {"const": 7}}),
            json!({"type": ["string", "integer"], "allOf": [{"anyOf": [{"const": "a"}, {"const": 7}]}], "minimum": 8}),
        ];
        let values = [
            json!(null),
            json!(true),
            json!(1),
            json!(2.5),
            json!(7),
            json!(3.0),
            json!(""),
            json!("a"),
            json!("ab"),
            json!("abc"),
            json!([]),
            json!([1]),
            json!(["a"]),
            json!({}),
            json!({"a": 1}),
        ];
        for schema in schemas {
            let after = split(&schema);
            assert!(!after.to_string().contains(r#""type":["#), "{after}");
            let valid = |schema: &Value| {
                let schema = Schema::compile(schema, OPTIONS).expect("compiles");
                let is_valid = |value| schema.accepts(value, &mut Work::all()).expect("little work");
                values.iter().map(is_valid).collect::<Vec<_>>()
            };
            assert_eq!(valid(&schema), valid(&after), "{schema} {after}");
        }
    }
}
