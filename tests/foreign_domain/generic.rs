//! The toys through `toolwire.v1.ToolService`.

use futures_util::TryStreamExt;
use prost::Message;
use serde_json::{Value, json};
use toolwire::contract::proto::v1::{
    CallToolRequest, InvokeToolRequest, InvokeToolResponse, ListToolsRequest, ResultFormat, ToolDefinition,
    ToolResult, ToolView, call_event::Event, call_tool_request, call_tool_response, invoke_tool_request,
    tool_result::Outcome, tool_service_client::ToolServiceClient,
};

use crate::foreign_domain::server::Server;

#[track_caller]
fn data(result: ToolResult) -> Value {
    match result.outcome {
        Some(Outcome::DataJson(text)) => serde_json::from_str(&text).unwrap(),
        other => panic!("no JSON: {other:?}"),
    }
}

async fn list(server: &Server) -> Vec<ToolDefinition> {
    let request = ListToolsRequest { view: ToolView::FullJson.into(), ..ListToolsRequest::default() };
    let tools =
        ToolServiceClient::new(server.channel().await).list_tools(request).await.unwrap().into_inner();
    tools.map_ok(|response| ToolDefinition::decode(response.tool).unwrap()).try_collect().await.unwrap()
}

#[tokio::test]
async fn the_toys_alone_are_listed_with_schemas_from_their_proto() {
    let tools = list(&Server::start("")).await;
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["list_toys", "stack_blocks"]);
    let input: Value = serde_json::from_str(&tools[1].input_schema_json).unwrap();
    assert_eq!(input["properties"]["count"]["description"], "How many blocks.");
    assert_eq!(input["required"], json!(["count"]));
    let output: Value = serde_json::from_str(&tools[1].output_schema_json).unwrap();
    assert_eq!(output["properties"]["height_cm"]["description"], "Its height in centimetres.");
    assert_eq!(tools[1].typed_method, "toy.v1.ToyService/StackBlocks");
}

#[tokio::test]
async fn a_toy_is_called_and_sees_its_setting() {
    let server = Server::start("[toy]\nblock_cm = 7\n");
    let request = CallToolRequest {
        target: Some(call_tool_request::Target::Tool("stack_blocks".to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(r#"{"count": 3}"#.to_owned())),
        result_format: ResultFormat::Json.into(),
        ..CallToolRequest::default()
    };
    let response = ToolServiceClient::new(server.channel().await).call_tool(request).await.unwrap();
    let Some(call_tool_response::Outcome::Result(result)) = response.into_inner().outcome else {
        panic!("a result")
    };
    assert_eq!(data(result), json!({"height_cm": 21}));
}

#[tokio::test]
async fn a_toy_is_invoked_with_events() {
    let request = InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool("list_toys".to_owned())),
        result_format: ResultFormat::Json.into(),
        ..InvokeToolRequest::default()
    };
    let server = Server::start("");
    let events = ToolServiceClient::new(server.channel().await).invoke_tool(request).await.unwrap();
    let event = |response: InvokeToolResponse| response.event?.event;
    let events: Vec<_> = events.into_inner().try_collect().await.unwrap();
    let mut events: Vec<_> = events.into_iter().filter_map(event).collect();
    let Some(Event::Result(result)) = events.pop() else { panic!("a result") };
    assert_eq!(data(result), json!({"toys": ["blocks", "top"]}));
    assert!(matches!(events[0], Event::Accepted(_)), "{events:?}");
}
