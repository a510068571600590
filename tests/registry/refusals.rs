//! Every manifest that start-up refuses: the rule and where.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::support::{Data, manifest};

/// What is wrong, and manifests that are wrong in this way: a tool, what is changed of its manifest, and what is found.
type Table = BTreeMap<String, Vec<(String, Value, Found)>>;

/// The rules that are broken, as `rule pointer`, or the one problem in words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Found {
    Rules(Vec<String>),
    Words(String),
}

#[test]
fn what_the_table_refuses_is_refused_by_its_rules_at_their_places() {
    let table: Table =
        serde_json::from_str(include_str!("../fixtures/registry/refusals.json")).expect("a table");
    for (what, rows) in table {
        for (tool, changes, expected) in rows {
            let data = Data::with(&[manifest(&tool, &changes)]);
            let problems = data.problems_if_any().unwrap_or_default();
            match expected {
                Found::Rules(rules) => {
                    let found: Vec<_> =
                        problems.iter().map(|it| format!("{} {}", it.rule, it.pointer)).collect();
                    assert_eq!(found, rules, "{what}: {problems:#?}");
                }
                Found::Words(words) => {
                    let found: Vec<_> = problems.iter().map(|it| it.description.as_str()).collect();
                    assert_eq!(found, [words], "{what}: {problems:#?}");
                }
            }
        }
    }
}

#[test]
fn what_is_no_json_object() {
    let data = Data::new();
    data.write("tools/a.json", "{\"name\": \"a\",\n  oops}");
    data.write("tools/b.json", "[]");
    data.write("tools/c.json", "{\"name\": \"c\", \"name\": \"d\"}");
    let problems = data.problems();
    assert_eq!(problems.iter().map(|it| it.rule).collect::<Vec<_>>(), ["bad-json", "wrong-type", "bad-json"]);
    assert_eq!(problems[0].file, "tools/a.json");
    assert!(problems[0].description.contains("line 2 column 3"), "{}", problems[0].description);
}

#[test]
fn all_problems_of_all_files_at_once() {
    let data = Data::with(&[
        manifest("get_quotes", &json!({"category": null, "parameters": {"sybol": {}}, "version": "1"})),
        manifest("get_transfers", &json!({"depends_on": ["get_quote"]})),
    ]);
    let problems = data.problems();
    let found: Vec<_> = problems.iter().map(|it| (it.file.as_str(), it.rule, it.pointer.as_str())).collect();
    assert_eq!(
        found,
        [
            ("tools/get_quotes.json", "missing-key", "/category"),
            ("tools/get_quotes.json", "bad-version", "/version"),
            ("tools/get_quotes.json", "unknown-parameter", "/parameters/sybol"),
            ("tools/get_transfers.json", "unknown-dependency", "/depends_on/0"),
        ]
    );
    assert!(problems[2].description.ends_with("no parameter `sybol`. Did you mean symbol?"));
    assert!(problems[3].description.ends_with("Did you mean get_quotes?"));
}

#[test]
fn a_bad_pattern_says_what_the_engine_of_patterns_says() {
    for (pattern, reason) in [
        ("^(a|b$", "unclosed group, at character 2"),
        ("a{2,1}", "invalid repetition count range, the start must be <= the end, at character 2"),
        ("^(?=x)", "look-around, including look-ahead and look-behind, is not supported, at character 2"),
        (r"\p{Greekish}", "Unicode property not found, at character 1"),
    ] {
        let bad = json!({"type": "string", "description": "One.", "pattern": pattern});
        let object = json!({"type": "object", "description": "Some.", "properties": {"one": bad}});
        for (parameters, pointer) in [
            (json!({"one": bad}), "/parameters/one/pattern"),
            (json!({"some": object}), "/parameters/some/properties/one/pattern"),
        ] {
            let problems = Data::with(&[manifest("think", &json!({"parameters": parameters}))]).problems();
            let found: Vec<_> = problems.iter().map(ToString::to_string).collect();
            assert_eq!(found.len(), 1, "{found:#?}");
            assert_eq!(
                (problems[0].file.as_str(), problems[0].pointer.as_str()),
                ("tools/think.json", pointer)
            );
            assert!(problems[0].description.contains(reason), "{found:#?}");
        }
    }
}

