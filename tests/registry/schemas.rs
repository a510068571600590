//! From a manifest to its schemas, exact to the letter: a changed snapshot is a changed contract.

use std::sync::Arc;

use prost_reflect::ReflectMessage;
use serde_json::{Value, json};
use toolwire::{
    base::{
        digest::Digest,
        files::{Embedded, Tree},
    },
    config::Config,
    contract::proto::v1::{ToolDefinition, ToolView},
    domains,
    engine::registry::{Registry, Status},
    server::app,
};

use super::support::{Data, manifest};

/// The schemas of one manifest, as callers see them.
#[track_caller]
fn schemas(name: &str, changes: &serde_json::Value) -> String {
    let snapshot = Data::with(&[manifest(name, changes)]).open().snapshot();
    let definition = &snapshot.get(name).expect("the tool").definition;
    assert_eq!(definition.wire(ToolView::FullJson).input_schema_json, definition.input_schema.to_string());
    format!("{:#}\n\n{:#}", definition.input_schema, definition.output_schema)
}

#[test]
fn of_messages_with_constraints() {
    let changes = json!({
        "parameters": {
            "asset_class": {"enum": ["stocks", "etf", "bonds"], "examples": ["etf"]},
            "account": {"description": "Overridden.", "required": true, "min_length": 1, "max_length": 64},
        },
        "returns": {
            "asset_class_filter": {"omit_when_absent": true},
            "positions.asset_class": {"enum": ["stocks", "etf", "bonds"]},
            "positions.name": {"description": "The name."},
        },
    });
    insta::assert_snapshot!(schemas("get_positions_list", &changes));
}

#[test]
fn of_nested_and_nullable_messages() {
    insta::assert_snapshot!(schemas("get_positions", &json!({"parameters": {"symbol": {"required": true}}})));
}

#[test]
fn of_numbers_lengths_of_time_and_timestamps() {
    let changes = json!({
        "parameters": {
            "count": {"default": 3, "minimum": 0, "maximum": 1000},
            "interval": {"default": "0s"},
        },
    });
    insta::assert_snapshot!(schemas("debug_stream", &changes));
    insta::assert_snapshot!(schemas("get_transfers", &json!({})));
}

#[test]
fn of_a_manifest_alone() {
    let changes = json!({
        "parameters": {
            "thoughts": {"type": "string", "description": "What to think.", "required": true, "max_length": 1000},
            "mood": "string",
            "steps": {
                "type": "array",
                "max_items": 3,
                "items": {
                    "type": "object",
                    "properties": {"what": {"type": "string", "required": true}, "minutes": "integer"},
                },
            },
            "anything": "object",
        },
        "returns": {"logged": "boolean", "note": {"type": "string", "omit_when_absent": true}},
    });
    insta::assert_snapshot!(schemas("think", &changes));
}

#[test]
fn the_definition_on_the_wire() {
    let changes = json!({
        "title": "Quotes",
        "version": "1.0.0",
        "tags": ["market"],
        "intents": ["quotes"],
        "utterances": ["What is AAPL at?"],
        "source": {"name": "brokerage", "sections": ["quotes"]},
        "cache": {"ttl_s": 60, "tier": "request", "scope": "shared"},
        "examples": [{"description": "One.", "arguments": {"symbol": "AAPL"}}],
        "timeout_ms": 1500,
    });
    let snapshot = Data::with(&[manifest("get_quotes", &changes)]).open().snapshot();
    let definition = &snapshot.get("get_quotes").expect("the tool").definition;
    assert_eq!(definition.status, Status::Ready);
    assert_eq!(definition.typed_method(), Some("toolwire.brokerage.v1.BrokerageService/GetQuotes"));
    insta::assert_debug_snapshot!(definition.wire(ToolView::Basic));
    let full = definition.wire(ToolView::Full);
    assert!(full.examples.len() == 1 && full.utterances.len() == 1);
    assert!(full.input_schema.is_some() && full.input_schema_json.is_empty());
    assert!(full.output_schema.is_some() && full.output_schema_json.is_empty());
    let json = definition.wire(ToolView::FullJson);
    let (input, output) = (definition.input_schema.to_string(), definition.output_schema.to_string());
    assert!(json.input_schema.is_none() && json.input_schema_json == input);
    assert!(json.output_schema.is_none() && json.output_schema_json == output);
    assert_eq!((&json.digest, &json.examples), (&full.digest, &full.examples));
}

