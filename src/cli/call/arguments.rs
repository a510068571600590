//! Arguments from the command line: `key=value` pairs read as the input schema says, values alone where only one
//! parameter is required, or one JSON object.
//!
//! Nothing is refused that the pipeline can judge: a text that is not of its type is passed on unchanged, so that all
//! violations are reported together.

use std::io::{self, Read};

use serde_json::Value;

use crate::schema;
use toolwire_base::words::without_bom;
use toolwire_contract::{arguments::Arguments, json};
use toolwire_server::console::Failure;

/// Arguments as they were given.
#[derive(Debug, PartialEq)]
pub(super) enum RawArguments {
    /// Words whose values have no type yet.
    Words(Vec<Word>),
    /// The text of a JSON object.
    Json(String),
}

/// One argument as it was given.
#[derive(Debug, PartialEq)]
pub(super) enum Word {
    /// `key=value`.
    Pair(String, String),
    /// A value alone.
    Value(String),
}

impl RawArguments {
    /// Arguments from `key=value` words, and from values alone.
    pub(super) fn words(words: &[&str]) -> Self {
        Self::Words(words.iter().map(|text| word(text)).collect())
    }

    /// Arguments as JSON text, or from standard input for `-`.
    pub(super) fn json(text: &str) -> Result<Self, Failure> {
        let text = if text == "-" { &standard_input()? } else { text };
        Ok(Self::Json(without_bom(text).to_owned()))
    }

    /// The arguments as JSON text, each pair typed by its schema.
    pub(super) fn into_json(self, schema: &Value) -> Result<String, Failure> {
        match self {
            Self::Json(text) => Ok(text),
            Self::Words(words) => Ok(Value::Object(Self::of_words(words, schema)?).to_string()),
        }
    }

    fn of_words(words: Vec<Word>, schema: &Value) -> Result<Arguments, Failure> {
        let mut arguments = Arguments::new();
        for word in words {
            let (key, text) = match word {
                Word::Pair(key, text) => (key, text),
                Word::Value(text) => (key_of(&text, schema)?, text),
            };
            add(&mut arguments, key, &text, schema)?;
        }
        Ok(arguments)
    }
}

fn word(text: &str) -> Word {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Word::Pair(key.to_owned(), value.to_owned()),
        _ => Word::Value(text.to_owned()),
    }
}

/// The parameter of a value without a key: the only required one.
fn key_of(text: &str, schema: &Value) -> Result<String, Failure> {
    if serde_json::from_str::<Arguments>(text).is_ok() {
        return Err(Failure::Usage(format!("give arguments in JSON with --json: --json '{text}'")));
    }
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match required[..] {
        [only] if !text.starts_with('=') => Ok(only.to_owned()),
        _ => {
            let needs = match &required[..] {
                [] => String::new(),
                names => format!(" The tool requires {}.", names.join(", ")),
            };
            Err(Failure::Usage(format!(
                "expected key=value, but found {text:?}. Quote a value with spaces: key='a b'.{needs}"
            )))
        }
    }
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    match io::stdin().lock().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::Failed(format!("cannot read standard input: {error}"))),
    }
}

fn add(arguments: &mut Arguments, key: String, text: &str, schema: &Value) -> Result<(), Failure> {
    let parameter = parameter(schema, &key);
    if !schema::allows(parameter, "array") || schema::allows(parameter, "string") {
        return match arguments.insert(key.clone(), parse_as(text, parameter)) {
            None => Ok(()),
            Some(_) => {
                Err(Failure::Usage(format!("{key} is given twice, but takes one value; leave one out")))
            }
        };
    }
    let items = match json::parse(text) {
        Ok(Value::Array(items)) => items,
        _ => text.split(',').map(|item| parse_as(item.trim(), &parameter["items"])).collect(),
    };
    match arguments.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
        Value::Array(list) => list.extend(items),
        other => *other = Value::Array(items),
    }
    Ok(())
}

/// The schema of a parameter, whether it is spelled in `snake_case` or in `camelCase`.
fn parameter<'a>(schema: &'a Value, key: &str) -> &'a Value {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let properties = schema["properties"].as_object();
    let spelled = properties.and_then(|all| all.get(key));
    let near = || properties?.iter().find(|(name, _)| plain(name) == plain(key)).map(|(_, found)| found);
    spelled.or_else(near).unwrap_or(&Value::Null)
}

