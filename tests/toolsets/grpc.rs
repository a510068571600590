//! Over gRPC, by metadata.

use serde_json::json;
use tonic::{Code, Request};
use toolwire::{
    config::AuthUser,
    contract::proto::v1::{
        CallToolRequest, DescribeForPlannerRequest, ExportToolsRequest, GetToolRequest, InvokeToolRequest,
        ListToolsRequest, WatchEventType, WatchToolsRequest, call_tool_request, call_tool_response,
        invoke_tool_request, tool_result::Outcome,
    },
    domains::brokerage::proto::v1::GetPositionsRequest,
};

use super::{MARKET, configure, house};
use crate::{
    http::house::House,
    support::{assert_refused, server::definition},
};

fn within<T>(toolset: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().append("x-toolwire-toolset", toolset.parse().unwrap());
    request
}

fn call(tool: &str, arguments: &str) -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_owned())),
        ..CallToolRequest::default()
    }
}

async fn names(house: &House, toolset: &str, text: &str) -> Vec<String> {
    let message = ListToolsRequest { text: text.to_owned(), ..ListToolsRequest::default() };
    let mut tools = house.server.tools().await;
    let mut stream = tools.list_tools(within(toolset, message)).await.unwrap().into_inner();
    let mut names = Vec::new();
    while let Some(answer) = stream.message().await.unwrap() {
        names.push(definition(&answer.tool).name);
    }
    names
}

#[tokio::test]
async fn only_its_tools_are_listed_described_and_exported() {
    let house = house();
    assert_eq!(names(&house, "market", "").await, MARKET);
    assert_eq!(names(&house, "market", "quotes").await, MARKET);
    assert!(names(&house, "market", "watchlist").await.is_empty());
    let mut tools = house.server.tools().await;
    let get = |name: &str| GetToolRequest { name: name.to_owned(), ..GetToolRequest::default() };
    tools.get_tool(within("market", get("get_quotes"))).await.unwrap();
    for other in ["get_positions", "get_nothing"] {
        let refused = tools.get_tool(within("market", get(other))).await;
        let words = assert_refused(refused, Code::NotFound, "UNKNOWN_TOOL");
        assert!(!words.contains("get_positions_list"), "{words}");
    }
    let exported = ExportToolsRequest { format: "openai".to_owned(), ..ExportToolsRequest::default() };
    let exported = tools.export_tools(within("market", exported)).await.unwrap().into_inner().json;
    // Descriptions name other tools.
    let has = |name: &str| exported.contains(&format!("\"name\":\"{name}\""));
    assert!(has("get_quotes") && !has("get_positions"), "{exported}");
    let told = DescribeForPlannerRequest::default();
    let told = tools.describe_for_planner(within("market", told)).await.unwrap().into_inner();
    let (lines, guidance) = (String::from_utf8_lossy(&told.tools), String::from_utf8_lossy(&told.guidance));
    assert_eq!((lines.lines().count(), told.toolset_title.as_str()), (2, "The market"), "{lines}");
    assert!(guidance.starts_with("Name the currency."), "{guidance}");
    let whole = tools.describe_for_planner(DescribeForPlannerRequest::default()).await.unwrap().into_inner();
    assert_eq!(whole.toolset_title, "");
    assert!(!String::from_utf8_lossy(&whole.guidance).contains("Name the currency."));
}

