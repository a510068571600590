//! Arguments as callers write them: what becomes of them, and what is said of those that break the schema.

use serde_json::{Value, json};

use super::support::{input_of, object};

/// A schema of every kind of parameter.
fn parameters() -> Value {
    json!({"parameters": {
        "symbol": {"type": "string", "required": true, "description": "Ticker symbol.", "pattern": "^[A-Z]+$"},
        "asset_class": {"type": "string", "enum": ["stocks", "etf", "bonds"]},
        "limit": {"type": "integer", "default": 10, "minimum": 1, "maximum": 25},
        "ratio": "number",
        "price_filter": {"type": "object", "properties": {
            "min_price": {"type": "number", "required": true},
            "currency": {"type": "string", "default": "USD"},
        }},
        "symbols": {"type": "array", "max_items": 2, "items": {"type": "string", "max_length": 3}},
        "note": {"type": "string", "pattern": "\\S"},
        "letter": {"type": "string", "min_length": 1, "max_length": 1},
        "pair": {"type": "array", "min_items": 1, "items": {"type": "string"}},
        "free_form": "object",
    }})
}

#[track_caller]
fn accepts(arguments: &Value, expected: &Value) {
    let input = input_of("think", &parameters());
    assert_eq!(input.check(object(arguments)), Ok(object(expected)));
}

/// Every violation as `rule pointer: description`.
#[track_caller]
fn refuses(arguments: &Value, expected: &[&str]) {
    let violations = input_of("think", &parameters()).check(object(arguments)).expect_err("bad arguments");
    let found: Vec<_> =
        violations.iter().map(|it| format!("{} {}: {}", it.rule, it.pointer, it.description)).collect();
    assert_eq!(found, expected);
}

#[test]
fn keys_may_be_in_camel_case_at_every_declared_level() {
    accepts(
        &json!({"symbol": "A", "assetClass": "etf", "priceFilter": {"minPrice": 1}, "freeForm": {"someKey": null}}),
        &json!({
            "symbol": "A",
            "asset_class": "etf",
            "price_filter": {"min_price": 1, "currency": "USD"},
            "free_form": {"someKey": null},
            "limit": 10,
        }),
    );
}

#[test]
fn both_spellings_of_one_key_are_one_too_many() {
    refuses(
        &json!({"symbol": "A", "asset_class": "etf", "assetClass": "etf"}),
        &["additionalProperties /assetClass: `assetClass` and `asset_class` are the same parameter; give \
           `asset_class` only"],
    );
}

#[test]
fn null_is_absent_unless_the_parameter_is_required() {
    accepts(&json!({"symbol": "A", "limit": null, "assetClass": null}), &json!({"symbol": "A", "limit": 10}));
    refuses(&json!({"symbol": null}), &["type /symbol: `symbol` must be a string, but is null"]);
}

