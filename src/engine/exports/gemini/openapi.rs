//! Converts a schema to Gemini's `Schema`, a subset of `OpenAPI` 3.0: types in capitals, null as
//! `nullable`, counts as strings, and an order of properties. Keywords that it lacks are described in sentences.

use serde_json::{Value, json};

use crate::exports::schema::{Members, append_sentences, describe_keyword, insert_description, without_null};

/// Converts the parameters of a tool; `None` if it has none. The second value lists what cannot be expressed.
pub(super) fn of(schema: &Value) -> (Option<Value>, Vec<String>) {
    let mut writer = Writer::default();
    let members = schema.as_object().filter(|it| !properties(it).is_some_and(Members::is_empty));
    let made = members.map(|members| writer.schema(members, "").into());
    (made, writer.missing)
}

#[derive(Debug, Default)]
struct Writer {
    missing: Vec<String>,
}

impl Writer {
    fn schema(&mut self, given: &Members, at: &str) -> Members {
        let (given, is_nullable) = without_null(given);
        let mut made = self.kind(&given, at);
        let mut sentences = Vec::new();
        for (keyword, value) in &given {
            self.keyword(keyword, value, at, &mut made, &mut sentences);
        }
        if is_nullable {
            made.insert("nullable".to_owned(), true.into());
        }
        insert_description(&mut made, append_sentences(given.get("description"), &sentences));
        made
    }

    fn kind(&mut self, given: &Members, at: &str) -> Members {
        let Some(kind) = given.get("type").and_then(Value::as_str) else {
            self.missing.push(format!(
                "{at} takes any JSON value; here it is a text, a number, true or false, or a list of these"
            ));
            let plain = json!([{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]);
            let list = json!({"type": "ARRAY", "items": {"anyOf": plain}});
            let choices = plain.as_array().into_iter().flatten().cloned().chain([list]).collect::<Value>();
            return Members::from_iter([("anyOf".to_owned(), choices)]);
        };
        if kind == "object" && properties(given).is_none_or(Members::is_empty) {
            self.missing
                .push(format!("{at} takes any members; older models refuse an object without stated ones"));
        }
        Members::from_iter([("type".to_owned(), kind.to_uppercase().into())])
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        at: &str,
        made: &mut Members,
        sentences: &mut Vec<String>,
    ) {
        let mut put = |value: Value| drop(made.insert(keyword.to_owned(), value));
        match keyword {
            "minimum" | "maximum" | "pattern" | "required" => put(value.clone()),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                put(value.to_string().into());
            }
            "format" if value == "date-time" => put(value.clone()),
            "enum" if value.as_array().is_some_and(|words| words.iter().all(Value::is_string)) => {
                put(value.clone());
            }
            // The API accepts a default but does not show it to the model.
            "default" => {
                put(value.clone());
                sentences.extend(describe_keyword(keyword, value));
            }
            "examples" => examples(value, made, sentences),
            "items" => {
                let items = value.as_object().map(|items| self.schema(items, &format!("{at}/items")));
                put(items.unwrap_or_default().into());
            }
            "properties" => self.properties(value, at, made),
            "additionalProperties" => {
                if let Value::Object(member) = value {
                    let kind = member.get("type").and_then(Value::as_str).unwrap_or("any");
                    sentences.push(format!("Members of any name, each of the type {kind}."));
                }
            }
            other => sentences.extend(describe_keyword(other, value)),
        }
    }

    fn properties(&mut self, value: &Value, at: &str, made: &mut Members) {
        let Some(properties) = value.as_object().filter(|it| !it.is_empty()) else { return };
        let property = |(name, property): (&String, &Value)| {
            let property = property.as_object().map(|it| self.schema(it, &format!("{at}/{name}")));
            (name.clone(), property.unwrap_or_default().into())
        };
        let all: Members = properties.iter().map(property).collect();
        let order = all.keys().map(String::as_str).collect::<Value>();
        made.insert("properties".to_owned(), all.into());
        made.insert("propertyOrdering".to_owned(), order);
    }
}

/// The format has one example; the others are described.
fn examples(value: &Value, made: &mut Members, sentences: &mut Vec<String>) {
    let Some([first, others @ ..]) = value.as_array().map(Vec::as_slice) else { return };
    made.insert("example".to_owned(), first.clone());
    sentences.extend(describe_keyword("examples", &others.into()));
}

fn properties(schema: &Members) -> Option<&Members> {
    schema.get("properties").and_then(Value::as_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_in_the_words_of_openapi() {
        let given = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What.", "minLength": 1, "examples": ["a", "b", "c"]},
                "count": {"type": ["integer", "null"], "enum": [1, 2, null], "default": 1},
                "above": {"type": "number", "exclusiveMinimum": 0},
                "at": {"type": "string", "format": "date-time"},
                "any": {"description": "With what."},
                "open": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["query"],
            "additionalProperties": false,
        });
        let expected = json!({
            "type": "OBJECT",
            "properties": {
                "query": {"type": "STRING", "description": "What. Such as `b`, `c`.", "minLength": "1", "example": "a"},
                "count": {
                    "type": "INTEGER",
                    "description": "One of `1`, `2`. Default `1`.",
                    "default": 1,
                    "nullable": true,
                },
                "above": {"type": "NUMBER", "description": "More than 0."},
                "at": {"type": "STRING", "format": "date-time"},
                "any": {
                    "description": "With what.",
                    "anyOf": [
                        {"type": "STRING"},
                        {"type": "NUMBER"},
                        {"type": "BOOLEAN"},
                        {"type": "ARRAY", "items": {"anyOf": [
                            {"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"},
                        ]}},
                    ],
                },
                "open": {"type": "OBJECT", "description": "Members of any name, each of the type string."},
            },
            "propertyOrdering": ["query", "count", "above", "at", "any", "open"],
            "required": ["query"],
        });
        let (made, missing) = of(&given);
        assert_eq!(made, Some(expected));
        let places: Vec<_> = missing.iter().filter_map(|it| it.split(' ').next()).collect();
        assert_eq!(places, ["/any", "/open"]);
    }

    #[test]
    fn a_tool_without_parameters_has_no_schema() {
        let given = json!({"type": "object", "properties": {}, "additionalProperties": false});
        assert_eq!(of(&given), (None, Vec::new()));
    }
}
