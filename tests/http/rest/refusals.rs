//! A property: arguments that `validate` refuses are 422 at `:call`, with the same violations, and gRPC says the same.

use std::cell::Cell;

use proptest::{collection::vec, prelude::*, test_runner::TestRunner};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use toolwire::{
    contract::{
        Violation,
        proto::v1::{
            CallToolRequest, ToolErrorCode, call_tool_request, call_tool_response, tool_result::Outcome,
            tool_service_client::ToolServiceClient,
        },
    },
    engine::registry::{Definition, Execution, Status},
};

use super::{KEY, post, server, value};
use crate::support::server::Server;

const CASES: u32 = 400;

/// Any JSON, most of it short.
fn junk() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        (-1e18..1e18_f64).prop_map(Value::from),
        Just(json!(-1)),
        Just(json!(0.5)),
        Just(json!(u64::MAX)),
    ];
    let text = prop_oneof!["\\PC{0,12}", "[a-z]{0,4}", "-?[0-9]{1,24}", Just("x".repeat(3_000))];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a-z_]{1,8}", inner), 0..4).prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

/// What is done to arguments: which parameter becomes what, or goes.
fn changes() -> impl Strategy<Value = Vec<(usize, Option<Value>)>> {
    vec((any::<usize>(), proptest::option::weighted(0.8, junk())), 0..4)
}

/// The arguments of an example, or none, changed.
fn arguments(tool: &Definition, example: usize, changes: Vec<(usize, Option<Value>)>) -> Map<String, Value> {
    let examples = &tool.examples;
    let mut arguments = match example.checked_rem(examples.len() + 1).and_then(|at| examples.get(at)) {
        Some(example) => json!(example.arguments).as_object().unwrap().clone(),
        None => Map::new(),
    };
    let properties = tool.input_schema["properties"].as_object();
    // One that there is not, too.
    let mut names: Vec<_> = properties.into_iter().flat_map(Map::keys).cloned().collect();
    names.push("no_such".to_owned());
    for (which, change) in changes {
        let name = names[which % names.len()].clone();
        match change {
            Some(value) => drop(arguments.insert(name, value)),
            None => drop(arguments.remove(&name)),
        }
    }
    arguments
}

#[test]
fn what_validate_refuses_is_422_with_the_same_violations() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(async { server() });
    let snapshot = server.app.registry.snapshot();
    let tools: Vec<_> = snapshot
        .tools()
        .filter(|tool| !matches!(tool.definition.status, Status::Disabled(_)))
        // The others need a task, which is asked for first.
        .filter(|tool| matches!(tool.definition.kind.behaviour().by, Execution::Executor | Execution::Log))
        .collect();
    let refused = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let cases = (any::<usize>(), any::<usize>(), changes());
    let outcome = runner.run(&cases, |(which, example, changes)| {
        let tool = &tools[which % tools.len()];
        let arguments = arguments(&tool.definition, example, changes);
        let Err(expected) = tool.input.check(arguments.clone()) else { return Ok(()) };
        refused.set(refused.get() + 1);
        let body = Value::Object(arguments).to_string();
        let name = tool.definition.name.as_str();
        let expected: Vec<_> = expected.into_iter().map(told).collect();
        let (status, rest) = runtime.block_on(by_rest(&server, name, &body));
        prop_assert_eq!((status, &rest), (422, &expected), "{} {}", name, &body);
        prop_assert_eq!(runtime.block_on(by_grpc(&server, name, &body)), expected, "{} {}", name, &body);
        Ok(())
    });
    outcome.unwrap();
    assert!(refused.get() > CASES / 2, "{refused:?}");
}

/// Pointer, rule and description.
type Told = (String, String, String);

fn told(violation: Violation) -> Told {
    (violation.pointer, violation.rule, violation.description)
}

async fn by_rest(server: &Server, tool: &str, body: &str) -> (u16, Vec<Told>) {
    let answer = post(server, &format!("/v1/tools/{tool}:call"), &[KEY, "connection: close"], body).await;
    let problem = value(&answer);
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let violations = problem["field_violations"].as_array().cloned().unwrap_or_default();
    let violations = violations
        .iter()
        .map(|it| (text(it, "pointer"), text(it, "rule"), text(it, "description")))
        .collect();
    (answer.status, violations)
}

async fn by_grpc(server: &Server, tool: &str, body: &str) -> Vec<Told> {
    let request = CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(body.to_owned())),
        request_id: KEY.rsplit(' ').next().unwrap().to_owned(),
        ..CallToolRequest::default()
    };
    let mut client = ToolServiceClient::new(server.channel().await);
    let response = client.call_tool(request).await.unwrap().into_inner();
    let Some(call_tool_response::Outcome::Result(result)) = response.outcome else { return Vec::new() };
    let Some(Outcome::Error(error)) = result.outcome else { return Vec::new() };
    assert_eq!(error.code(), ToolErrorCode::InvalidArgument);
    error.field_violations.into_iter().map(|it| (it.pointer, it.rule, it.description)).collect()
}