#[test]
fn a_value_is_read_from_its_text_where_no_text_is_taken() {
    accepts(
        &json!({"symbol": "A", "limit": "5", "ratio": "-1.5e1"}),
        &json!({"symbol": "A", "limit": 5, "ratio": -15.0}),
    );
    refuses(&json!({"symbol": 5}), &["type /symbol: `symbol` must be a string, but is 5"]);
    refuses(
        &json!({"symbol": "A", "limit": " 5"}),
        &["type /limit: `limit` must be an integer, but is \" 5\""],
    );
    accepts(
        &json!({"symbol": "A", "freeForm": r#"{"a": "5"}"#, "pair": r#"["5"]"#, "limit": "null"}),
        &json!({"symbol": "A", "free_form": {"a": "5"}, "pair": ["5"], "limit": 10}),
    );
    refuses(
        &json!({"symbol": "A", "freeForm": "[]"}),
        &["type /freeForm: `freeForm` must be an object, but is \"[]\""],
    );
}

#[test]
fn all_violations_at_once_where_the_caller_wrote_them() {
    refuses(
        &json!({
            "assetClass": "etfs",
            "limit": 26,
            "priceFilter": {"minimumPrice": 1},
            "symbols": ["ABCD", "A", "B"],
            "simbol": "AAPL",
            "a/b": 1,
        }),
        &[
            "enum /assetClass: `assetClass` must be one of \"stocks\", \"etf\", \"bonds\", but is \"etfs\". Did you \
             mean etf?",
            "maximum /limit: `limit` must be at most 25, but is 26",
            "additionalProperties /priceFilter/minimumPrice: unknown parameter `minimumPrice`. Did you mean min_price?",
            "required /priceFilter/min_price: `min_price` is required",
            "maxItems /symbols: `symbols` must have at most 2 elements",
            "maxLength /symbols/0: `symbols.0` must have at most 3 characters, but is \"ABCD\"",
            "additionalProperties /simbol: unknown parameter `simbol`. Did you mean symbol or symbols?",
            "additionalProperties /a~1b: unknown parameter `a/b`; known: `symbol`, `asset_class`, `limit`, `ratio`, \
             `price_filter`, `symbols`, `note`, `letter`, `pair`, `free_form`",
            "required /symbol: `symbol` is required: Ticker symbol.",
        ],
    );
}

/// Nobody should have to read a regular expression, nor "1 characters".
#[test]
fn a_broken_rule_is_said_in_words() {
    refuses(
        &json!({"symbol": "aapl", "note": "  ", "letter": "ab", "pair": []}),
        &[
            "pattern /symbol: `symbol` must match the pattern ^[A-Z]+$, but is \"aapl\". What it is: Ticker symbol.",
            "pattern /note: `note` must be a text that is not blank, but is \"  \"",
            "maxLength /letter: `letter` must have at most 1 character, but is \"ab\"",
            "minItems /pair: `pair` must not be empty",
        ],
    );
    refuses(&json!({"symbol": "A", "letter": ""}), &["minLength /letter: `letter` must not be empty"]);
}

#[test]
fn long_values_are_cut() {
    let violations = input_of("think", &parameters())
        .check(object(&json!({"symbol": "é".repeat(1000), "x".repeat(1000): 1})))
        .expect_err("bad arguments");
    assert!(violations.iter().all(|it| it.description.chars().count() < 250), "{violations:#?}");
}

#[test]
fn what_passes_the_schema_but_not_the_message_is_refused_too() {
    let input = input_of("debug_sleep", &json!({}));
    let accepted = input.check(object(&json!({"duration": "1.5s", "progressInterval": "0s"}))).expect("good");
    assert_eq!(accepted, object(&json!({"duration": "1.5s", "progress_interval": "0s"})));
    let same = input.check(object(&json!({"duration": "01.500s", "progressInterval": "0.0s"})));
    assert_eq!(same.expect("good"), accepted, "equal durations have one digest");
    let violations = input.check(object(&json!({"duration": "5 seconds"}))).expect_err("bad");
    assert_eq!(violations[0].rule, "pattern");
    assert_eq!(
        violations[0].description,
        "`duration` must be a length of time such as `5s` or `1.5s`, but is \"5 seconds\""
    );
    let violations = input_of("debug_stream", &json!({}));
    let violations = violations.check(object(&json!({"count": 3_000_000_000_u64}))).expect_err("bad");
    assert_eq!((violations[0].rule.as_str(), violations[0].pointer.as_str()), ("format", "/count"));
    assert!(
        violations[0].description.starts_with("`count` cannot be read: "),
        "{}",
        violations[0].description
    );
}

#[test]
fn an_intent_passes_more_than_the_tool_takes_but_not_everything() {
    let input = input_of("think", &parameters());
    let given =
        json!({"symbol": "A", "timeframe": "YTD", "timeFrame": 1, "assetClass": "etf", "simbol": "B"});
    let mut arguments = object(&given);
    input.drop_undeclared(&mut arguments, &["symbol", "timeframe", "time_frame"].into());
    assert_eq!(arguments, object(&json!({"symbol": "A", "assetClass": "etf", "simbol": "B"})));
}

#[test]
fn a_flood_of_mistakes_is_told_by_its_first_hundred() {
    let unknown = (0..50_000).map(|n| (format!("k{n}"), json!(1)));
    let flood = unknown.chain([("symbol".to_owned(), json!("A"))]).collect();
    let violations = input_of("think", &parameters()).check(flood).expect_err("bad arguments");
    assert_eq!(violations.len(), 100);
}