/// A text as the type that the schema wants, if it reads exactly as that.
fn parse_as(text: &str, schema: &Value) -> Value {
    let as_text = || Value::String(text.to_owned());
    let kinds = schema::types(schema);
    // Without a known type a text is the safe reading: the pipeline reads values from texts.
    if kinds.is_empty() || kinds.contains(&"string") {
        return as_text();
    }
    match json::parse(text) {
        Ok(value) if kinds.iter().any(|kind| is_of(&value, kind)) => value,
        _ => as_text(),
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "number" | "integer" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({"properties": {
            "symbol": {"type": "string"},
            "limit": {"type": ["integer", "null"]},
            "price": {"type": "number"},
            "with_lots": {"type": "boolean"},
            "filter": {"type": "object"},
            "symbols": {"type": "array", "items": {"type": "string"}},
            "years": {"type": "array", "items": {"type": "integer"}},
            "either": {"anyOf": [{"type": "array"}, {"type": "string"}]},
        }})
    }

    fn read(words: &[&str]) -> Value {
        serde_json::from_str(&RawArguments::words(words).into_json(&schema()).unwrap()).unwrap()
    }

    #[track_caller]
    fn refused(given: Result<RawArguments, Failure>) -> String {
        let failure = given.and_then(|given| given.into_json(&schema())).unwrap_err();
        assert_eq!(failure.code(), 2);
        failure.to_string()
    }

    #[test]
    fn a_value_has_the_type_that_the_schema_wants() {
        assert_eq!(
            read(&["symbol=42", "limit=10", "price=1.50", "with_lots=true", r#"filter={"a": [1]}"#]),
            json!({"symbol": "42", "limit": 10, "price": 1.5, "with_lots": true, "filter": {"a": [1]}})
        );
        assert_eq!(read(&["limit=9007199254740993"]), json!({"limit": 9_007_199_254_740_993_i64}));
        assert_eq!(
            read(&["limit=18446744073709551616", "price=1e400", "years=[1e400]", "either=[1]"]),
            json!({"limit": "18446744073709551616", "price": "1e400", "years": ["[1e400]"], "either": "[1]"})
        );
        assert_eq!(read(&["limit=null", "withLots=false"]), json!({"limit": null, "withLots": false}));
    }

    #[test]
    fn an_object_alone_is_pointed_to_its_option() {
        let text = refused(Ok(RawArguments::words(&[r#"{"symbol": "AAPL"}"#])));
        assert_eq!(text, r#"give arguments in JSON with --json: --json '{"symbol": "AAPL"}'"#);
    }

    #[test]
    fn a_text_keeps_every_character_after_the_first_equals_sign() {
        assert_eq!(read(&["symbol=a=b c"]), json!({"symbol": "a=b c"}));
        assert_eq!(read(&["symbol="]), json!({"symbol": ""}));
    }

    #[test]
    fn what_does_not_read_as_its_type_is_left_to_the_pipeline() {
        assert_eq!(
            read(&["limit=ten", "price=true", "no_such=1"]),
            json!({
                "limit": "ten", "price": "true", "no_such": "1"
            })
        );
    }

    #[test]
    fn a_repeated_key_makes_a_list() {
        assert_eq!(read(&["symbols=A", "symbols=B"]), json!({"symbols": ["A", "B"]}));
        assert_eq!(read(&["years=2024", "years=[2025, 2026]"]), json!({"years": [2024, 2025, 2026]}));
        assert!(refused(Ok(RawArguments::words(&["symbol=A", "symbol=B"]))).contains("given twice"));
    }

    #[test]
    fn words_that_are_no_pairs_are_refused() {
        let alone = refused(Ok(RawArguments::words(&["AAPL"])));
        assert!(alone.contains("expected key=value, but found \"AAPL\""), "{alone}");
        assert!(refused(Ok(RawArguments::words(&["=x"]))).contains("expected key=value"));
    }

    #[test]
    fn a_value_alone_is_meant_for_the_one_required_parameter() {
        let with = |required: &[&str], words: &[&str]| {
            let mut schema = schema();
            schema["required"] = json!(required);
            let typed = RawArguments::words(words).into_json(&schema).map_err(|failure| failure.to_string());
            typed.map(|text| serde_json::from_str::<Value>(&text).unwrap())
        };
        assert_eq!(with(&["symbol"], &["AAPL", "limit=1"]).unwrap(), json!({"symbol": "AAPL", "limit": 1}));
        assert_eq!(with(&["limit"], &["10"]).unwrap(), json!({"limit": 10}));
        assert_eq!(with(&["symbols"], &["A", "B"]).unwrap(), json!({"symbols": ["A", "B"]}));
        assert!(with(&["symbol"], &["A", "B"]).unwrap_err().contains("given twice"));
        let several = with(&["symbol", "limit"], &["A"]).unwrap_err();
        assert!(several.ends_with("The tool requires symbol, limit."), "{several}");
    }

    #[test]
    fn json_is_judged_where_that_of_every_face_is() {
        for text in [r#"{"a": 1}"#, "[1]", "{a: 1}", ""] {
            assert_eq!(RawArguments::json(text).unwrap().into_json(&schema()).unwrap(), text);
        }
    }
}
