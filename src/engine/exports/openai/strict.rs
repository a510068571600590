//! The strict form of a schema: all objects are closed and all members required; optional ones accept null.
//!
//! The registry treats null as absent, so that a call in this form means the same. Keywords that the form lacks are
//! described in sentences.

use serde_json::{Value, json};

use crate::exports::schema::{Members, append_sentences, describe_keyword, insert_description, without_null};

/// Maximum number of members over all objects of a schema.
const MAX_MEMBERS: usize = 100;
/// Maximum nesting of objects.
const MAX_LEVELS: usize = 5;
/// Maximum number of values over all enums of a schema.
const MAX_ENUM_VALUES: usize = 500;

/// The keywords that the strict form supports.
const KEPT: [&str; 9] = [
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Converts a schema, or returns the reason why it has no strict form.
pub(super) fn of(schema: &Value) -> Result<Value, String> {
    let Value::Object(schema) = schema else { return Err("the schema is not an object".to_owned()) };
    let mut strict = Strict::default();
    let schema = strict.schema(schema, "", 1)?;
    if strict.members > MAX_MEMBERS {
        return Err(format!("it has {} parameters, and strict ones may have {MAX_MEMBERS}", strict.members));
    }
    if strict.words > MAX_ENUM_VALUES {
        return Err(format!(
            "it has {} enum values, and strict ones may have {MAX_ENUM_VALUES}",
            strict.words
        ));
    }
    Ok(Value::Object(schema))
}

#[derive(Debug, Default)]
struct Strict {
    members: usize,
    words: usize,
}

impl Strict {
    fn schema(&mut self, given: &Members, at: &str, level: usize) -> Result<Members, String> {
        let (given, may_be_null) = without_null(given);
        let Some(kind) = given.get("type").and_then(Value::as_str) else {
            return Err(format!("{at} takes any JSON value"));
        };
        let mut made = Members::from_iter([("type".to_owned(), kind.into())]);
        let mut sentences = Vec::new();
        if kind == "object" {
            self.object(&given, at, level, &mut made)?;
        }
        for (keyword, value) in &given {
            match keyword.as_str() {
                "items" => {
                    let items = value.as_object().ok_or_else(|| format!("{at} takes any elements"))?;
                    let items = self.schema(items, &format!("{at}/items"), level)?;
                    made.insert("items".to_owned(), items.into());
                }
                "pattern" => drop(made.insert(keyword.clone(), value.clone())),
                "format" if value.as_str().is_some_and(|it| FORMATS.contains(&it)) => {
                    made.insert(keyword.clone(), value.clone());
                }
                kept if KEPT.contains(&kept) => {
                    self.words += value.as_array().map_or(0, Vec::len);
                    made.insert(keyword.clone(), value.clone());
                }
                other => sentences.extend(describe_keyword(other, value)),
            }
        }
        if kind == "array" && !made.contains_key("items") {
            return Err(format!("{at} takes any elements"));
        }
        insert_description(&mut made, append_sentences(given.get("description"), &sentences));
        Ok(if may_be_null { or_null(made) } else { made })
    }

    fn object(&mut self, given: &Members, at: &str, level: usize, made: &mut Members) -> Result<(), String> {
        let is_closed = given.get("additionalProperties") == Some(&Value::Bool(false));
        let properties = given.get("properties").and_then(Value::as_object).filter(|_| is_closed);
        let Some(properties) = properties else { return Err(format!("{at} takes any members")) };
        if level > MAX_LEVELS {
            return Err(format!("its objects are nested deeper than {MAX_LEVELS} levels"));
        }
        self.members += properties.len();
        let required: Vec<_> =
            given.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        let mut all = Members::new();
        for (name, property) in properties {
            let at = format!("{at}/{name}");
            let property = property.as_object().ok_or_else(|| format!("{at} takes any JSON value"))?;
            let property = self.schema(property, &at, level + 1)?;
            let is_required = required.iter().any(|it| *it == name);
            all.insert(name.clone(), if is_required { property } else { or_null(property) }.into());
        }
        let names: Value = all.keys().map(String::as_str).collect();
        made.insert("properties".to_owned(), all.into());
        made.insert("required".to_owned(), names);
        made.insert("additionalProperties".to_owned(), false.into());
        Ok(())
    }
}

fn or_null(mut schema: Members) -> Members {
    match schema.get("type").cloned() {
        Some(Value::String(kind)) if kind != "object" => {
            schema.insert("type".to_owned(), json!([kind, "null"]));
            if let Some(Value::Array(words)) = schema.get_mut("enum") {
                words.push(Value::Null);
            }
            // `const` of a value would forbid null.
            if let Some(only) = schema.shift_remove("const") {
                schema.insert("enum".to_owned(), json!([only, null]));
            }
            schema
        }
        // Accepts null already.
        Some(Value::Array(_)) | None => schema,
        Some(_) => {
            let description = schema.shift_remove("description");
            let mut choice = Members::from_iter([("anyOf".to_owned(), json!([schema, {"type": "null"}]))]);
            insert_description(
                &mut choice,
                description.as_ref().and_then(Value::as_str).map(ToOwned::to_owned),
            );
            choice
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(properties: &Value, required: &[&str]) -> Value {
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    #[track_caller]
    fn refused(schema: &Value) -> String {
        of(schema).expect_err("not strict")
    }

    #[test]
    fn every_member_is_required_and_what_may_be_absent_is_null_instead() {
        let given = closed(
            &json!({
                "symbol": {"type": "string", "description": "The symbol.", "minLength": 1, "examples": ["AAPL"]},
                "period": {"type": "string", "enum": ["1D", "YTD"], "default": "YTD"},
                "where": {"type": "array", "items": closed(&json!({"n": {"type": "integer", "minimum": 0}}), &[])},
                "page": closed(&json!({}), &[]),
            }),
            &["symbol"],
        );
        let expected = closed(
            &json!({
                "symbol": {"type": "string", "description": "The symbol. At least 1 character. Such as `AAPL`."},
                "period": {"type": ["string", "null"], "description": "Default `YTD`.", "enum": ["1D", "YTD", null]},
                "where": {
                    "type": ["array", "null"],
                    "items": closed(&json!({"n": {"type": ["integer", "null"], "minimum": 0}}), &["n"]),
                },
                "page": {"anyOf": [closed(&json!({}), &[]), {"type": "null"}]},
            }),
            &["symbol", "period", "where", "page"],
        );
        assert_eq!(of(&given), Ok(expected));
    }

    #[test]
    fn what_has_no_strict_form_says_where() {
        let of = |property: Value| refused(&closed(&json!({"a": property}), &[]));
        assert_eq!(of(json!({"type": "object"})), "/a takes any members");
        assert_eq!(of(json!({"description": "Anything."})), "/a takes any JSON value");
        assert_eq!(of(json!({"type": "array"})), "/a takes any elements");
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        assert_eq!(of(map), "/a takes any members");
    }

    #[test]
    fn a_schema_beyond_the_bounds_is_not_strict() {
        let many = |count: usize| {
            let members = (0..count).map(|n| (n.to_string(), json!({"type": "string"})));
            closed(&Value::Object(members.collect()), &[])
        };
        assert!(super::of(&many(MAX_MEMBERS)).is_ok());
        assert!(refused(&many(MAX_MEMBERS + 1)).contains("101 parameters"));
        let deep =
            |levels| (1..levels).fold(closed(&json!({}), &[]), |it, _| closed(&json!({ "a": it }), &[]));
        assert!(super::of(&deep(MAX_LEVELS)).is_ok());
        assert!(refused(&deep(MAX_LEVELS + 1)).contains("deeper than 5 levels"));
        let many: Vec<_> = (0..=MAX_ENUM_VALUES).map(|n| n.to_string()).collect();
        let schema = closed(&json!({"a": {"type": "string", "enum": many}}), &[]);
        assert!(refused(&schema).contains("501 enum values"));
    }
}