#[test]
fn names() {
    let data = Data::new();
    let mut other = manifest("get_quotes", &json!({}));
    data.write("tools/quotes.json", &other.to_string());
    other["name"] = json!("Get-Quotes");
    data.write("tools/get_quotes.json", &other.to_string());
    let found: Vec<_> = data.problems().iter().map(|it| (it.rule, it.pointer.clone())).collect();
    let at_name = "/name".to_owned();
    assert!(found.contains(&("name-not-file-name", at_name.clone())), "{found:?}");
    assert!(found.contains(&("bad-name", at_name)), "{found:?}");
}

#[test]
fn one_name_in_two_directories() {
    let data = Data::with(&[manifest("get_quotes", &json!({}))]);
    data.write("diagnostics/get_quotes.json", &manifest("get_quotes", &json!({})).to_string());
    let problems = data.problems();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(
        (problems[0].file.as_str(), problems[0].rule),
        ("diagnostics/get_quotes.json", "duplicate-name")
    );
    assert!(problems[0].description.starts_with("Tool 'get_quotes' is already registered"));
    assert!(problems[0].description.ends_with("; rename one of the two"), "{}", problems[0].description);
}

#[test]
fn one_intent_for_two_tools() {
    let quotes = manifest("get_quotes", &json!({"intents": ["quotes"]}));
    let other = manifest("get_transfers", &json!({"intents": ["transfers", "quotes"]}));
    let problems = Data::with(&[quotes, other]).problems();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!((problems[0].rule, problems[0].pointer.as_str()), ("duplicate-intent", "/intents/1"));
}

#[test]
fn dependencies_in_a_circle_but_not_on_oneself() {
    let with = |name, depends_on: Value| manifest(name, &json!({"depends_on": depends_on}));
    let data = Data::with(&[
        with("get_quotes", json!(["get_transfers", "get_quotes"])),
        with("get_transfers", json!(["rank_portfolio"])),
        with("rank_portfolio", json!(["get_quotes"])),
    ]);
    let problems = data.problems();
    let found: Vec<_> = problems.iter().map(|it| format!("{} {}", it.rule, it.pointer)).collect();
    assert_eq!(found, ["circular-dependency /depends_on/0"; 3]);
    let whole = "get_quotes -> get_transfers -> rank_portfolio -> get_quotes is a circle";
    assert_eq!(problems[0].description, format!("{whole}; remove one of the dependencies"));
}

/// A caller of a confirmed tool is carried out again once that is approved.
#[test]
fn a_writer_that_cannot_begin_again_and_calls_what_must_be_approved() {
    let confirmed = manifest("pay", &json!({"category": "write", "requires_confirmation": true}));
    let middle = manifest("desk", &json!({"depends_on": ["pay"]}));
    let calling = |changes: &Value| {
        let mut caller = manifest("trade", &json!({"category": "write", "depends_on": ["desk"]}));
        caller.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        Data::with(&[confirmed.clone(), middle.clone(), caller]).problems_if_any().unwrap_or_default()
    };
    let problems = calling(&json!({}));
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].rule, "not-repeatable");
    assert!(problems[0].description.starts_with("desk -> pay must be approved by a person"), "{problems:?}");
    assert!(calling(&json!({"idempotent": true})).is_empty());
    assert!(calling(&json!({"category": "read"})).is_empty());
    let cached = calling(&json!({"category": "read", "cache": {"ttl": "1m", "tier": "request"}}));
    assert_eq!(
        cached.iter().map(|it| it.rule).collect::<Vec<_>>(),
        ["cached-approval", "cache-not-executed"]
    );
}
