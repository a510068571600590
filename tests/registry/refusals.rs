//! Every manifest that start-up refuses: the rule and where.

use serde_json::{Value, json};

use super::support::{Data, manifest};

/// A `get_positions_list` with the given changes breaks exactly the given rules, as `rule pointer`.
#[track_caller]
fn check(changes: &Value, expected: &[&str]) {
    check_manifest(&manifest("get_positions_list", changes), expected);
}

/// A tool that executes nothing and declares the given parameters itself.
#[track_caller]
fn check_parameters(parameters: &Value, expected: &[&str]) {
    check_manifest(&manifest("think", &json!({"parameters": parameters})), expected);
}

#[track_caller]
fn check_manifest(manifest: &Value, expected: &[&str]) {
    let problems = Data::with(std::slice::from_ref(manifest)).problems();
    let found: Vec<_> = problems.iter().map(|it| format!("{} {}", it.rule, it.pointer)).collect();
    assert_eq!(found, expected, "{problems:#?}");
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
fn a_key_that_is_missing() {
    for key in ["description", "type", "category", "consequence_level", "requires_confirmation"] {
        check(&json!({key: null}), &[&format!("missing-key /{key}")]);
    }
}

#[test]
fn a_key_that_is_mistyped() {
    for (key, value) in [
        ("description", json!(" ")),
        ("type", json!("function")),
        ("category", json!("READ")),
        ("consequence_level", json!(1)),
        ("requires_confirmation", json!("no")),
        ("timeout_ms", json!(0)),
        ("tags", json!("portfolio")),
        ("untrusted", json!("yes")),
        ("parameters", json!([])),
        ("source", json!("brokerage")),
    ] {
        check(&json!({key: value}), &[&format!("wrong-type /{key}")]);
    }
    check(&json!({"tags": ["a", 1]}), &["wrong-type /tags/1"]);
    check(&json!({"tags": ["a", "b", "a"]}), &["duplicate /tags"]);
    check(
        &json!({"cache": {"ttl": "soon", "tier": "disk"}}),
        &["wrong-type /cache/ttl", "wrong-type /cache/tier"],
    );
}

#[test]
fn a_key_that_is_unknown_at_any_level() {
    check(&json!({"descripton": "x"}), &["unknown-key /descripton"]);
    check(&json!({"source": {"name": "brokerage", "section": []}}), &["unknown-key /source/section"]);
    check(
        &json!({"examples": [{"description": "x", "arguments": {}, "args": {}}]}),
        &["unknown-key /examples/0/args"],
    );
    // The types come from the message.
    check(&json!({"parameters": {"account": {"type": "string"}}}), &["unknown-key /parameters/account/type"]);
    check(&json!({"returns": {"account": {"default": "x"}}}), &["unknown-key /returns/account/default"]);
}

#[test]
fn a_problem_says_what_was_probably_meant() {
    let problems = Data::with(&[manifest("get_quotes", &json!({"descripton": "x"}))]).problems();
    assert_eq!(problems[0].description, "unknown key `descripton`. Did you mean description?");
    let problems = Data::with(&[manifest("get_quotes", &json!({"category": "READ"}))]).problems();
    let expected =
        "`category` must be one of read, write, delete, side_effect, but is \"READ\". Did you mean read?";
    assert_eq!(problems[0].description, expected);
}

#[test]
fn a_problem_says_what_is_expected_and_what_stands_there() {
    for (changes, expected) in [
        (json!({"version": "1"}), "`version` must be a semantic version such as 1.0.0, but is \"1\""),
        (json!({"tags": ["a", 1]}), "each of `tags` must be a text that is not blank, but is 1"),
        (json!({"source": {}}), "`name` is missing; it must be a text that is not blank"),
        (
            json!({"cache": {"ttl": {}, "tier": "session"}}),
            "`ttl` must be a number of seconds, at least 1, or a length of time such as 500ms, 5s, 2m or 1h; not 0, \
             but is an object",
        ),
        (
            json!({"cache": {"ttl": 5, "ttl_s": 5, "tier": "session"}}),
            "`ttl_s` is an alias of `ttl`; keep `ttl` only",
        ),
        (json!({"upstream": {}}), "`provider` is missing; it must be a text that is not blank"),
        (json!({"keywords": ["a"]}), "write 5 to 60 keywords, or none"),
    ] {
        let problems = Data::with(&[manifest("get_positions_list", &changes)]).problems();
        assert_eq!(problems.iter().map(|it| it.description.as_str()).collect::<Vec<_>>(), [expected]);
    }
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

#[test]
fn messages_that_are_unknown_or_another() {
    check(
        &json!({"output": "toolwire.brokerage.v1.GetPositionsListOutpt"}),
        &["message-mismatch /output", "unknown-message /output"],
    );
    check(&json!({"input": "toolwire.brokerage.v1.GetPositionsRequest"}), &["message-mismatch /input"]);
    check(&json!({"input": null}), &["message-mismatch /input"]);
}

#[test]
fn messages_that_cannot_be_payloads() {
    let with = |key: &str, message: &str| manifest("think", &json!({key: format!("toolwire.v1.{message}")}));
    check_manifest(&with("input", "CancelCallRequest"), &["oneof-field /input"; 2]);
    check_manifest(&with("input", "ToolSource"), &["field-not-optional /input"]);
    check_manifest(&with("output", "ToolStatus"), &["enum-field /output"]);
}

#[test]
fn fields_that_the_message_has_not() {
    check(&json!({"parameters": {"assetClass": {}}}), &["unknown-parameter /parameters/assetClass"]);
    check(&json!({"returns": {"positions.nam": {}}}), &["unknown-field /returns/positions.nam"]);
    check(
        &json!({"returns": {"positions": {"omit_when_absent": true}}}),
        &["never-absent /returns/positions/omit_when_absent"],
    );
}

#[test]
fn constraints_that_nothing_satisfies() {
    let text = |constraints: Value| json!({"parameters": {"account": constraints}});
    check(&text(json!({"enum": []})), &["empty-enum /parameters/account/enum"]);
    check(&text(json!({"enum": ["a", 1]})), &["bad-enum-value /parameters/account/enum/1"]);
    check(&text(json!({"pattern": "("})), &["bad-pattern /parameters/account/pattern"]);
    check(&text(json!({"min_length": 3, "max_length": 2})), &["empty-range /parameters/account/min_length"]);
    check(&text(json!({"min_length": -1})), &["wrong-type /parameters/account/min_length"]);
    check(&text(json!({"default": 1})), &["bad-default /parameters/account/default"]);
    check(&text(json!({"enum": ["a"], "default": "b"})), &["bad-default /parameters/account/default"]);
    check(
        &text(json!({"max_length": 2, "examples": ["abc"]})),
        &["bad-example /parameters/account/examples/0"],
    );
    check(&text(json!({"minimum": 1})), &["constraint-not-applicable /parameters/account/minimum"]);
    check(&text(json!({"items": {}})), &["constraint-not-applicable /parameters/account/items"]);
    let number = |mut constraints: Value| {
        constraints["type"] = json!("integer");
        json!({"count": constraints})
    };
    check_parameters(
        &number(json!({"minimum": 2, "maximum": 1})),
        &["empty-range /parameters/count/minimum"],
    );
    check_parameters(
        &number(json!({"maximum": 5, "default": 6})),
        &["bad-default /parameters/count/default"],
    );
    check_parameters(&number(json!({"default": 1.5})), &["bad-default /parameters/count/default"]);
}

#[test]
fn a_schema_of_ones_own_with_bad_types() {
    check_parameters(&json!({"a": "text"}), &["wrong-type /parameters/a"]);
    check_parameters(&json!({"a": {}}), &["missing-key /parameters/a/type"]);
    check_parameters(&json!({"aB": "string"}), &["bad-name /parameters/aB"]);
    check_parameters(
        &json!({"a": {"type": "array", "items": {"type": "object", "properties": {"b": "txt"}}}}),
        &["wrong-type /parameters/a/items/properties/b"],
    );
}

#[test]
fn an_example_that_fails_its_own_schema() {
    check(
        &json!({
            "parameters": {"asset_class": {"enum": ["stocks", "etf"]}},
            "examples": [
                {"description": "good", "arguments": {"asset_class": "etf"}},
                {"description": "bad", "arguments": {"asset_class": "etfs", "acount": "x"}},
            ],
        }),
        &["bad-example /examples/1/arguments/asset_class", "bad-example /examples/1/arguments/acount"],
    );
}

#[test]
fn an_upstream_is_a_provider_of_a_tool_that_executes_something_without_messages() {
    check(&json!({"upstream": {}}), &["missing-key /upstream/provider"]);
    check(
        &json!({"upstream": {"provider": "shop"}}),
        &["upstream-message /input", "upstream-message /output"],
    );
}

/// A tool that the platform carries out by its type, with the parameter that the type needs.
#[track_caller]
fn check_carried_out(kind: &str, parameter: &str, changes: &Value, expected: &[&str]) {
    let of = match parameter {
        "result" => "object",
        _ => "string",
    };
    let mut tool =
        manifest("go", &json!({"type": kind, "parameters": {parameter: {"type": of, "required": true}}}));
    let changes = changes.as_object().expect("an object").clone();
    tool.as_object_mut().expect("an object").extend(changes);
    check_manifest(&tool, expected);
}

/// What executes nothing needs no code, but what its type is about.
#[test]
fn a_type_that_lacks_what_it_is_about() {
    for (kind, parameter) in [("handoff", "result"), ("ask_master", "question"), ("root", "request")] {
        let missing = format!("missing-parameter /parameters/{parameter}");
        assert_eq!(Data::with(&[manifest("go", &json!({"type": kind}))]).problems().len(), 1, "{kind}");
        check_carried_out(kind, parameter, &json!({"parameters": {parameter: "string"}}), &[&missing]);
        let analyst = json!({"agent": "analyst"});
        check_carried_out(kind, parameter, &analyst, &["role-not-delegated /agent"]);
    }
    check_carried_out("agent_as_tool", "request", &json!({}), &["missing-key /agent"]);
    check_carried_out("agent_as_tool", "request", &json!({"agent": "An Analyst"}), &["bad-name /agent"]);
    let paths =
        json!({"parameters": {"result": {"type": "object", "required": true}, "documents": "string"}});
    check_carried_out("handoff", "result", &paths, &["wrong-type /parameters/documents"]);
    let cache = json!({"cache": {"ttl": "1m", "tier": "request"}});
    check_carried_out("handoff", "result", &cache, &["cache-not-executed /cache"]);
}

/// Only what is logged is remembered, and the words of it are its note.
#[test]
fn a_memory_of_what_is_not_logged_or_has_no_note() {
    let tree = json!({"memory": "tree"});
    check_carried_out("handoff", "result", &tree, &["memory-not-logged /memory"]);
    check_carried_out("non_function_tool", "thought", &tree, &["missing-parameter /parameters/note"]);
    let noted = manifest(
        "note",
        &json!({
            "type": "non_function_tool",
            "memory": "user",
            "parameters": {"note": {"type": "string", "required": true}}
        }),
    );
    assert_eq!(Data::with(&[noted]).problems_if_any().unwrap_or_default(), []);
    check_carried_out("non_function_tool", "note", &json!({"memory": "session"}), &["wrong-type /memory"]);
}

#[test]
fn a_type_without_code_that_has_what_it_is_about_is_accepted() {
    let with = |kind: &str, more: &Value| {
        let mut tool = manifest("go", &json!({"type": kind}));
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Data::with(&[tool]).problems_if_any().unwrap_or_default()
    };
    let text = |name: &str| json!({"parameters": {name: {"type": "string", "required": true}}});
    let result = json!({"parameters": {"result": {"type": "object", "required": true}}});
    let mut request = text("request");
    assert_eq!(with("root", &request), []);
    assert_eq!(with("handoff", &result), []);
    assert_eq!(with("ask_master", &text("question")), []);
    request["agent"] = json!("analyst");
    assert_eq!(with("agent_as_tool", &request), []);
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

#[test]
fn what_contradicts_itself() {
    check(
        &json!({"category": "write", "cache": {"ttl": "15m", "tier": "session"}}),
        &["cache-not-read /cache"],
    );
    check(&json!({"tool_id": "get_positions_list"}), &["alias-and-name /tool_id"]);
}

#[test]
fn a_function_tool_that_nothing_executes() {
    check_manifest(&manifest("think", &json!({"type": "function_tool"})), &["no-executor "]);
}

#[test]
fn words_with_places_that_have_no_value() {
    check(
        &json!({"progress": "Looking at {acount}", "summary": "{positions} positions, {best.x}, {as_of"}),
        &["unknown-placeholder /progress", "bad-template /summary"],
    );
    check(
        &json!({"summary": "{as_off} {as_of?a:b} {positions.size:.0}"}),
        &["unknown-placeholder /summary", "placeholder-form /summary", "unknown-placeholder /summary"],
    );
}
