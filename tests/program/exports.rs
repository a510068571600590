//! Tools as providers of models declare them, by the RPC and by the command: the same bytes, and only what the user may
//! call.

use std::process::Stdio;

use serde_json::{Value, json};
use strum::VariantArray as _;
use tempfile::TempDir;
use tokio::process::Command;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;
use toolwire::{
    config::{AuthUser, ToolPattern},
    contract::{
        json::to_struct,
        proto::v1::{
            CallToolRequest, ExportToolsRequest, ExportToolsResponse, call_tool_request, call_tool_response,
            tool_result,
        },
    },
    engine::exports::Format,
};

use crate::support::server::{Server, config};

fn request(format: &str, strict: bool) -> ExportToolsRequest {
    ExportToolsRequest { format: format.to_owned(), strict, tags: Vec::new() }
}

async fn export(server: &Server, request: ExportToolsRequest) -> Result<ExportToolsResponse, Status> {
    Ok(server.tools().await.export_tools(request).await?.into_inner())
}

/// What the command prints for a server, on each of its streams.
async fn printed(server: &Server, arguments: &[&str]) -> (String, String, bool) {
    let directory = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.current_dir(&directory).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    command.args(["export", "--server", &format!("http://{}", server.address)]).args(arguments);
    let output = command.output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.success())
}

#[tokio::test]
async fn the_command_prints_the_bytes_of_the_rpc() {
    let server = Server::start();
    for format in Format::VARIANTS.iter().map(Format::into_str) {
        let of_rpc = export(&server, request(format, true)).await.unwrap();
        assert_eq!(of_rpc, export(&server, request(format, true)).await.unwrap());
        let (out, notes, _) = printed(&server, &["--for", format, "--strict"]).await;
        assert!(out == format!("{}\n", of_rpc.json), "{format}");
        let expected: Vec<_> = of_rpc.notes.iter().map(|note| format!("note: {note}\n")).collect();
        let expected = expected.concat();
        assert_eq!(notes, expected);
    }
}

/// In a process of its own as over a server.
#[tokio::test]
async fn without_a_server_it_is_the_same() {
    let server = Server::start();
    let directory = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.current_dir(&directory).env_clear().env("TOOLWIRE_STATE", directory.path());
    command.args(["export", "--for", "anthropic", "--diagnostics"]).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let of_rpc = export(&server, request("anthropic", false)).await.unwrap();
    assert!(output.stdout == format!("{}\n", of_rpc.json).into_bytes());
}

#[tokio::test]
async fn tags_narrow_and_json_has_the_notes_too() {
    let server = Server::start();
    let (out, _, _) =
        printed(&server, &["--for", "openai", "--strict", "--tags", "diagnostics", "--json"]).await;
    let printed: Value = serde_json::from_str(&out).unwrap();
    let names = printed["json"].as_array().unwrap().iter().map(|it| it["function"]["name"].as_str().unwrap());
    let names: Vec<_> = names.collect();
    assert!(names.iter().all(|name| name.starts_with("debug_")) && names.len() == 8, "{names:?}");
    assert!(printed["notes"].is_array());
    // Results that MCP cuts are read on in by a tool of another tag.
    let (out, _, _) = self::printed(&server, &["--for", "mcp", "--tags", "diagnostics"]).await;
    assert!(out.matches("\"inputSchema\"").count() == 9 && out.contains("\"name\":\"read_result\""), "{out}");
}

#[tokio::test]
async fn an_unknown_format_is_refused_with_those_that_there_are() {
    let server = Server::start();
    let status = export(&server, request("gemni", false)).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    for format in Format::VARIANTS.iter().map(Format::into_str) {
        assert!(status.message().contains(format), "{status:?}");
    }
    assert!(status.message().contains("Did you mean gemini"), "{status:?}");
    let violation = status.get_details_bad_request().unwrap().field_violations.remove(0);
    assert_eq!(violation.field, "format");
    let tags = vec!["x".to_owned(); 33];
    let status = export(&server, ExportToolsRequest { tags, ..request("mcp", false) }).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let (_, said, is_fine) = printed(&server, &["--for", "gemni"]).await;
    assert!(!is_fine && said.contains("gemini-openapi"), "{said}");
}

