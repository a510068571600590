//! What holds for any arguments whatever.

use std::{cell::Cell, sync::Arc};

use proptest::{prelude::*, sample::Index, test_runner::TestRunner};
use prost_reflect::DynamicMessage;
use serde_json::{Map, Value, json};
use toolwire::engine::registry::{RegisteredTool, Snapshot};

use super::support::{Data, executors, manifest};

fn snapshot() -> Arc<Snapshot> {
    let manifests: Vec<_> = executors().iter().map(|it| manifest(it.name(), &json!({}))).collect();
    Data::with(&manifests).open().snapshot()
}

/// Any JSON, with a taste for what parameters look like.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-100i64..2000).prop_map(Value::from),
        (-100i32..2000).prop_map(|n| Value::from(f64::from(n))),
        (-100i64..2000).prop_map(|n| Value::from(n.to_string())),
        ".*".prop_map(Value::from),
        "[0-9]{1,12}(\\.[0-9]{1,9})?s".prop_map(Value::from),
    ];
    let nested = leaf.clone().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..4)
                .prop_map(|it| it.into_iter().collect::<Map<_, _>>().into()),
        ]
    });
    prop_oneof![9 => leaf, 1 => nested]
}

/// A key of any tool: one of its parameters, in either spelling, or any text.
#[derive(Clone, Debug)]
enum Key {
    Declared(Index),
    CamelCase(Index),
    Any(String),
}

fn arguments() -> impl Strategy<Value = Vec<(Key, Value)>> {
    let key = prop_oneof![
        8 => any::<Index>().prop_map(Key::Declared),
        8 => any::<Index>().prop_map(Key::CamelCase),
        1 => ".*".prop_map(Key::Any),
    ];
    prop::collection::vec((key, value()), 0..3)
}

fn arguments_of(tool: &RegisteredTool, drawn: &[(Key, Value)]) -> Map<String, Value> {
    let properties = tool.input.schema()["properties"].as_object().expect("properties");
    let names: Vec<_> = properties.keys().map(String::as_str).collect();
    let key = |key: &Key| match key {
        Key::Declared(index) => (*index.get(&names)).to_owned(),
        Key::CamelCase(index) => camel_case(index.get::<&str>(&names)),
        Key::Any(text) => text.clone(),
    };
    drawn.iter().map(|(drawn, value)| (key(drawn), value.clone())).collect()
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |camel, word| camel + &word[..1].to_uppercase() + &word[1..])
}

/// Whether the tool accepts the arguments; if so, what must hold of what it accepted.
fn check(tool: &RegisteredTool, arguments: &Map<String, Value>) -> Result<bool, TestCaseError> {
    let Ok(accepted) = tool.input.check(arguments.clone()) else { return Ok(false) };
    prop_assert_eq!(tool.input.check(accepted.clone()), Ok(accepted.clone()));
    let message = tool.executor.as_ref().expect("code").schema().messages().expect("a tool of messages").0;
    let fits = DynamicMessage::deserialize(message, Value::Object(accepted));
    prop_assert!(fits.is_ok(), "{:?}", fits);
    Ok(true)
}

#[test]
fn what_is_accepted_is_accepted_again_unchanged_and_fits_the_message() {
    let (snapshot, accepted) = (snapshot(), Cell::new(0));
    let config = ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() };
    let holds = TestRunner::new(config).run(&arguments(), |drawn| {
        for tool in snapshot.tools() {
            let arguments = arguments_of(tool, &drawn);
            let is_accepted = check(tool, &arguments)? && !arguments.is_empty();
            accepted.set(accepted.get() + usize::from(is_accepted));
        }
        Ok(())
    });
    holds.expect("holds");
    // A property of nothing would hold as well.
    assert!(accepted.get() > 500, "only {} were accepted", accepted.get());
}
