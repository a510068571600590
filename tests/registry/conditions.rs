//! Conditions on arguments: what is refused of them where they are read, and what checked arguments break.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolwire::{base::files::Problem, engine::registry::Registry};

use super::support::{Data, manifest, object};

/// A tool with conditions that declares a parameter of each kind itself.
fn pay(conditions: &Value) -> Value {
    manifest(
        "pay",
        &json!({"category": "write", "approve_unless": conditions, "parameters": {
            "amount": {"type": "number", "default": 10},
            "account": "string",
            "lines": {"type": "array", "items": {"type": "object", "properties": {"price": "number", "free": "object"}}},
            "token": {"type": "string", "sensitive": true},
            "key": {"type": "string", "bind": "request_id"},
            "role": {"type": "string", "bind": "user.role"},
        }}),
    )
}

fn rules(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|it| format!("{} {}", it.rule, it.pointer)).collect()
}

#[track_caller]
fn refused(conditions: &Value, expected: &[&str]) -> String {
    // What executes nothing fills in no identifier, which is another problem.
    let problems = Data::with(&[pay(conditions)]).problems();
    let found: Vec<_> =
        rules(&problems).into_iter().filter(|it| !it.starts_with("bound-not-executed")).collect();
    assert_eq!(found, expected, "{conditions}: {problems:#?}");
    problems.into_iter().map(|it| it.description).collect()
}

#[test]
fn what_would_let_every_call_pass_is_refused() {
    let table: Vec<(Value, String)> =
        serde_json::from_str(include_str!("../fixtures/registry/conditions.json")).expect("a table");
    for (conditions, expected) in table {
        refused(&conditions, &[&expected]);
    }
    let said = refused(&json!({"amout": {"maximum": 100}}), &["unknown-parameter /approve_unless/amout"]);
    assert!(said.contains("the tool has no parameter `amout`. Did you mean amount"), "{said}");
    let said = refused(
        &json!({"lines": {"items": {"properties": {"prise": {"maximum": 1}}}}}),
        &["unknown-parameter /approve_unless/lines/items/properties/prise"],
    );
    assert!(said.contains("the parameter has no member `prise`. Did you mean price"), "{said}");
    let said = refused(&json!({"amount": {"maximun": 100}}), &["unknown-key /approve_unless/amount/maximun"]);
    assert!(said.contains("unknown key `maximun`. Did you mean maximum"), "{said}");
}

/// The definition of a tool that executes something, so that it may have what only an execution fills in.
fn open(conditions: &Value, configured: Option<Value>) -> Result<Registry, Vec<String>> {
    let mut pay = pay(conditions);
    pay["parameters"].as_object_mut().unwrap().shift_remove("key");
    if conditions.is_null() {
        pay.as_object_mut().unwrap().shift_remove("approve_unless");
    }
    let data = Data::with(&[pay]);
    let approve_unless =
        configured.into_iter().flat_map(|it| object(&it)).map(|(tool, it)| (tool, object(&it)));
    let offered = toolwire::engine::registry::RegistryInput {
        approve_unless: approve_unless.collect::<BTreeMap<_, _>>(),
        ..data.offered()
    };
    Registry::open(offered).map_err(|problems| {
        problems.0.iter().map(|it| format!("{} {}{}", it.rule, it.file, it.pointer)).collect()
    })
}

#[test]
fn arguments_pass_only_if_each_named_one_is_there_and_satisfies_its_schema() {
    let conditions = json!({
        "amount": {"minimum": 0, "exclusiveMaximum": 100},
        "account": {"enum": ["a", "b"]},
        "lines": {"items": {"properties": {"price": {"maximum": 5}}, "required": ["price"]}},
        "token": {"minLength": 3},
    });
    let registry = open(&conditions, None).unwrap();
    let tool = registry.snapshot().get("pay").unwrap().clone();
    let all = tool.conditions.as_ref().unwrap();
    let good = json!({"amount": 5, "account": "a", "lines": [{"price": 5}], "token": "long"});
    assert!(all.hold(&object(&good)) && all.explain_broken(&object(&good)).is_empty());
    for (argument, value, said) in [
        ("amount", json!(100), "`amount` must be less than 100, but is 100"),
        ("amount", json!(-0.5), "`amount` must be at least 0, but is -0.5"),
        ("amount", json!("5"), "`amount` must be"),
        ("amount", Value::Null, "`amount` is not given"),
        ("account", json!("c"), "`account` must be one of \"a\", \"b\", but is \"c\""),
        ("lines", json!([{"price": 5}, {"price": 6}]), "`lines.1.price` must be at most 5, but is 6"),
        ("lines", json!([{}]), "`lines.0` breaks the rule required"),
        ("token", json!("ab"), "`token` breaks its condition"),
    ] {
        let mut arguments = object(&good);
        arguments.insert(argument.to_owned(), value.clone());
        let broken = all.explain_broken(&arguments);
        // A schema says nothing of other types than it names; the tool's own schema does.
        if value == json!("5") {
            assert!(tool.input.check(arguments).unwrap()["amount"] == json!(5));
            continue;
        }
        assert!(!all.hold(&arguments) && broken.starts_with(said), "{argument} {value}: {broken}");
        arguments.shift_remove(argument);
        assert_eq!(all.explain_broken(&arguments), format!("`{argument}` is not given"));
    }
}

