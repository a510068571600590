//! Tools of providers beside those of files.

use std::{collections::BTreeSet, fs};

use futures_util::future::BoxFuture;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::registry::{Manifests, Offered, Registry, Status};
use toolwire_base::files::Tree;
use toolwire_contract::{Payload, arguments::Arguments, descriptors};
use toolwire_tool::{
    Reply, Shape,
    context::{Required, Services, ToolContext, Unfinished},
};

/// A tool of some other process, which is never executed here.
struct Elsewhere(&'static str);

impl Executor for Elsewhere {
    fn name(&self) -> &str {
        self.0
    }

    fn schema(&self) -> Shape {
        let order = json!({"type": "string", "pattern": "^[A-Z]-[0-9]+$"});
        let input = json!({"type": "object", "properties": {"order_id": order}, "required": ["order_id"], "additionalProperties": false});
        Shape::Json { input: Arc::new(input), output: Arc::new(json!({"type": "object"})) }
    }

    fn services(&self) -> Required {
        Required::none()
    }

    fn normalize(&self, _arguments: &mut Arguments, _services: &Services) {}

    fn state<'a>(&'a self, _: &Arguments, _: &'a ToolContext) -> Option<BoxFuture<'a, String>> {
        None
    }

    fn execute<'a>(
        &'a self,
        _: Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Reply<Payload>, Unfinished>> {
        unreachable!("never executed")
    }
}

fn tool(name: &'static str) -> ProvidedTool {
    with(name, json!({}))
}

/// A good tool, with some keys replaced.
fn with(name: &'static str, changes: Value) -> ProvidedTool {
    let mut manifest = json!({
        "name": name, "description": "Returns something.", "type": "function_tool", "category": "read",
        "consequence_level": "low", "requires_confirmation": false, "title": name, "version": "0.0.0",
    });
    let (Value::Object(manifest), Value::Object(changes)) = (&mut manifest, changes) else { unreachable!() };
    manifest.extend(changes);
    ProvidedTool { manifest: manifest.clone(), conditions: None, executor: Arc::new(Elsewhere(name)) }
}

/// A registry of one file, `logged`, which executes nothing.
fn registry() -> (Registry, TempDir) {
    let data = TempDir::new().expect("a directory");
    fs::create_dir(data.path().join("tools")).expect("a directory");
    put(&data, "logged");
    let offered = Offered {
        manifests: Manifests::new(Tree::Disk(data.path().to_owned())),
        executors: Vec::new(),
        descriptors: descriptors::pool([]).expect("they agree"),
        choices: Vec::new(),
        approve_unless: std::collections::BTreeMap::new(),
        disabled: Vec::new(),
        intent_parameters: BTreeSet::new(),
    };
    (Registry::open(offered).expect("good manifests"), data)
}

fn put(data: &TempDir, name: &str) {
    let manifest = json!({
        "name": name, "description": "Logs something.", "type": "non_function_tool", "category": "read",
        "consequence_level": "low", "requires_confirmation": false,
    });
    fs::write(data.path().join(format!("tools/{name}.json")), manifest.to_string()).expect("a file");
}

fn rules(made: &[Provision]) -> Vec<Vec<(&str, &str)>> {
    let problems = made.iter().map(|it| it.as_ref().err().map_or(&[][..], Vec::as_slice));
    problems.map(|problems| problems.iter().map(|it| (it.pointer.as_str(), it.rule)).collect()).collect()
}

fn names(registry: &Registry) -> Vec<String> {
    registry.snapshot().tools().map(|tool| tool.definition.name.to_string()).collect()
}

#[test]
fn what_a_provider_offers_is_served_beside_the_files() {
    let (registry, _data) = registry();
    let made = registry.provide("shop", vec![tool("refund"), tool("order_status")]);
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    assert_eq!(names(&registry), ["logged"], "not yet");
    registry.publish_pending();
    assert_eq!(names(&registry), ["logged", "order_status", "refund"]);
    let snapshot = registry.snapshot();
    let refund = snapshot.get("refund").expect("served");
    assert_eq!(refund.definition.provider(), Some("shop"));
    assert_eq!(refund.definition.wire(toolwire_contract::proto::v1::ToolView::Full).provider, "shop");
    assert_eq!(snapshot.get("logged").expect("served").definition.provider(), None);
    let good = json!({"order_id": "A-1"}).as_object().cloned().expect("an object");
    assert!(refund.input.check(good).is_ok());
    assert!(refund.input.check(Arguments::new()).is_err());
}

#[test]
fn a_change_of_one_provider_leaves_the_tools_of_others_as_they_are() {
    let (registry, _data) = registry();
    registry.provide("shop", vec![tool("refund")]);
    registry.provide("bank", vec![tool("balance")]);
    registry.publish_pending();
    let before = registry.snapshot();
    registry.provide("shop", vec![tool("order_status")]);
    registry.publish_pending();
    let after = registry.snapshot();
    assert_eq!(names(&registry), ["balance", "logged", "order_status"]);
    for kept in ["balance", "logged"] {
        assert!(Arc::ptr_eq(before.get(kept).expect("there"), after.get(kept).expect("there")), "{kept}");
    }
    registry.publish_pending();
    assert!(Arc::ptr_eq(&after, &registry.snapshot()), "nothing is pending");
}

#[test]
fn a_second_claim_of_a_name_is_refused_and_the_others_are_served() {
    let (registry, data) = registry();
    registry.provide("shop", vec![tool("refund")]);
    let made =
        registry.provide("bank", vec![tool("refund"), tool("logged"), tool("balance"), tool("balance")]);
    let owned = vec![("/name", "owned-by-another")];
    assert_eq!(rules(&made), [owned.clone(), owned.clone(), vec![], owned]);
    registry.publish_pending();
    assert_eq!(names(&registry), ["balance", "logged", "refund"]);
    assert_eq!(registry.snapshot().get("refund").expect("served").definition.provider(), Some("shop"));
    // A file that comes later takes the name.
    put(&data, "balance");
    registry.reload();
    assert_eq!(registry.snapshot().get("balance").expect("served").definition.provider(), None);
}

#[test]
fn an_offer_is_checked_as_a_manifest_is() {
    let (registry, _data) = registry();
    let made = registry.provide(
        "shop",
        vec![
            with("refund", json!({"category": "buy"})),
            with("refund", json!({"approve_if": {}})),
            with("refund", json!({"category": "write", "cache": {"ttl": "60s", "tier": "request"}})),
            with("refund", json!({"examples": [{"description": "Bad", "arguments": {"order_id": "a"}}]})),
            tool("order_status"),
        ],
    );
    let problems = rules(&made);
    assert_eq!(problems[0], [("/category", "wrong-type")]);
    assert_eq!(problems[1], [("/approve_if", "unknown-key")]);
    assert_eq!(problems[2], [("/cache", "cache-not-read")]);
    assert_eq!(problems[3], [("/examples/0/arguments/order_id", "bad-example")]);
    assert_eq!(problems[4], []);
}

#[test]
fn conditions_and_bindings_of_an_offer_hold_and_those_of_the_configuration_add_up() {
    let (registry, _data) = registry();
    let condition = json!({"order_id": {"pattern": "^A"}});
    let conditions = json!({"order_id": {"maxLength": 3}}).as_object().cloned();
    let mut with_conditions = with("refund", json!({"category": "write", "approve_unless": condition}));
    with_conditions.conditions = conditions;
    let bound = |name: &str, to: &str| json!({"parameters": {name: {"type": "string", "bind": to}}});
    let wrong = json!({"orderid": {"pattern": "^A"}});
    let mut wrongly_configured = tool("bank");
    wrongly_configured.conditions = wrong.as_object().cloned();
    let made = registry.provide(
        "shop",
        vec![
            with_conditions,
            with("order_status", bound("account", "user.id")),
            with("twice", bound("order_id", "user.id")),
            with("elsewhere", bound("account", "user.name")),
            with("misspelt", json!({"approve_unless": wrong})),
            wrongly_configured,
        ],
    );
    let problems = rules(&made);
    assert_eq!(problems[2], [("/parameters/order_id", "bound-in-schema")]);
    assert_eq!(problems[3], [("/parameters/account/bind", "wrong-type")]);
    assert_eq!(problems[4], [("/approve_unless/orderid", "unknown-parameter")]);
    assert_eq!(problems[5], [("/providers/shop/conditions/bank/orderid", "unknown-parameter")]);
    let bound = made[1].as_ref().expect("good");
    assert_eq!(bound.definition.input_schema["properties"]["account"], Value::Null);
    let given = json!({"order_id": "A-1", "account": "riley"}).as_object().cloned().expect("an object");
    assert!(bound.input.check(given).is_err(), "no caller gives it");
    let refund = made[0].as_ref().expect("good");
    let both = json!({"order_id": {"allOf": [{"pattern": "^A"}, {"maxLength": 3}]}});
    assert_eq!(refund.definition.approve_unless.clone().map(Value::from), Some(both));
    let conditions = refund.conditions.as_ref().expect("conditions");
    let hold = |order: &str| conditions.hold(json!({"order_id": order}).as_object().expect("an object"));
    assert_eq!(["A-1", "A-12", "B-1"].map(hold), [true, false, false]);
}

#[test]
fn a_file_with_upstream_wins_over_the_offer_and_is_executed_by_the_provider() {
    let (registry, data) = registry();
    let manifest = json!({
        "name": "refund", "description": "As the operator says.", "type": "function_tool", "category": "delete",
        "consequence_level": "high", "requires_confirmation": true, "upstream": {"provider": "shop"},
        "parameters": {"order_id": {"type": "string", "required": true}},
    });
    fs::write(data.path().join("tools/refund.json"), manifest.to_string()).expect("a file");
    registry.reload();
    let status = || registry.snapshot().get("refund").map(|it| it.definition.status.clone());
    let unhosted = Some(Status::Disabled("no host of `shop` offers it".to_owned()));
    assert_eq!(status(), unhosted);
    let made = registry.provide("bank", vec![tool("refund")]);
    assert_eq!(rules(&made), [[("/name", "owned-by-another")]], "of another provider");
    let made = registry.provide("shop", vec![tool("refund"), tool("refund")]);
    assert_eq!(rules(&made), [vec![], vec![("/name", "owned-by-another")]]);
    registry.publish_pending();
    let snapshot = registry.snapshot();
    let refund = snapshot.get("refund").expect("served");
    assert_eq!((refund.definition.provider(), refund.definition.requires_confirmation), (Some("shop"), true));
    assert_eq!(made[0].as_ref().expect("served").definition.digest, refund.definition.digest);
    assert!(refund.executor.is_some());
    assert_eq!(status(), Some(Status::Ready));
    registry.set_provider_degraded("shop", Some("no host is connected".to_owned()));
    assert_eq!(status(), Some(Status::Degraded("no host is connected".to_owned())));
    registry.withdraw("shop");
    assert_eq!(status(), unhosted);
}

#[test]
fn a_provider_without_hosts_degrades_its_tools_and_one_that_is_withdrawn_has_none() {
    let (registry, _data) = registry();
    registry.provide("shop", vec![tool("refund")]);
    registry.provide("bank", vec![tool("balance")]);
    registry.publish_pending();
    let status = |name: &str| registry.snapshot().get(name).map(|it| it.definition.status.clone());
    registry.set_provider_degraded("shop", Some("no host is connected".to_owned()));
    assert_eq!(status("refund"), Some(Status::Degraded("no host is connected".to_owned())));
    assert_eq!(status("balance"), Some(Status::Ready));
    registry.set_provider_degraded("shop", None);
    assert_eq!(status("refund"), Some(Status::Ready));
    registry.set_provider_degraded("shop", Some("gone".to_owned()));
    registry.withdraw("shop");
    assert_eq!(names(&registry), ["balance", "logged"]);
    registry.provide("shop", vec![tool("refund")]);
    registry.publish_pending();
    assert_eq!(status("refund"), Some(Status::Ready), "a new beginning");
}
