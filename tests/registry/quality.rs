//! What lint finds beyond start-up, one rule at a time.

use serde_json::{Value, json};
use toolwire::engine::registry::lint;

use super::support::{Data, manifest};

const GOOD: &str = "Returns the quote of a symbol. Use it when a price is asked for. Do not use it for the positions of \
                    an account: that is `get_positions`.";

/// A tool that lint has nothing to say of, with some keys replaced.
fn good(name: &str, changes: &Value) -> Value {
    let mut all = json!({
        "title": "Quotes",
        "description": GOOD,
        "version": "1.0.0",
        "tags": ["market"],
        "parameters": {"symbol": {"required": true}},
        "examples": [{"description": "One.", "arguments": {"symbol": "AAPL"}}],
    });
    for (key, value) in changes.as_object().expect("an object") {
        all[key] = value.clone();
    }
    manifest(name, &all)
}

/// `get_quotes` with the given changes breaks exactly the given rules.
#[track_caller]
fn check(changes: &Value, expected: &[&str]) {
    let sibling =
        json!({"description": GOOD.replace("quote ", "position ").replace("get_positions", "get_quotes")});
    let data = Data::with(&[good("get_quotes", changes), good("get_positions", &sibling)]);
    let problems = lint::lint(&data.offered());
    let found: Vec<_> = problems.iter().map(|it| format!("{} {}", it.rule, it.pointer)).collect();
    assert_eq!(found, expected, "{problems:#?}");
}

#[test]
fn a_good_tool_has_no_weakness() {
    check(&json!({}), &[]);
}

#[test]
fn descriptions() {
    let description = |text: &str| json!({"description": text});
    check(&description("get_quotes"), &["description-is-name /description"]);
    check(&description("Quotes."), &["description-is-name /description"]);
    check(&description(&GOOD.replace("Returns the", "The")), &["description-verb /description"]);
    check(&description(&GOOD.replace("the quote", "the price")), &["description-resource /description"]);
    check(&description(&GOOD.replace("Use it when", "Good if")), &["description-when /description"]);
    check(&description(&GOOD.replace("Do not use it", "Useless")), &["description-when-not /description"]);
    check(&description(&GOOD.replace("get_positions", "another")), &["description-sibling /description"]);
    check(&description(&format!("{GOOD} Takes up to 5 symbols.")), &["limit-in-prose /description"]);
}

#[test]
fn guidance_that_names_another_tool() {
    check(&json!({"guidance": ["Call get_quotes once, not to_death."]}), &[]);
    check(&json!({"guidance": ["Once.", "Check it against get_positions."]}), &["guidance-tool /guidance/1"]);
}

#[test]
fn parameters() {
    let symbol = |declared: Value| {
        json!({"parameters": {"symbol": declared}, "examples": [
            {"description": "One.", "arguments": {"symbol": "A"}}
        ]})
    };
    check(&symbol(json!({"description": "Default `A`."})), &["default-in-prose /parameters/symbol"]);
    check(&symbol(json!({"description": "Default `A`.", "default": "A"})), &[]);
    check(&symbol(json!({"description": "At most 10 letters."})), &["limit-in-prose /parameters/symbol"]);
    check(&symbol(json!({"description": "At most 10 letters.", "max_length": 10})), &[]);
    check(&symbol(json!({"required": true, "default": "A"})), &["required-with-default /parameters/symbol"]);
}

#[test]
fn an_undescribed_parameter() {
    let tool = good(
        "think",
        &json!({
            "description": "Thinks. Use it to think. Not for acting.",
            "tags": [],
            "parameters": {"symbol": "string"},
        }),
    );
    let problems = lint::lint(&Data::with(&[tool]).offered());
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(
        (problems[0].rule, problems[0].pointer.as_str()),
        ("parameter-description", "/parameters/symbol")
    );
}

#[test]
fn classification() {
    check(&json!({"title": null}), &["no-title /title"]);
    check(&json!({"version": null}), &["no-version /version"]);
    check(&json!({"examples": []}), &["no-example /examples"]);
    check(&json!({"category": "write"}), &["category-verb /category"]);
}

#[test]
fn what_start_up_refuses_is_listed_with_the_rest() {
    check(
        &json!({"intents": ["a", "a"], "title": null}),
        &["duplicate-intent /intents/1", "no-title /title"],
    );
}
