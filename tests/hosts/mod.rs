//! Tools of other processes: a host dials in over gRPC, and its tools are called like any other.

mod awaited;
mod checks;
mod exact;
pub(crate) mod host;
mod limits;
mod providers;
mod tokens;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use tonic::{Code, Request};
use tonic_types::StatusExt;
use toolwire::{
    config::{AuthUser, Config},
    contract::proto::{
        host::v1::{Offer, Start, VerdictState, work_response::Message},
        v1::{
            CallToolRequest, ErrorOrigin, GetCallRequest, GetToolRequest, ListCallsRequest, ResultFormat,
            ToolCategory, ToolError, ToolErrorCode, ToolState, call_tool_request, call_tool_response,
            get_call_request, tool_result,
        },
    },
    tool::context::RequestId,
};

use self::host::{Host, offer};
use crate::support::server::{Server, config, definition};

/// The data of a call's result, or the code of its error.
pub(crate) async fn call(server: &Server, tool: &str, arguments: &Value) -> Result<Value, ToolErrorCode> {
    let (id, time) = (RequestId::generate(), Duration::from_secs(20));
    attempt(server, (tool, id), arguments, time).await.map_err(|error| error.code())
}

pub(crate) async fn attempt(
    server: &Server,
    (tool, id): (&str, RequestId),
    arguments: &Value,
    time: Duration,
) -> Result<Value, ToolError> {
    let mut request = Request::new(CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_string())),
        request_id: id.to_string(),
        result_format: ResultFormat::Json.into(),
        ..CallToolRequest::default()
    });
    request.set_timeout(time);
    let answer = server.tools().await.call_tool(request).await.expect("OK").into_inner();
    let Some(call_tool_response::Outcome::Result(result)) = answer.outcome else { panic!("no result") };
    match result.outcome.expect("an outcome") {
        tool_result::Outcome::DataJson(text) => Ok(serde_json::from_str(&text).expect("JSON")),
        tool_result::Outcome::Error(error) => {
            assert_ne!(error.origin(), ErrorOrigin::Unspecified);
            Err(error)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_function_of_another_process_is_a_tool() {
    let server = Server::start();
    let mut host = Host::dial(&server, None).await.expect("welcome");
    let welcome = host.greet(vec![offer("order_status")]).await.expect("welcome");
    assert_eq!((welcome.provider.as_str(), welcome.accepted, welcome.verdicts.len()), ("local", 1, 0));
    let get = GetToolRequest { name: "order_status".into(), ..GetToolRequest::default() };
    let tool = server.tools().await.get_tool(get).await.expect("served").into_inner().tool;
    let tool = definition(&tool);
    assert_eq!((tool.provider.as_str(), tool.status.expect("stated").state()), ("local", ToolState::Ready));
    let calling = async { call(&server, "order_status", &json!({"orderId": "A-1"})).await };
    let serving = async {
        let start = host.start().await;
        assert_eq!(start.arguments_json, r#"{"order_id":"A-1"}"#, "in its normal form");
        assert_eq!(start.digest, tool.digest);
        host.outcome(&start, &json!({"state": "sent"})).await;
    };
    assert_eq!(tokio::join!(calling, serving).0, Ok(json!({"state": "sent"})));
    let refused = call(&server, "order_status", &json!({"order_id": 7})).await;
    assert_eq!(refused, Err(ToolErrorCode::InvalidArgument), "checked before it reaches the host");
}

#[tokio::test]
async fn a_write_without_a_host_is_unavailable_within_its_deadline_and_only_its_repeat_is_carried_out() {
    let server = Server::start();
    let refund = || vec![Offer { category: ToolCategory::Write.into(), ..offer("refund") }];
    let mut gone = Host::dial(&server, None).await.expect("welcome");
    gone.greet(refund()).await.expect("welcome");
    gone.half_close();
    gone.next().await.expect_err("a violation, after which the slot is gone");
    let (of, arguments) = (("refund", RequestId::generate()), json!({"order_id": "A-1"}));
    let error = attempt(&server, of, &arguments, Duration::from_secs(5)).await.expect_err("no host");
    assert_eq!((error.code(), error.retry_after.is_some()), (ToolErrorCode::Unavailable, true), "{error:?}");

    let mut host = Host::dial(&server, None).await.expect("welcome");
    host.greet(refund()).await.expect("welcome");
    timeout(Duration::from_millis(300), host.next()).await.expect_err("nothing is sent later");
    let serving = async {
        let start = host.start().await;
        host.outcome(&start, &json!({"state": "paid"})).await;
    };
    let (repeat, ()) = tokio::join!(attempt(&server, of, &arguments, Duration::from_secs(20)), serving);
    assert_eq!(repeat.expect("data"), json!({"state": "paid"}));
    let found = |call| GetCallRequest { call: Some(call), ..GetCallRequest::default() };
    let by_request = found(get_call_request::Call::RequestId(of.1.to_string()));
    let recorded = server.tools().await.get_call(by_request).await.expect("known").into_inner().call;
    let listed = server.tools().await.list_calls(ListCallsRequest::default()).await.expect("listed");
    for call in [recorded.expect("a record"), listed.into_inner().calls.remove(0)] {
        assert_eq!((call.tool.as_str(), call.instance.as_str()), ("refund", "i1"), "{call:?}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_an_offer_is_refused_and_the_others_are_served() {
    let server = Server::start();
    let mut host = Host::dial(&server, None).await.expect("welcome");
    let recursive = json!({
        "type": "object", "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "$defs": {"tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}}}
    });
    let conditional = Offer { approve_unless: "[]".into(), ..offer("conditional") };
    let offers = vec![
        conditional,
        offer("get_quotes"),
        Offer { description: String::new(), ..offer("order_status") },
        Offer { input_schema_json: recursive.to_string(), ..offer("walk_tree") },
    ];
    let welcome = host.greet(offers).await.expect("welcome");
    let verdicts: Vec<_> = welcome
        .verdicts
        .iter()
        .map(|it| {
            (it.tool.as_str(), it.state(), it.problems[0].pointer.as_str(), it.problems[0].rule.as_str())
        })
        .collect();
    assert_eq!(
        verdicts,
        [
            ("conditional", VerdictState::Refused, "/approve_unless", "wrong-type"),
            ("get_quotes", VerdictState::Refused, "/name", "owned-by-another"),
            ("order_status", VerdictState::Warned, "/description", "missing-key"),
            (
                "walk_tree",
                VerdictState::Refused,
                "/input_schema_json/properties/tree/properties/next/$ref",
                "recursive-schema"
            ),
        ]
    );
    assert_eq!(welcome.accepted, 1);
}

#[tokio::test]
async fn a_host_of_which_every_tool_is_refused_does_not_replace_what_is_served() {
    let server = Server::start();
    let mut host = Host::dial(&server, None).await.expect("welcome");
    host.greet(vec![offer("order_status")]).await.expect("welcome");
    for offers in [vec![offer("get_quotes")], vec![offer("get_quotes"), offer("Bad Name")]] {
        let mut refused = Host::dial_as(&server, None, "c2").await.expect("open");
        let status = refused.greet(offers).await.expect_err("refused");
        let reason = status.get_details_error_info().expect("a reason").reason;
        assert_eq!((status.code(), reason.as_str()), (Code::FailedPrecondition, "CATALOGUE_REFUSED"));
        assert!(
            status.message().contains("get_quotes: /name Tool 'get_quotes' is already registered"),
            "{status}"
        );
    }
    let serving = async {
        let start = host.start().await;
        host.outcome(&start, &json!({"state": "sent"})).await;
    };
    let arguments = json!({"order_id": "A-1"});
    let (called, ()) = tokio::join!(call(&server, "order_status", &arguments), serving);
    assert_eq!(called, Ok(json!({"state": "sent"})));
}

fn with_users() -> Config {
    let users = vec![AuthUser::new("riley".parse().expect("a user id"), "a-long-enough-t0ken".into())];
    let mut config = config();
    config.auth.users = users;
    config
}

#[tokio::test]
async fn only_the_token_of_a_provider_opens_a_slot_and_it_opens_nothing_else() {
    let server = Server::with(with_users());
    for token in [None, Some("a-long-enough-t0ken"), Some("wrong")] {
        let status = Host::dial(&server, token).await.map(drop).expect_err("refused");
        assert_eq!(status.code(), Code::Unauthenticated, "{token:?}");
    }
}

#[tokio::test]
async fn a_host_that_breaks_the_protocol_ends_with_a_violation() {
    let server = Server::start();
    let mut host = Host::dial(&server, None).await.expect("welcome");
    host.greet(vec![offer("order_status")]).await.expect("welcome");
    host.outcome(&Start::default(), &json!({})).await;
    let status = host.next().await.expect_err("a violation");
    let reason = status.get_details_error_info().expect("a reason").reason;
    assert_eq!((status.code(), reason.as_str()), (Code::InvalidArgument, "PROTOCOL_VIOLATION"));
}

#[tokio::test]
async fn a_drain_lets_an_idle_slot_leave() {
    let mut config = config();
    config.server.drain.lame_duck = Duration::ZERO;
    let server = Server::with(config);
    let mut host = Host::dial(&server, None).await.expect("welcome");
    host.greet(vec![offer("order_status")]).await.expect("welcome");
    let leaving = async {
        assert!(matches!(host.next().await, Ok(Some(Message::Leave(_)))));
        host.half_close();
        assert!(matches!(host.next().await, Ok(None)), "OK");
    };
    let (report, ()) = tokio::join!(server.shut_down(), leaving);
    assert_eq!(report.streams_cut, 0);
}