#[tokio::test]
async fn a_call_of_another_tool_is_unknown_and_what_a_tool_calls_is_not() {
    let house = house();
    let mut tools = house.server.tools().await;
    for other in ["get_positions", "get_position", "get_nothing"] {
        let refused = tools.call_tool(within("market", call(other, "{}"))).await;
        let words = assert_refused(refused, Code::NotFound, "UNKNOWN_TOOL");
        assert!(!words.contains("Did you mean get_pos"), "{words}");
        let message = InvokeToolRequest {
            target: Some(invoke_tool_request::Target::Tool(other.to_owned())),
            ..InvokeToolRequest::default()
        };
        assert_refused(tools.invoke_tool(within("market", message)).await, Code::NotFound, "UNKNOWN_TOOL");
    }
    let intent = CallToolRequest {
        target: Some(call_tool_request::Target::Intent("positions".to_owned())),
        ..CallToolRequest::default()
    };
    tools.call_tool(intent.clone()).await.unwrap();
    assert_refused(tools.call_tool(within("market", intent)).await, Code::NotFound, "UNKNOWN_INTENT");
    let mut typed = house.server.brokerage().await;
    let refused = typed.get_positions(within("market", GetPositionsRequest::default())).await;
    assert_refused(refused, Code::NotFound, "UNKNOWN_TOOL");

    // It is made of tools that are not in the toolset.
    let answer = tools.call_tool(within("market", call("get_symbol_performance", r#"{"symbol": "AAPL"}"#)));
    let Some(call_tool_response::Outcome::Result(result)) = answer.await.unwrap().into_inner().outcome else {
        panic!("a result")
    };
    assert!(matches!(result.outcome, Some(Outcome::DataJson(_) | Outcome::Data(_))), "{result:?}");
}

#[tokio::test]
async fn a_toolset_that_there_is_not_is_refused_and_so_are_two() {
    for house in [house(), House::new()] {
        let mut tools = house.server.tools().await;
        for unknown in ["shop", "Market", "", "market,facts", "market/facts", "*"] {
            let refused = tools.call_tool(within(unknown, call("get_quotes", "{}"))).await;
            let words = assert_refused(refused, Code::NotFound, "UNKNOWN_TOOLSET");
            assert!(words.contains("there is no toolset") && words.contains("[toolsets]"), "{words}");
        }
        let mut twice = within("market", call("get_quotes", "{}"));
        twice.metadata_mut().append("x-toolwire-toolset", "facts".parse().unwrap());
        assert_refused(tools.call_tool(twice).await, Code::InvalidArgument, "SEVERAL_TOOLSETS");
    }
}

#[tokio::test]
async fn it_gives_no_right() {
    let house = House::with(|config| {
        configure(config);
        let user = AuthUser::new("riley".parse().unwrap(), "a-long-enough-t0ken".into());
        let tools = ["get_positions", "get_symbol_performance"];
        let tools = tools.map(|it| it.to_owned().try_into().unwrap()).into();
        config.auth.users = vec![AuthUser { tools, ..user }];
    });
    let mut tools = house.server.tools().await;
    let signed = |tool: &str| {
        let mut request = within("market", call(tool, "{}"));
        request.metadata_mut().insert("authorization", "Bearer a-long-enough-t0ken".parse().unwrap());
        request
    };
    // One's own and not in it; in it and not one's own; neither.
    assert_refused(tools.call_tool(signed("get_positions")).await, Code::NotFound, "UNKNOWN_TOOL");
    for denied in ["get_quotes", "get_transfers", "get_nothing"] {
        assert_refused(tools.call_tool(signed(denied)).await, Code::PermissionDenied, "TOOL_NOT_ALLOWED");
    }
    tools.call_tool(signed("get_symbol_performance")).await.unwrap();
    // Without a user nobody learns which toolsets there are.
    for name in ["market", "shop"] {
        let refused = tools.call_tool(within(name, call("get_quotes", "{}"))).await;
        assert_refused(refused, Code::Unauthenticated, "CREDENTIALS_MISSING");
    }
}

#[tokio::test]
async fn a_watch_follows_tools_that_come_into_it_and_go() {
    let house = house();
    let mut tools = house.server.tools().await;
    let watch = tools.watch_tools(within("market", WatchToolsRequest::default())).await.unwrap();
    let mut watch = watch.into_inner();
    let mut next = async || loop {
        let event = watch.message().await.unwrap().unwrap();
        match event.r#type() {
            kind @ WatchEventType::Synced => return (kind, String::new()),
            WatchEventType::DataChanged | WatchEventType::Problem | WatchEventType::Heartbeat => {}
            kind => return (kind, definition(&event.tool).name),
        }
    };
    for name in MARKET {
        assert_eq!(next().await, (WatchEventType::Added, name.to_owned()));
    }
    assert_eq!(next().await.0, WatchEventType::Synced);
    // Another tool changes and stays outside.
    house.patch("get_transfers", &json!({"title": "Others"}));
    house.patch("get_facts", &json!({"tags": ["market"]}));
    assert_eq!(next().await, (WatchEventType::Added, "get_facts".to_owned()));
    house.patch("get_facts", &json!({"title": "Facts of the market"}));
    assert_eq!(next().await, (WatchEventType::Changed, "get_facts".to_owned()));
    house.patch("get_facts", &json!({"tags": ["education"]}));
    assert_eq!(next().await, (WatchEventType::Removed, "get_facts".to_owned()));
}
