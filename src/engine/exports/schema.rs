//! Transformations of JSON Schemas that several formats share: removes the dialect and null, and describes keywords in
//! sentences.
//!
//! The registry's schemas use few keywords; an unknown keyword has no description and is dropped.

use serde_json::{Map, Value};

use crate::registry::pattern_in_words;
use toolwire_base::words::counted;

pub(super) type Members = Map<String, Value>;

/// Removes `$schema`, which every provider assumes and every tool would repeat.
pub(super) fn without_dialect(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema {
        members.shift_remove("$schema");
    }
    schema
}

/// Removes null from the accepted values. Returns the schema and whether it accepted null.
pub(super) fn without_null(schema: &Members) -> (Members, bool) {
    let is_null = |kind: &Value| kind == "null";
    let mut found = schema.clone();
    if let Some(Value::Array(kinds)) = schema.get("type")
        && let (true, [kind]) =
            (kinds.iter().any(is_null), kinds.iter().filter(|it| !is_null(it)).collect::<Vec<_>>().as_slice())
    {
        found.insert("type".to_owned(), (*kind).clone());
        if let Some(Value::Array(words)) = found.get_mut("enum") {
            words.retain(|word| !word.is_null());
        }
        return (found, true);
    }
    if let Some(Value::Array(choices)) = schema.get("anyOf")
        && let [Value::Object(choice), Value::Object(null)] = choices.as_slice()
        && null.get("type").is_some_and(is_null)
    {
        found.shift_remove("anyOf");
        let choice = choice.clone().into_iter().chain(found).collect();
        return (choice, true);
    }
    (found, false)
}

/// The same schema in which `anyOf` stands for each list of types: a validator takes both, and many clients of models
/// know a single type only.
pub(super) fn without_type_lists(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let members = members.iter().map(|(keyword, value)| {
        let value = match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
                Value::Object(of),
            ) => of.iter().map(|(name, schema)| (name.clone(), without_type_lists(schema))).collect(),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter().map(without_type_lists).collect()
            }
            ("items" | "additionalProperties" | "contains" | "not" | "if" | "then" | "else", schema) => {
                without_type_lists(schema)
            }
            (_, value) => value.clone(),
        };
        (keyword.clone(), value)
    });
    Value::Object(split_types(members.collect()))
}

/// The keywords that describe a schema and restrict no value.
const ANNOTATIONS: [&str; 7] =
    ["$schema", "title", "description", "default", "examples", "deprecated", "$defs"];

/// The keywords that restrict null too.
const OF_ANY_TYPE: [&str; 9] = ["$ref", "const", "not", "anyOf", "oneOf", "allOf", "if", "then", "else"];

/// A schema with a list of types, as a choice of one schema for each.
fn split_types(schema: Members) -> Members {
    let Some(Value::Array(kinds)) = schema.get("type") else { return schema };
    let choices: Vec<_> = kinds.iter().filter_map(|kind| restricted_to(kind, &schema)).collect();
    let mut split = Members::new();
    for (keyword, value) in &schema {
        if keyword == "type" {
            split.insert("anyOf".to_owned(), choices.clone().into());
        } else if ANNOTATIONS.contains(&keyword.as_str()) {
            split.insert(keyword.clone(), value.clone());
        }
    }
    split
}

/// The restrictions of a schema for values of one of its types. `None` if its words have none of that type.
fn restricted_to(kind: &Value, schema: &Members) -> Option<Value> {
    let is_null = kind == "null";
    let mut choice = Members::from_iter([("type".to_owned(), kind.clone())]);
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("enum", Value::Array(words)) if is_null => _ = words.iter().find(|word| word.is_null())?,
            ("enum", Value::Array(words)) => {
                let words = words.iter().filter(|word| !word.is_null()).cloned().collect();
                choice.insert(keyword.clone(), words);
            }
            ("type", _) => {}
            (annotation, _) if ANNOTATIONS.contains(&annotation) => {}
            (other, _) if is_null && !OF_ANY_TYPE.contains(&other) => {}
            _ => _ = choice.insert(keyword.clone(), value.clone()),
        }
    }
    Some(choice.into())
}