#[test]
fn the_digest_tells_definitions_apart_and_nothing_else() {
    let digest = |changes| {
        let snapshot = Data::with(&[manifest("get_quotes", &changes)]).open().snapshot();
        snapshot.get("get_quotes").expect("the tool").definition.digest
    };
    let plain = digest(json!({}));
    assert_eq!(plain.to_string().len(), 64);
    assert_eq!(plain, digest(json!({})));
    for change in
        [json!({"title": "Q"}), json!({"timeout_ms": 1}), json!({"parameters": {"symbol": {"default": "A"}}})]
    {
        assert_ne!(plain, digest(change.clone()), "{change}");
    }
}

/// The contract's words: SHA-256 over the RFC 8785 form of the ProtoJSON without four fields, each schema in both
/// forms.
#[test]
fn the_digest_of_every_bundled_definition_is_what_the_contract_says() {
    let domains = domains::bundled();
    let tree = Embedded::of_all(domains.iter().map(|domain| (domain.name, &domain.data)));
    let tree = Tree::Embedded(tree.expect("each path is one domain's"));
    let registry = Registry::open(app::gather(&tree, &domains, &Config::default()).expect("they agree"));
    let snapshot = registry.expect("good manifests").snapshot();
    for definition in snapshot.tools().map(|tool| &tool.definition) {
        let text = definition.wire(ToolView::FullJson);
        let complete = ToolDefinition {
            input_schema_json: text.input_schema_json,
            output_schema_json: text.output_schema_json,
            digest: String::new(),
            status: None,
            domain: String::new(),
            sample: false,
            ..definition.wire(ToolView::Full)
        };
        let form = serde_json_canonicalizer::to_vec(&complete.transcode_to_dynamic()).expect("ProtoJSON");
        assert_eq!(definition.digest, Digest::of_bytes(&form), "{}", definition.name);
    }
}

#[test]
fn tools_that_declare_the_same_share_their_schema_and_no_others_do() {
    let think = |name: &str, parameters: &str| {
        let parameters: Value = serde_json::from_str(parameters).expect("JSON");
        manifest(name, &json!({"parameters": parameters, "returns": {"a": "string", "b": "string"}}))
    };
    let same = r#"{"a": {"type": "string", "min_length": 1}, "b": "string"}"#;
    let data = Data::with(&[
        think("first", same),
        think("second", same),
        think("reordered", r#"{"b": "string", "a": {"type": "string", "min_length": 1}}"#),
        think("narrower", r#"{"a": {"type": "string", "min_length": 2}, "b": "string"}"#),
    ]);
    let snapshot = data.open().snapshot();
    let schema = |name: &str| Arc::clone(&snapshot.get(name).expect("the tool").definition.input_schema);
    assert!(Arc::ptr_eq(&schema("first"), &schema("second")));
    assert_ne!(schema("first").to_string(), schema("reordered").to_string());
    assert_ne!(schema("first"), schema("narrower"));
    // What is wrong is told in each file.
    data.put(&think("first", r#"{"a": {"type": "string", "default": 1}}"#));
    data.put(&think("second", r#"{"a": {"type": "string", "default": 1}}"#));
    let files: Vec<_> = data.problems().into_iter().map(|it| (it.file, it.rule)).collect();
    let bad = |file: &str| (file.to_owned(), "bad-default");
    assert_eq!(files, [bad("tools/first.json"), bad("tools/second.json")]);
}
