//! Tools of providers beside those of files.

mod refusals;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use futures_util::future::BoxFuture;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::registry::{ConsequenceLevel, Definition, Manifests, Registry, RegistryInput, Status};
use toolwire_base::files::Tree;
use toolwire_config::{Consequence, ProviderFloor, ToolPattern};
use toolwire_contract::{Payload, arguments::Arguments, descriptors};
use toolwire_schema::Work;
use toolwire_tool::{
    Executor, Reply, Shape,
    context::{Required, Services, ToolContext, Unfinished},
};

/// A tool of some other process, which is never executed here, by one definition.
struct Elsewhere(Definition);

impl Executor for Elsewhere {
    fn name(&self) -> &str {
        &self.0.name
    }

    /// What it was made of, in place of its arguments.
    fn schema(&self) -> Shape {
        let Definition { digest, output_schema, .. } = &self.0;
        let made_of = json!([digest.to_string(), self.0.idempotent, self.0.timeout.as_millis()]);
        Shape::Json { input: Arc::new(made_of), output: Arc::clone(output_schema) }
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

fn tool(name: &'static str) -> ProviderTool {
    with(name, json!({}))
}

/// A good tool, with some keys replaced.
fn with(name: &'static str, changes: Value) -> ProviderTool {
    let mut manifest = json!({
        "name": name, "description": "Returns something.", "type": "function_tool", "category": "read",
        "consequence_level": "low", "requires_confirmation": false, "title": name, "version": "0.0.0",
    });
    let (Value::Object(manifest), Value::Object(changes)) = (&mut manifest, changes) else { unreachable!() };
    manifest.extend(changes);
    let order = json!({"type": "string", "pattern": "^[A-Z]-[0-9]+$"});
    let input = json!({"type": "object", "properties": {"order_id": order}, "required": ["order_id"], "additionalProperties": false});
    ProviderTool {
        name: name.parse().expect("a name"),
        manifest: manifest.clone(),
        input,
        output: json!({"type": "object"}),
        disabled: None,
        make: Arc::new(|definition: &Definition| {
            Ok(Arc::new(Elsewhere(definition.clone())) as Arc<dyn Executor>)
        }),
    }
}

/// A registry of one file, `logged`, which executes nothing.
fn registry() -> (Registry, TempDir) {
    demanding(BTreeMap::new(), ProviderFloor::default())
}

/// The same with conditions on tools, and with a floor of `shop`.
fn demanding(
    approve_unless: BTreeMap<String, Map<String, Value>>,
    floor: ProviderFloor,
) -> (Registry, TempDir) {
    let data = TempDir::new().expect("a directory");
    fs::create_dir(data.path().join("tools")).expect("a directory");
    put(&data, "logged");
    if approve_unless.contains_key("refund") {
        write_refund(&data, json!({}));
    }
    let offered = RegistryInput {
        manifests: Manifests::new(Tree::Disk(data.path().to_owned())),
        executors: Vec::new(),
        descriptors: descriptors::pool([]).expect("they agree"),
        choices: Vec::new(),
        approve_unless,
        floors: BTreeMap::from([("shop".to_owned(), floor)]),
        disabled: Vec::new(),
        domains: BTreeMap::new(),
        intent_parameters: BTreeSet::new(),
    };
    (Registry::open(offered).expect("good manifests"), data)
}

fn put(data: &TempDir, name: &str) {
    let manifest = json!({
        "name": name, "description": "Logs something.", "type": "non_function_tool", "category": "read",
        "consequence_level": "low", "requires_confirmation": false,
    });
    write(data, name, &manifest);
}

fn write(data: &TempDir, name: &str, manifest: &Value) {
    fs::write(data.path().join(format!("tools/{name}.json")), manifest.to_string()).expect("a file");
}

/// A file that says that `shop` executes `refund`, with some keys replaced.
fn write_refund(data: &TempDir, changes: Value) {
    let mut manifest = json!({
        "name": "refund", "description": "As the operator says.", "type": "function_tool", "category": "write",
        "consequence_level": "low", "requires_confirmation": false, "upstream": {"provider": "shop"},
        "parameters": {"order_id": {"type": "string", "required": true}},
    });
    let (Value::Object(keys), Value::Object(changes)) = (&mut manifest, changes) else { unreachable!() };
    keys.extend(changes);
    write(data, "refund", &manifest);
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("no object: {value}") };
    object
}

fn patterns(pattern: &str) -> Vec<ToolPattern> {
    vec![pattern.to_owned().try_into().expect("a pattern")]
}

fn served(registry: &Registry) -> Arc<RegisteredTool> {
    registry.publish_pending();
    Arc::clone(registry.snapshot().get("refund").expect("served"))
}

/// Whether the conditions hold for an order.
fn hold(tool: &RegisteredTool, order: &str) -> bool {
    let arguments = object(json!({"order_id": order}));
    tool.conditions.as_ref().is_none_or(|it| it.hold_within(&arguments, Work::all()) == Ok(true))
}

/// What the executor of a tool was made of.
fn made_of(tool: &RegisteredTool) -> Value {
    let Shape::Json { input, .. } = tool.executor.as_ref().expect("executed").schema() else {
        unreachable!()
    };
    (*input).clone()
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
            with("refund", json!({"guidance": ["x".repeat(MAX_DEFINITION)]})),
        ],
    );
    let problems = rules(&made);
    assert_eq!(problems[5], [("", "too-large")]);
    assert_eq!(problems[0], [("/category", "wrong-type")]);
    assert_eq!(problems[1], [("/approve_if", "unknown-key")]);
    assert_eq!(problems[2], [("/cache", "cache-not-read")]);
    assert_eq!(problems[3], [("/examples/0/arguments/order_id", "bad-example")]);
    assert_eq!(problems[4], []);
}

