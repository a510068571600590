//! What is checked against schemas of a host takes bounded work, and is refused beyond: arguments, results, conditions.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use toolwire::{
    contract::proto::{
        host::v1::Offer,
        v1::{
            CallToolRequest, ToolCategory, ToolError, ToolErrorCode, call_tool_request, call_tool_response,
        },
    },
    tool::context::RequestId,
};

use super::{
    attempt,
    host::{Host, offer},
};
use crate::support::server::Server;

const LONG: Duration = Duration::from_mins(1);

/// Each character of a text may be at any of its positions.
const HEAVY: &str = "^[01]*1[01]{1000}x$";

/// Arguments or a result: a list that each of 16 branches reads whole, in vain but for the last, and a text.
fn schema() -> String {
    let branch = |at: usize| json!({"type": "array", "items": {"items": {"type": "integer"}}, "contains": {"const": [at]}});
    let branches: Vec<_> = (1..=16).rev().map(branch).collect();
    let list = json!({"description": "Numbers.", "anyOf": branches});
    let text = json!({"type": "string", "description": "Digits.", "pattern": HEAVY});
    json!({"type": "object", "properties": {"list": list, "text": text}, "additionalProperties": false})
        .to_string()
}

fn list(length: usize) -> Value {
    let mut list = vec![json!([0]); length];
    list.push(json!([1]));
    json!({"list": list})
}

fn text(length: usize) -> Value {
    json!({"text": "0".repeat(length)})
}

/// A call of a tool whose host answers with this, if it is asked.
async fn answered(
    server: &Arc<Server>,
    host: &mut Host,
    tool: &'static str,
    arguments: Value,
    data: &Value,
) -> Result<Value, ToolError> {
    let calling = {
        let server = Arc::clone(server);
        async move { attempt(&server, (tool, RequestId::generate()), &arguments, LONG).await }
    };
    let mut calling = tokio::spawn(calling);
    tokio::select! {
        ended = &mut calling => return ended.expect("no panic"),
        start = host.start() => host.outcome(&start, data).await,
    }
    calling.await.expect("no panic")
}

#[tokio::test]
async fn values_are_checked_within_bounds_and_refused_beyond() {
    let server = Arc::new(Server::start());
    let mut host = Host::dial(&server, None).await.expect("welcome");
    let taking = Offer { input_schema_json: schema(), ..offer("take") };
    let giving = Offer { output_schema_json: schema(), ..offer("give") };
    let writing = Offer { category: ToolCategory::Write.into(), ..giving.clone() };
    let writing = Offer { name: "write".to_owned(), ..writing };
    let welcome = host.greet(vec![giving, taking, writing]).await.expect("welcome");
    assert_eq!(welcome.accepted, 3, "{:?}", welcome.verdicts);
    let order = || json!({"order_id": "A-1"});

    for length in [100, 20_000] {
        assert_eq!(answered(&server, &mut host, "take", list(length), &json!({})).await, Ok(json!({})));
    }
    let wrong = answered(&server, &mut host, "take", json!({"list": "none"}), &json!({})).await;
    let wrong = wrong.expect_err("of another type");
    let said = "`list` must be an array, but is \"none\"";
    assert_eq!((&*wrong.field_violations[0].rule, &*wrong.field_violations[0].description), ("anyOf", said));
    let much = answered(&server, &mut host, "take", text(300_000), &json!({})).await.expect_err("much");
    let rules: Vec<_> = much.field_violations.iter().map(|it| (&*it.rule, &*it.pointer)).collect();
    assert_eq!((much.code(), rules), (ToolErrorCode::InvalidArgument, vec![("work", "")]), "{much:?}");

    for (tool, is_said) in [("give", false), ("write", true)] {
        let much = answered(&server, &mut host, tool, order(), &text(300_000)).await.expect_err("much");
        assert_eq!(much.code(), ToolErrorCode::ResultTooLarge, "{much:?}");
        assert!(much.message.contains("The result takes more than"), "{much:?}");
        assert_eq!(much.message.starts_with("The write was done."), is_said, "{much:?}");
    }
    let fits = answered(&server, &mut host, "give", order(), &list(20_000)).await.expect("it fits");
    assert_eq!(fits["list"].as_array().map(Vec::len), Some(20_001));
}

#[tokio::test]
async fn a_condition_that_takes_too_much_work_asks_a_person() {
    let server = Server::start();
    let mut host = Host::dial(&server, None).await.expect("welcome");
    let digits = json!({"type": "string", "description": "Digits."});
    let input = json!({"type": "object", "properties": {"text": digits}, "additionalProperties": false});
    let paying = Offer {
        category: ToolCategory::Write.into(),
        input_schema_json: input.to_string(),
        approve_unless: json!({"text": {"not": {"pattern": HEAVY}}}).to_string(),
        ..offer("pay")
    };
    let welcome = host.greet(vec![paying]).await.expect("welcome");
    assert_eq!(welcome.accepted, 1, "{:?}", welcome.verdicts);
    // The second is checked on another thread.
    for (length, is_asked) in [(10, false), (500, false), (300_000, true)] {
        let request = CallToolRequest {
            target: Some(call_tool_request::Target::Tool("pay".to_owned())),
            input: Some(call_tool_request::Input::ArgumentsJson(text(length).to_string())),
            request_id: RequestId::generate().to_string(),
            ..CallToolRequest::default()
        };
        let mut tools = server.tools().await;
        let serving = async {
            if !is_asked {
                let start = host.start().await;
                host.outcome(&start, &json!({})).await;
            }
        };
        let (answer, ()) = tokio::join!(tools.call_tool(request), serving);
        let outcome = answer.expect("OK").into_inner().outcome;
        let asks = matches!(outcome, Some(call_tool_response::Outcome::ConfirmationRequired(_)));
        assert_eq!(asks, is_asked, "{length}");
    }
}
