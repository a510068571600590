//! What providers of models are told of tools: goldens of every format, and what holds of each whatever the tools.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use strum::VariantArray as _;
use toolwire::engine::{
    exports::{Export, Format, Options, export},
    registry::{DisabledTool, Registry},
};

use super::support::{Data, manifest};

/// Tools with every keyword that a manifest can state, and one of each kind of change.
fn data() -> Data {
    let parameters = json!({
        "title": {"type": "string", "required": true, "description": "What it is called.", "min_length": 1, "max_length": 80},
        "size": {"type": "integer", "enum": [1, 2, 4], "default": 2},
        "rate": {"type": "number", "minimum": 0, "maximum": 1},
        "word": {"type": "string", "pattern": "^[a-z]+$", "examples": ["one", "two", "three"]},
        "rows": {
            "type": "array",
            "min_items": 1,
            "items": {"type": "object", "properties": {"key": {"type": "string", "required": true}, "on": "boolean"}},
        },
    });
    let write = json!({
        "title": "Put",
        "description": "Puts something. Use it to keep something.",
        "category": "write",
        "consequence_level": "high",
        "requires_confirmation": true,
        "parameters": parameters,
        "tags": ["store"],
        "examples": [{"description": "A small one", "arguments": {"title": "a", "rows": [{"key": "k"}]}}],
    });
    let quotes = json!({
        "title": "Quotes",
        "description": "Returns quotes.",
        "parameters": {"symbol": {"required": true, "min_length": 1, "examples": ["AAPL", "AAPL,MSFT"]}},
        "examples": [{"description": "One symbol", "arguments": {"symbol": "AAPL"}}],
        "source": {"name": "brokerage", "sections": ["quotes"]},
        "tags": ["market"],
    });
    let forget = json!({"description": "Forgets all.", "category": "delete", "idempotent": true});
    let open = json!({
        "description": "Takes anything.",
        "parameters": {"result": {"type": "object", "required": true, "description": "The result."}},
        "type": "handoff",
    });
    Data::with(&[
        manifest("put_thing", &write),
        manifest("get_quotes", &quotes),
        manifest("forget_all", &forget),
        manifest("hand_over", &open),
    ])
}

fn exported(registry: &Registry, format: Format, strict: bool) -> Export {
    let snapshot = registry.snapshot();
    let definitions: Vec<_> = snapshot.tools().map(|tool| &tool.definition).collect();
    let on_network = BTreeSet::from(["brokerage".to_owned()]);
    export(format, &definitions, &Options { strict, on_network })
}

fn value(export: &Export) -> Value {
    serde_json::from_str(&export.json).expect("JSON")
}

/// One golden a format: what was exported, then the notes.
#[track_caller]
fn check(name: &str, format: Format, strict: bool) {
    let export = exported(&data().open(), format, strict);
    let text = format!("{:#}\n\n{}", value(&export), export.notes.join("\n"));
    insta::assert_snapshot!(name, text);
}

#[test]
fn what_gemini_is_told() {
    check("export_gemini", Format::Gemini, false);
}

#[test]
fn what_gemini_is_told_in_the_words_of_openapi() {
    check("export_gemini_openapi", Format::GeminiOpenapi, false);
}

#[test]
fn what_openai_is_told() {
    check("export_openai", Format::Openai, false);
    check("export_openai_strict", Format::Openai, true);
}

#[test]
fn what_openai_is_told_for_responses() {
    check("export_openai_responses", Format::OpenaiResponses, false);
    check("export_openai_responses_strict", Format::OpenaiResponses, true);
}

#[test]
fn what_anthropic_is_told() {
    check("export_anthropic", Format::Anthropic, false);
}

#[test]
fn what_mcp_lists() {
    check("export_mcp", Format::Mcp, false);
}

#[test]
fn the_same_tools_are_the_same_bytes_and_stand_in_order_of_name() {
    for &format in Format::VARIANTS {
        for strict in [false, true] {
            let (first, again) =
                (exported(&data().open(), format, strict), exported(&data().open(), format, strict));
            assert_eq!(first, again, "{}", format.into_str());
            let at = |name: &str| first.json.find(&format!("\"name\":\"{name}\"")).expect("the tool");
            let places = ["forget_all", "get_quotes", "hand_over", "put_thing"].map(at);
            assert!(places.is_sorted(), "{}: {places:?}", format.into_str());
            assert!(!first.json.contains('\n'));
        }
    }
}

#[test]
fn a_format_has_a_name_and_a_name_a_format() {
    for &format in Format::VARIANTS {
        assert_eq!(format.into_str().parse(), Ok(format));
    }
    assert!("OpenAI".parse::<Format>().is_err());
}

#[test]
fn a_strict_form_that_there_is_not_is_noted() {
    let notes = |format| exported(&data().open(), format, true).notes;
    for format in [Format::Gemini, Format::GeminiOpenapi, Format::Anthropic, Format::Mcp] {
        assert!(notes(format)[0].contains("no strict form"), "{format:?}");
    }
    assert_eq!(notes(Format::Openai), ["hand_over: not strict: /result takes any members"]);
}

#[test]
fn a_tool_that_cannot_be_called_is_left_out_and_noted() {
    let data = data();
    let reason = "nothing is configured".to_owned();
    let disabled = vec![DisabledTool { tool: "forget_all", reason }];
    let registry = Registry::open(toolwire::engine::registry::RegistryInput { disabled, ..data.offered() })
        .expect("opens");
    for &format in Format::VARIANTS {
        let export = exported(&registry, format, false);
        assert!(!export.json.contains("forget_all"), "{}", export.json);
        let note = "forget_all: left out, since it cannot be called: nothing is configured";
        assert!(export.notes.iter().any(|it| it == note), "{:?}", export.notes);
    }
}

#[test]
fn no_tools_are_an_empty_list() {
    let registry = Data::new().open();
    let json = |format| exported(&registry, format, false).json;
    assert_eq!(json(Format::Openai), "[]");
    assert_eq!(json(Format::Mcp), r#"{"tools":[]}"#);
    assert_eq!(json(Format::Gemini), "[]");
}