/// Describes a keyword and its value in a sentence. `None` for a keyword that means nothing by itself or is unknown.
pub fn describe_keyword(keyword: &str, value: &Value) -> Option<String> {
    let count = |one, many| Some(counted(value.as_u64()?, one, many));
    Some(match keyword {
        "minLength" => format!("At least {}.", count("character", "characters")?),
        "maxLength" => format!("At most {}.", count("character", "characters")?),
        "minItems" => format!("At least {}.", count("element", "elements")?),
        "maxItems" => format!("At most {}.", count("element", "elements")?),
        "minProperties" => format!("At least {}.", count("member", "members")?),
        "maxProperties" => format!("At most {}.", count("member", "members")?),
        "minimum" => format!("At least {value}."),
        "maximum" => format!("At most {value}."),
        "exclusiveMinimum" => format!("More than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "multipleOf" => format!("A multiple of {value}."),
        "uniqueItems" if value == &Value::Bool(true) => "No element twice.".to_owned(),
        "format" => format!("Format: {}.", value.as_str()?),
        "default" => format!("Default {}.", quote(value)),
        "const" => format!("Always {}.", quote(value)),
        "enum" => format!("One of {}.", list(value.as_array()?)),
        "examples" => format!("Such as {}.", list(value.as_array().filter(|it| !it.is_empty())?)),
        "pattern" => {
            let pattern = value.as_str()?;
            match pattern_in_words(pattern) {
                Some(words) => format!("Must be {words}."),
                None => format!("Must match the regular expression `{pattern}`."),
            }
        }
        _ => return None,
    })
}

/// Appends sentences to a description, except those that it already contains.
pub fn append_sentences(description: Option<&Value>, sentences: &[String]) -> Option<String> {
    let mut text = description.and_then(Value::as_str).unwrap_or_default().trim_end().to_owned();
    for sentence in sentences {
        if !text.contains(sentence.trim_end_matches('.')) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(sentence);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Inserts a description after the type.
pub(super) fn insert_description(schema: &mut Members, description: Option<String>) {
    if let Some(description) = description {
        let index = usize::from(schema.contains_key("type"));
        schema.shift_insert(index, "description".to_owned(), description.into());
    }
}

fn list(values: &[Value]) -> String {
    values.iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// A value as a model must write it, in backticks.
fn quote(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn members(schema: &Value) -> Members {
        schema.as_object().expect("an object").clone()
    }

    #[test]
    fn null_is_taken_out_in_each_of_its_forms() {
        let list = json!({"type": ["string", "null"], "description": "A.", "enum": ["a", null]});
        let expected = json!({"type": "string", "description": "A.", "enum": ["a"]});
        assert_eq!(without_null(&members(&list)), (members(&expected), true));
        let choice = json!({"anyOf": [{"type": "object"}, {"type": "null"}], "description": "A."});
        let expected = json!({"type": "object", "description": "A."});
        assert_eq!(without_null(&members(&choice)), (members(&expected), true));
        let plain = members(&json!({"type": "string"}));
        assert_eq!(without_null(&plain), (plain.clone(), false));
    }

    #[test]
    fn lists_of_types_are_choices_at_every_depth() {
        let schema = json!({
            "type": "object",
            "properties": {
                "type": {"type": ["string", "null"], "description": "A.", "enum": ["a", null], "maxLength": 3},
                "rows": {"type": "array", "items": {"type": ["number", "null"], "minimum": 0}},
                "fee": {"anyOf": [{"type": "object", "properties": {"n": {"type": ["integer", "null"]}}},
                                  {"type": "null"}]},
            },
            "additionalProperties": {"type": ["string", "integer"]},
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "type": {"anyOf": [{"type": "string", "enum": ["a"], "maxLength": 3}, {"type": "null"}],
                         "description": "A."},
                "rows": {"type": "array", "items": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]}},
                "fee": {"anyOf": [
                    {"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
                    {"type": "null"},
                ]},
            },
            "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        });
        assert_eq!(without_type_lists(&schema), expected);
        let words = json!({"type": ["string", "null"], "enum": ["a"]});
        assert_eq!(without_type_lists(&words), json!({"anyOf": [{"type": "string", "enum": ["a"]}]}));
    }

    #[test]
    fn what_a_description_says_already_is_not_said_twice() {
        let description = json!("The period. Default `YTD`; one of nine.");
        let sentences = ["Default `YTD`.".to_owned(), "At most 1 character.".to_owned()];
        let expected = "The period. Default `YTD`; one of nine. At most 1 character.";
        assert_eq!(append_sentences(Some(&description), &sentences).as_deref(), Some(expected));
        assert_eq!(append_sentences(None, &[]), None);
    }

    #[test]
    fn keywords_are_said_in_words() {
        for (keyword, value, expected) in [
            ("minLength", json!(1), "At least 1 character."),
            ("maxItems", json!(10), "At most 10 elements."),
            ("exclusiveMinimum", json!(0.5), "More than 0.5."),
            ("default", json!("YTD"), "Default `YTD`."),
            ("default", json!([1]), "Default `[1]`."),
            ("enum", json!([1, 2]), "One of `1`, `2`."),
            ("pattern", json!(r"\S"), "Must be a text that is not blank."),
            ("pattern", json!("^a$"), "Must match the regular expression `^a$`."),
        ] {
            assert_eq!(describe_keyword(keyword, &value).as_deref(), Some(expected), "{keyword}");
        }
        for (keyword, value) in [
            ("examples", json!([])),
            ("uniqueItems", json!(false)),
            ("if", json!({})),
            ("minLength", json!(-1)),
        ] {
            assert_eq!(describe_keyword(keyword, &value), None, "{keyword}");
        }
    }
}
