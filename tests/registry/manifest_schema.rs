//! The JSON Schema of a manifest says what the reader of manifests says.

use std::{collections::BTreeSet, fs};

use jsonschema::Validator;
use serde_json::{Value, json};
use toolwire::engine::registry::manifest_schema;

use super::support::{Data, manifest};

/// The rules of the reader. Every other one needs more than the one file: messages, executors, other manifests.
const OF_ONE_FILE: [&str; 7] = [
    "alias-and-name",
    "bad-name",
    "bad-version",
    "empty-condition",
    "missing-key",
    "unknown-key",
    "wrong-type",
];

fn schema() -> Validator {
    jsonschema::validator_for(&manifest_schema()).expect("a valid schema")
}

/// The schema and the reader agree on whether a manifest is well formed.
#[track_caller]
fn agree(schema: &Validator, manifest: &Value) {
    let problems = Data::with(std::slice::from_ref(manifest)).problems_if_any().unwrap_or_default();
    let of_one_file: Vec<_> = problems.iter().filter(|it| OF_ONE_FILE.contains(&it.rule)).collect();
    let accepted = schema.is_valid(manifest);
    assert_eq!(accepted, of_one_file.is_empty(), "{manifest:#}\n{problems:#?}");
}

#[test]
fn every_bundled_manifest_is_valid() {
    let schema = schema();
    for folder in ["data/tools", "data/diagnostics"] {
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            let text = fs::read_to_string(&path).expect("readable");
            let manifest: Value = serde_json::from_str(&text).expect("JSON");
            let errors: Vec<_> = schema.iter_errors(&manifest).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
}

#[test]
fn a_wrong_value_under_any_key_is_refused_by_both() {
    let schema = schema();
    let keys =
        manifest_schema()["properties"].as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert!(keys.len() >= 25, "{keys:?}");
    for key in keys.iter().filter(|key| !["name", "tool_id"].contains(&key.as_str())) {
        for wrong in [json!(7.5), json!([[]]), json!({"x": []}), json!(" "), json!(true)] {
            agree(&schema, &manifest("think", &json!({key: wrong})));
        }
    }
}

#[test]
fn unknown_keys_are_refused_by_both_at_every_depth() {
    let schema = schema();
    for changes in [
        json!({"timeout": 5}),
        json!({"source": {"name": "files", "section": []}}),
        json!({"cache": {"ttl": "5m", "tier": "request", "scop": "user"}}),
        json!({"parameters": {"a": {"type": "string", "minimun": 1}}}),
        json!({"parameters": {"a": {"type": "object", "properties": {"b": {"type": "string", "x": 1}}}}}),
        json!({"parameters": {"a": {"type": "array", "items": {"type": "string", "x": 1}}}}),
        json!({"returns": {"a": {"type": "string", "required": true}}}),
        json!({"examples": [{"description": "One.", "arguments": {}, "x": 1}]}),
    ] {
        let manifest = manifest("think", &changes);
        assert!(!schema.is_valid(&manifest), "{manifest:#}");
        agree(&schema, &manifest);
    }
}

#[test]
fn what_the_reader_takes_the_schema_takes() {
    let schema = schema();
    for changes in [
        json!({"$schema": "./manifest.schema.json"}),
        json!({"parameters": {"path": "string", "depth": "integer"}}),
        json!({"parameters": {"a": {"type": "object", "properties": {"b": "string"}}}}),
        json!({"returns": {"a": {"type": "string", "omit_when_absent": true}}}),
        json!({"cache": {"ttl": "15m", "tier": "session"}}),
        json!({"cache": {"ttl_s": 90, "tier": "persistent", "scope": "shared"}}),
        json!({"cache": {"ttl": "0m", "tier": "session"}}),
        json!({"cache": {"ttl": "500ms", "tier": "session"}}),
        json!({"cache": {"ttl": "0ms", "tier": "session"}}),
        json!({"cache": {"ttl": "0.5ms", "tier": "session"}}),
        json!({"cache": {"ttl": "0.000s", "tier": "session"}}),
        json!({"cache": {"ttl": "1.5 h", "tier": "session"}}),
        json!({"cache": {"ttl": "0.0625h", "tier": "session"}}),
        json!({"cache": {"ttl": "1.s", "tier": "session"}}),
        json!({"cache": {"ttl": "1d", "tier": "session"}}),
        json!({"cache": {"ttl": "5m", "ttl_s": 5, "tier": "session"}}),
        json!({"version": "1.0.0-rc.1+build.5"}),
        json!({"version": "01.0.0"}),
        json!({"version": "v1"}),
        json!({"timeout_ms": 0}),
        json!({"timeout_ms": 2.0}),
        json!({"cache": {"ttl": 60.0, "tier": "session"}}),
        json!({"cache": {"ttl": "99999999999d", "tier": "session"}}),
        json!({"cache": {"ttl": "999999999999d", "tier": "session"}}),
        json!({"keywords": []}),
        json!({"parameters": {"Name": "string"}}),
        json!({"parameters": {"a": "text"}}),
        json!({"parameters": {"a": {"description": "No type."}}}),
        json!({"upstream": {"host": "x"}}),
    ] {
        agree(&schema, &manifest("think", &changes));
    }
}

/// A key that only one of the two knows is refused by the other.
#[test]
fn a_manifest_with_every_key_is_well_formed() {
    let every: Value =
        serde_json::from_str(include_str!("../fixtures/registry/every_key.json")).expect("a manifest");
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<BTreeSet<_>>();
    let mut known = keys(&manifest_schema()["properties"]);
    known.retain(|key| !["tool_id"].contains(&key.as_str()));
    assert_eq!(keys(&every), known);
    agree(&schema(), &every);
}

#[test]
fn the_page_on_manifests_has_a_row_for_every_key() {
    let page = fs::read_to_string("docs/MANIFEST.md").expect("readable");
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let schema = manifest_schema();
    let of = |pointer: &str| {
        schema.pointer(pointer).and_then(Value::as_object).expect("an object").keys().cloned()
    };
    let keys = of("/properties")
        .chain(of("/properties/cache/properties"))
        .chain(of("/$defs/input_field/properties"))
        .chain(of("/$defs/output_field/properties"));
    // Aliases, which the rows of their other words name.
    for key in keys.filter(|key| !["tool_id", "ttl_s"].contains(&key.as_str())) {
        let cell = |row: &&&str| row.split('|').nth(1).is_some_and(|cell| cell.contains(&format!("`{key}`")));
        assert!(rows.iter().any(|row| cell(&row)), "no row for {key}");
    }
}
