//! Arguments that callers neither see nor give: what is refused of them, and what they become.

use serde_json::{Value, json};
use toolwire::{
    base::clock,
    tool::context::{ToolContext, User},
};

use super::support::{Data, input_of, manifest, object};

fn context() -> ToolContext {
    let user = User { email: Some("riley@example.com".to_owned()), ..User::new("riley".parse().unwrap()) };
    ToolContext::new(user, clock::now())
}

fn parameters() -> Value {
    json!({"parameters": {
        "symbol": {"type": "string", "required": true},
        "account": {"type": "string", "required": true, "bind": "user.id"},
        "mail": {"type": "string", "bind": "user.email"},
        "task": {"type": "string", "bind": "task_id"},
        "mode": {"type": "string", "enum": ["SAFE", "FAST"], "fixed": "SAFE"},
        "read_mask": {"type": "string", "hidden": true, "default": "id,total"},
        "filter": {"type": "string", "hidden": true},
        "secret": {"type": "string", "fixed": "s3cret", "sensitive": true},
    }})
}

#[test]
fn hidden_arguments_are_no_part_of_the_schema_and_are_filled_in_once_the_others_are_checked() {
    let input = input_of("think", &parameters());
    let expected = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"symbol": {"type": "string"}},
        "required": ["symbol"],
        "additionalProperties": false,
    });
    assert_eq!(*input.schema(), expected);
    let mut arguments = input.check(object(&json!({"symbol": "A"}))).unwrap();
    input.fill(&mut arguments, &context()).unwrap();
    let mut expected = json!({
        "symbol": "A", "account": "riley", "mail": "riley@example.com", "mode": "SAFE", "read_mask": "id,total",
        "secret": "s3cret",
    });
    assert_eq!(arguments, object(&expected));
    expected["secret"] = json!("[redacted]");
    assert_eq!(*input.mask(&arguments), object(&expected));
}

#[test]
fn a_hidden_argument_that_a_caller_gives_is_an_unknown_parameter() {
    let input = input_of("think", &parameters());
    for name in ["account", "mail", "mode", "read_mask", "readMask", "filter", "secret"] {
        let violations = input.check(object(&json!({"symbol": "A", name: "x"}))).unwrap_err();
        let found: Vec<_> = violations.iter().map(|it| it.description.clone()).collect();
        assert_eq!(found, [format!("unknown parameter `{name}`; known: `symbol`")]);
    }
}

#[test]
fn a_value_that_got_past_the_schema_never_stands_for_a_hidden_argument() {
    let input = input_of("think", &parameters());
    let mut forged = object(&json!({
        "symbol": "A", "account": "alex", "mail": "alex@example.com", "task": "t", "mode": "FAST", "filter": "all",
    }));
    input.fill(&mut forged, &context()).unwrap();
    let expected = json!({
        "symbol": "A", "account": "riley", "mail": "riley@example.com", "mode": "SAFE", "read_mask": "id,total",
        "secret": "s3cret",
    });
    assert_eq!(forged, object(&expected), "the caller has no task, and `filter` has no value");
}

#[test]
fn a_call_that_lacks_what_is_bound_and_required_says_what_to_bring() {
    for (bind, needed) in
        [("task_id", "context.task_id"), ("session_id", "context.session_id"), ("user.role", "user.role")]
    {
        let parameters = json!({"parameters": {"it": {"type": "string", "required": true, "bind": bind}}});
        let input = input_of("think", &parameters);
        let violations = input.fill(&mut object(&json!({})), &context()).unwrap_err();
        assert_eq!(violations.len(), 1);
        assert_eq!((violations[0].pointer.as_str(), violations[0].rule.as_str()), (needed, "bind"));
    }
}

#[track_caller]
fn refused(parameter: &Value, expected: &[&str]) {
    refused_of(&manifest("think", &json!({"parameters": {"it": parameter}})), expected);
}

#[track_caller]
fn refused_of(manifest: &Value, expected: &[&str]) {
    let problems = Data::with(std::slice::from_ref(manifest)).problems();
    let found: Vec<_> = problems.iter().map(|it| format!("{} {}", it.rule, it.pointer)).collect();
    assert_eq!(found, expected, "{problems:#?}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    refused(&json!({"type": "string", "bind": "user.name"}), &["wrong-type /parameters/it/bind"]);
    refused(
        &json!({"type": "string", "bind": "user.id", "fixed": "x"}),
        &["hidden-twice /parameters/it/fixed"],
    );
    refused(
        &json!({"type": "string", "fixed": "x", "default": "y"}),
        &["hidden-twice /parameters/it/default"],
    );
    refused(
        &json!({"type": "string", "hidden": true, "required": true}),
        &["hidden-required /parameters/it/required"],
    );
    refused(&json!({"type": "integer", "bind": "user.id"}), &["bind-not-text /parameters/it/bind"]);
    refused(
        &json!({"type": "string", "max_length": 5, "bind": "user.id"}),
        &["bind-not-text /parameters/it/bind"],
    );
    refused(&json!({"type": "integer", "fixed": "many"}), &["bad-fixed /parameters/it/fixed"]);
    refused(
        &json!({"type": "string", "hidden": true, "extract": "rest"}),
        &["hidden-extract /parameters/it/extract"],
    );
    refused(
        &json!({"type": "object", "properties": {"a": {"type": "string", "fixed": "x"}}}),
        &["hidden-part /parameters/it/properties/a/fixed"],
    );
    refused(&json!({"type": "string", "bind": "call_id"}), &["bound-not-executed /parameters/it/bind"]);
}

#[test]
fn what_one_caller_or_one_call_has_is_in_no_cache_of_others() {
    let cached = |bind: &str, scope: &str| {
        let cache = json!({"ttl": "1m", "tier": "request", "scope": scope});
        manifest("get_positions_list", &json!({"cache": cache, "parameters": {"account": {"bind": bind}}}))
    };
    for bind in ["user.id", "user.email", "user.role", "task_id", "session_id"] {
        refused_of(&cached(bind, "shared"), &["bound-and-shared /parameters/account/bind"]);
        assert_eq!(Data::with(&[cached(bind, "user")]).problems_if_any(), None);
    }
    for bind in ["call_id", "request_id"] {
        refused_of(&cached(bind, "user"), &["bound-and-cached /parameters/account/bind"]);
    }
    // Nor by way of a tool that calls it.
    let bound = manifest("get_positions_list", &json!({"parameters": {"account": {"bind": "user.id"}}}));
    let calling = |scope: &str| {
        let cache = json!({"ttl": "1m", "tier": "request", "scope": scope});
        let caller =
            manifest("rank_portfolio", &json!({"cache": cache, "depends_on": ["get_positions_list"]}));
        Data::with(&[bound.clone(), caller]).problems_if_any().unwrap_or_default()
    };
    assert_eq!(calling("user"), []);
    let shared = calling("shared");
    assert_eq!((shared.len(), shared[0].rule), (1, "bound-and-shared"), "{shared:?}");
}