#[tokio::test]
async fn a_user_is_told_of_no_tool_that_it_may_not_call() {
    let mut config = config();
    let tools = vec![ToolPattern::try_from("get_quotes".to_owned()).unwrap()];
    let user = AuthUser::new("riley".parse().unwrap(), "0123456789abcdef0123456789abcdef".into());
    config.auth.users = vec![AuthUser { tools, ..user }];
    let server = Server::with(config);
    for format in Format::VARIANTS.iter().map(Format::into_str) {
        let tags = vec!["market".to_owned()];
        let mut request = Request::new(ExportToolsRequest { tags, ..request(format, false) });
        let token = "Bearer 0123456789abcdef0123456789abcdef".parse().unwrap();
        request.metadata_mut().insert("authorization", token);
        let export = server.tools().await.export_tools(request).await.unwrap().into_inner();
        assert_eq!(export.json.matches("\"name\":\"get_").count(), 1, "{}", export.json);
        // Neither do notes name others.
        assert_eq!(export.notes, Vec::<String>::new());
        assert!(!export.json.contains("read_result"), "{}", export.json);
    }
}

/// The declaration and the reference to function calling in the research specification (docs/ORIGINS.md).
#[tokio::test]
async fn the_form_of_the_specification_is_that_of_gemini_openapi() {
    let server = Server::start();
    let export = export(&server, request("gemini-openapi", false)).await.unwrap();
    let tools: Value = serde_json::from_str(&export.json).unwrap();
    let declarations = tools[0]["functionDeclarations"].as_array().unwrap();
    let thesis = declarations.iter().find(|it| it["name"] == "get_stock_thesis").unwrap();
    let parameters = &thesis["parameters"];
    assert_eq!((&parameters["type"], &parameters["required"]), (&json!("OBJECT"), &json!(["query"])));
    assert_eq!(parameters["properties"]["query"]["type"], "STRING");
    for word in ["additionalProperties", "$schema", "\"examples\"", "exclusiveM", "writeOnly"] {
        assert!(!export.json.contains(word), "{word}");
    }
}

/// A strict call states every parameter; those not meant are null, at every level.
#[tokio::test]
async fn a_call_in_the_strict_form_means_the_same() {
    let server = Server::start();
    for (tool, arguments) in [
        ("get_positions", json!({"symbol": "AAPL", "account": null})),
        ("rank_portfolio", json!({"direction": "best", "basis": null, "limit": null, "account": null})),
        ("debug_stream", json!({"count": null, "interval": null})),
    ] {
        let export = export(&server, request("openai", true)).await.unwrap();
        let tools: Value = serde_json::from_str(&export.json).unwrap();
        let declared = tools.as_array().unwrap().iter().map(|it| &it["function"]);
        let declared = declared.into_iter().find(|it| it["name"] == tool).unwrap();
        assert_eq!(declared["strict"], true);
        let names = declared["parameters"]["required"].as_array().unwrap();
        let nulls = names.iter().map(|name| (name.as_str().unwrap().to_owned(), Value::Null));
        let mut all: serde_json::Map<_, _> = nulls.collect();
        let given = arguments.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
        all.extend(given.map(|(key, value)| (key.clone(), value.clone())));
        let request = CallToolRequest {
            target: Some(call_tool_request::Target::Tool(tool.to_owned())),
            input: Some(call_tool_request::Input::Arguments(to_struct(&all))),
            ..CallToolRequest::default()
        };
        let called = server.tools().await.call_tool(request).await.unwrap().into_inner();
        let Some(call_tool_response::Outcome::Result(result)) = called.outcome else { panic!("{tool}") };
        assert!(matches!(result.outcome, Some(tool_result::Outcome::Data(_))), "{tool}: {result:?}");
    }
}