#[test]
fn a_member_that_a_condition_names_must_be_there() {
    let holds = |condition: Value, lines: Value| {
        let registry = open(&json!({"lines": condition}), None).unwrap();
        let tool = registry.snapshot().get("pay").unwrap().clone();
        tool.conditions.as_ref().unwrap().hold(&object(&json!({"lines": lines})))
    };
    let small = json!({"properties": {"price": {"maximum": 5}}});
    let free = json!({"properties": {"free": {"properties": {"fee": {"type": "number", "maximum": 5}}, "required": ["to"]}}});
    for (condition, good, bad) in [
        (json!({"items": small}), json!([{"price": 5}]), json!([{}])),
        (json!({"items": {"anyOf": [small]}}), json!([{"price": 5}]), json!([{}])),
        (
            json!({"items": free}),
            json!([{"free": {"fee": 5, "to": "a"}}]),
            json!([{"free": {"fe": 5, "to": "a"}}]),
        ),
        // What is not to hold says nothing of a member that is absent: such a call asks.
        (json!({"items": {"not": small}}), json!([{"price": 6}]), json!([{}])),
        (json!({"items": {"not": {"not": small}}}), json!([{"price": 5}]), json!([{}])),
    ] {
        assert!(holds(condition.clone(), good), "{condition}");
        assert!(!holds(condition.clone(), bad), "{condition}");
    }
}

#[test]
fn conditions_of_the_manifest_and_of_the_configuration_add_up() {
    let own = json!({"amount": {"maximum": 100}});
    let configured =
        json!({"pay": {"amount": {"minimum": 1}, "account": {"const": "a"}, "role": {"const": "clerk"}}});
    let registry = open(&own, Some(configured.clone())).unwrap();
    let tool = registry.snapshot().get("pay").unwrap().clone();
    let expected = r#"{"account":{"const":"a"},"amount":{"allOf":[{"maximum":100},{"minimum":1}]},"role":{"const":"clerk"}}"#;
    let wire = tool.definition.wire(toolwire::contract::proto::v1::ToolView::Basic);
    assert_eq!(wire.approve_unless, expected);
    let all = tool.conditions.as_ref().unwrap();
    let holds = |amount: i32, account: &str| {
        all.hold(&object(&json!({"amount": amount, "account": account, "role": "clerk"})))
    };
    assert!(holds(1, "a") && holds(100, "a"));
    assert!(!holds(0, "a") && !holds(101, "a") && !holds(50, "b"));

    let digest = |registry: Registry| registry.snapshot().get("pay").unwrap().definition.digest;
    let digests = [(own.clone(), None), (Value::Null, None), (own.clone(), Some(configured))];
    let [one, none, both] = digests.map(|(own, configured)| digest(open(&own, configured).unwrap()));
    assert!(one != none && one != both && none != both, "each is another definition");
}

#[test]
fn what_is_wrong_with_conditions_of_the_configuration_is_said_where_they_stand() {
    let at = "toolwire.toml/confirmations/approve_unless";
    for (configured, expected) in [
        (json!({"pay": {"amout": {"maximum": 1}}}), format!("unknown-parameter {at}/pay/amout")),
        (json!({"pay": {"amount": {"maximun": 1}}}), format!("unknown-key {at}/pay/amount/maximun")),
        (json!({"pay": {}}), format!("empty-condition {at}/pay")),
        (json!({"pax": {"amount": {"maximum": 1}}}), format!("unknown-tool {at}/pax")),
    ] {
        assert_eq!(open(&Value::Null, Some(configured)).unwrap_err(), [expected]);
    }
}

#[test]
fn a_writer_that_reaches_a_tool_with_conditions_must_be_repeatable() {
    let mut paying = pay(&json!({"amount": {"maximum": 100}}));
    paying["parameters"].as_object_mut().unwrap().shift_remove("key");
    let caller = manifest("trade", &json!({"category": "write", "depends_on": ["pay"]}));
    assert_eq!(rules(&Data::with(&[paying, caller]).problems()), ["not-repeatable /depends_on/0"]);
}