#[test]
fn conditions_and_bindings_of_an_offer_hold_and_those_of_the_configuration_add_up() {
    let wrong = json!({"orderid": {"pattern": "^A"}});
    let conditions = [("refund", json!({"order_id": {"maxLength": 3}})), ("bank", wrong.clone())];
    let conditions = conditions.map(|(tool, it)| (tool.to_owned(), object(it))).into();
    let (registry, _data) =
        demanding(BTreeMap::new(), ProviderFloor { conditions, ..ProviderFloor::default() });
    let condition = json!({"order_id": {"pattern": "^A"}});
    let with_conditions = with("refund", json!({"category": "write", "approve_unless": condition}));
    let bound = |name: &str, to: &str| json!({"parameters": {name: {"type": "string", "bind": to}}});
    let made = registry.provide(
        "shop",
        vec![
            with_conditions,
            with("order_status", bound("account", "user.id")),
            with("twice", bound("order_id", "user.id")),
            with("elsewhere", bound("account", "user.name")),
            with("misspelt", json!({"approve_unless": wrong})),
            tool("bank"),
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
    assert_eq!(["A-1", "A-12", "B-1"].map(|order| hold(refund, order)), [true, false, false]);
}

#[test]
fn what_is_offered_is_raised_to_the_floor_and_never_lowered() {
    let floor = ProviderFloor {
        at_least: Some(Consequence::Medium),
        approve: patterns("ref*"),
        untrusted: true,
        ..ProviderFloor::default()
    };
    let (registry, data) = demanding(BTreeMap::new(), floor);
    for (level, expected) in [("low", ConsequenceLevel::Medium), ("high", ConsequenceLevel::High)] {
        let made = registry.provide("shop", vec![with("refund", json!({"consequence_level": level}))]);
        let refund = &made[0].as_ref().expect("good").definition;
        let stated = (refund.consequence_level, refund.requires_confirmation, refund.untrusted);
        assert_eq!(stated, (expected, true, true));
        // A file that takes the place of the offer is raised too.
        write_refund(&data, json!({"consequence_level": level}));
        registry.reload();
        let refund = served(&registry);
        assert_eq!(refund.definition.description, "As the operator says.");
        let refund = &refund.definition;
        let stated = (refund.consequence_level, refund.requires_confirmation, refund.untrusted);
        assert_eq!(stated, (expected, true, true));
        fs::remove_file(data.path().join("tools/refund.json")).expect("a file");
        registry.reload();
    }
    let made = registry.provide("shop", vec![tool("order_status")]);
    assert!(!made[0].as_ref().expect("good").definition.requires_confirmation);
    let made = registry.provide("bank", vec![tool("balance")]);
    assert!(!made[0].as_ref().expect("good").definition.untrusted, "the floor of another provider");
}

#[test]
fn conditions_of_a_file_its_offer_and_the_configuration_add_up() {
    let conditions = [("refund".to_owned(), object(json!({"order_id": {"maxLength": 3}})))].into();
    let floor = ProviderFloor { conditions, ..ProviderFloor::default() };
    let (registry, data) = demanding(BTreeMap::new(), floor);
    let offered = json!({"approve_unless": {"order_id": {"pattern": "^A"}}});
    registry.provide("shop", vec![with("refund", offered)]);
    write_refund(&data, json!({}));
    registry.reload();
    let refund = served(&registry);
    assert_eq!(["A-1", "A-12", "B-1"].map(|order| hold(&refund, order)), [true, false, false]);
    write_refund(&data, json!({"approve_unless": {"order_id": {"minLength": 2}}}));
    registry.reload();
    let refund = served(&registry);
    assert_eq!(["A-1", "A", "A-12", "B-1"].map(|order| hold(&refund, order)), [true, false, false, false]);
    let all = json!({"order_id": {"allOf": [
        {"allOf": [{"minLength": 2}, {"maxLength": 3}]}, {"pattern": "^A"}
    ]}});
    assert_eq!(refund.definition.approve_unless.clone().map(Value::from), Some(all));
    assert_eq!(made_of(&refund)[0], refund.definition.digest.to_string());
}

#[test]
fn an_offer_whose_conditions_do_not_fit_its_file_is_refused() {
    let (registry, data) = registry();
    write_refund(&data, json!({"parameters": {"order": {"type": "string", "required": true}}}));
    registry.reload();
    let offered = || with("refund", json!({"approve_unless": {"order_id": {"pattern": "^A"}}}));
    let made = registry.provide("shop", vec![offered(), tool("order_status")]);
    assert_eq!(rules(&made), [vec![("/approve_unless/order_id", "unknown-parameter")], vec![]]);
    let refund = served(&registry);
    assert!(
        refund.executor.is_none()
            && matches!(&refund.definition.status, Status::Disabled(why) if why.contains("order_id"))
    );
    write_refund(&data, json!({}));
    registry.reload();
    assert_eq!(served(&registry).definition.status, Status::Ready);
}

#[test]
fn conditions_of_every_tool_hold_for_what_is_offered() {
    let conditions = [("refund".to_owned(), object(json!({"order_id": {"pattern": "^A"}})))].into();
    let (registry, data) = demanding(conditions, ProviderFloor::default());
    for has_file in [true, false] {
        if !has_file {
            fs::remove_file(data.path().join("tools/refund.json")).expect("a file");
            registry.reload();
        }
        registry.provide("shop", vec![tool("refund")]);
        let refund = served(&registry);
        assert_eq!(refund.definition.upstream.is_some(), has_file);
        assert_eq!(["A-1", "B-1"].map(|order| hold(&refund, order)), [true, false]);
    }
}

#[test]
fn an_executor_is_that_of_the_definition_that_is_served() {
    let (registry, data) = registry();
    let offered = json!({"category": "write", "idempotent": true, "timeout_ms": 1000});
    registry.provide("shop", vec![with("refund", offered)]);
    let by_itself = served(&registry);
    let of = |tool: &RegisteredTool, idempotent: bool, milliseconds: u32| {
        json!([tool.definition.digest.to_string(), idempotent, milliseconds])
    };
    assert_eq!(made_of(&by_itself), of(&by_itself, true, 1000));
    assert_eq!(by_itself.definition.output_schema["type"], "object");
    // A file says something else of the effect, the time and the results.
    write_refund(&data, json!({"timeout_ms": 2000, "returns": {"state": {"type": "string"}}}));
    registry.reload();
    let of_file = served(&registry);
    assert_eq!(made_of(&of_file), of(&of_file, false, 2000));
    let Shape::Json { output, .. } = of_file.executor.as_ref().expect("executed").schema() else { panic!() };
    assert_eq!(output["properties"]["state"]["type"], "string");
    assert_eq!(made_of(&by_itself), of(&by_itself, true, 1000), "of calls that are under way");
    // Without results of its own a file has those of the offer.
    write_refund(&data, json!({}));
    registry.reload();
    let of_file = served(&registry);
    assert_eq!(of_file.definition.output_schema, by_itself.definition.output_schema);
    // A change of the provider's status re-creates no executor.
    registry.set_provider_degraded("shop", Some("gone".to_owned()));
    let degraded = served(&registry);
    let executors = [&of_file, &degraded].map(|it| it.executor.clone().expect("executed"));
    assert!(Arc::ptr_eq(&executors[0], &executors[1]));
    fs::remove_file(data.path().join("tools/refund.json")).expect("a file");
    registry.reload();
    assert_eq!(made_of(&served(&registry)), of(&by_itself, true, 1000));
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
fn an_offer_that_cannot_be_called_yet_is_listed_with_the_reason_and_disables_a_file_too() {
    let (registry, data) = registry();
    write_refund(&data, json!({}));
    registry.reload();
    let status = |name: &str| registry.snapshot().get(name).map(|it| it.definition.status.clone());
    let disabled = |name| ProviderTool { disabled: Some("not accepted".to_owned()), ..tool(name) };
    let reason = Some(Status::Disabled("not accepted".to_owned()));
    registry.provide("shop", vec![disabled("refund"), disabled("balance")]);
    registry.publish_pending();
    assert_eq!((status("refund"), status("balance")), (reason.clone(), reason));
    registry.set_provider_degraded("shop", Some("not connected".to_owned()));
    assert_eq!(status("balance"), Some(Status::Disabled("not accepted".to_owned())));
    registry.set_provider_degraded("shop", None);
    registry.provide("shop", vec![tool("refund"), tool("balance")]);
    registry.publish_pending();
    assert_eq!((status("refund"), status("balance")), (Some(Status::Ready), Some(Status::Ready)));
}

#[test]
fn a_provider_is_the_source_of_what_it_executes() {
    let (registry, data) = registry();
    write_refund(&data, json!({}));
    registry.reload();
    registry.provide("shop", vec![tool("refund"), tool("order_status")]);
    registry.publish_pending();
    let snapshot = registry.snapshot();
    for name in ["refund", "order_status"] {
        let source = snapshot.get(name).expect("served").definition.source.clone().expect("a source");
        assert_eq!((source.name.as_str(), source.sections.len()), ("shop", 0), "{name}");
    }
    assert_eq!(snapshot.get("logged").expect("served").definition.source, None);
    registry.set_refused([("shop".to_owned(), "It refuses us".to_owned())].into());
    let status = |name| registry.snapshot().get(name).expect("served").definition.status.clone();
    assert_eq!(status("refund"), Status::Degraded("It refuses us".to_owned()));
    assert_eq!((status("order_status"), status("logged")), (status("refund"), Status::Ready));

    write_refund(&data, json!({"source": {"name": "bank"}}));
    registry.reload();
    let problems = registry.snapshot().problems().to_vec();
    assert_eq!(problems[0].rule, "upstream-and-source", "{problems:?}");
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
