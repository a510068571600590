//! Identity: verified, never claimed; and the secrets that verify it never show.

use std::{fs, process::Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;
use toolwire::contract::{
    json::{from_struct, to_struct},
    proto::v1::{
        CallToolRequest, CallToolResponse, GetToolRequest, ListToolsRequest, call_tool_request,
        call_tool_response, tool_result::Outcome, tool_service_client::ToolServiceClient,
    },
};

use crate::{
    http::issuers::Issuer,
    support::{arguments, program::Program, server::definition},
};

const DEMO: &str = "planted-token-of-demo";
const RILEY: &str = "planted-token-of-riley";

/// A directory whose configuration has two users, the second of them with a part of the tools.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let text = format!(
        "[[auth.users]]\nuser_id = \"demo\"\ntoken = \"{DEMO}\"\n\n\
         [[auth.users]]\nuser_id = \"riley\"\ntoken_env = \"RILEYS_TOKEN\"\ntools = [\"get_*\"]\n\n\
         [log]\narguments = true\n"
    );
    fs::write(directory.path().join("toolwire.toml"), text).expect("written");
    directory
}

fn with_token<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    let value = format!("Bearer {token}").parse().expect("a value");
    request.metadata_mut().insert("authorization", value);
    request
}

fn call(tool: &str) -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(json!({}))))),
        ..CallToolRequest::default()
    }
}

#[track_caller]
fn total(response: CallToolResponse) -> Value {
    let Some(call_tool_response::Outcome::Result(result)) = response.outcome else { panic!("a result") };
    let Some(Outcome::Data(data)) = result.outcome else { panic!("data") };
    from_struct(data)["accounts"][0]["total_value"].clone()
}

#[track_caller]
fn assert_refused(status: &Status, code: Code, reason: &str) {
    assert_eq!(status.code(), code, "{status:?}");
    assert_eq!(status.get_details_error_info().expect("an ErrorInfo").reason, reason);
}

#[tokio::test]
async fn a_token_says_who_calls_and_what_may_be_called_and_never_shows() {
    let directory = directory();
    let program = Program::start(directory.path(), &[], &[("RILEYS_TOKEN", RILEY)]).await;
    let mut client = ToolServiceClient::new(program.channel().await);

    let demo = client.call_tool(with_token(call("get_account_summary"), DEMO)).await.expect("allowed");
    assert_eq!(total(demo.into_inner()), 128_450.22);
    let mut claimed = with_token(call("get_account_summary"), RILEY);
    claimed.metadata_mut().insert("x-toolwire-user", "demo".parse().expect("a value"));
    let riley = client.call_tool(claimed).await.expect("allowed");
    assert_eq!(total(riley.into_inner()), 23_416.97);

    let status = client.call_tool(call("get_account_summary")).await.unwrap_err();
    assert_refused(&status, Code::Unauthenticated, "CREDENTIALS_MISSING");
    for _ in 0..100 {
        let status = client.call_tool(with_token(call("get_account_summary"), "guess")).await.unwrap_err();
        assert_refused(&status, Code::Unauthenticated, "CREDENTIALS_REJECTED");
    }

    // Permission comes before existence, and a listing shows what may be called.
    for tool in ["rank_portfolio", "no_such_tool"] {
        let status = client.call_tool(with_token(call(tool), RILEY)).await.unwrap_err();
        assert_refused(&status, Code::PermissionDenied, "TOOL_NOT_ALLOWED");
        let request = GetToolRequest { name: tool.to_owned(), ..Default::default() };
        let status = client.get_tool(with_token(request, RILEY)).await.unwrap_err();
        assert_refused(&status, Code::PermissionDenied, "TOOL_NOT_ALLOWED");
    }
    let mut listing = client
        .list_tools(with_token(ListToolsRequest::default(), RILEY))
        .await
        .expect("allowed")
        .into_inner();
    while let Some(response) = listing.message().await.expect("no status") {
        assert!(definition(&response.tool).name.starts_with("get_"));
    }

    let log = program.stop().await;
    // A refusal has its line too: of the transport, or of the call.
    let lines = |target: &str, status: &str| {
        let parse = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
        let is_meant = |line: &Value| line["target"] == target && line["status"] == status;
        log.lines().map(parse).filter(is_meant).count()
    };
    assert_eq!(lines("toolwire::rpc", "UNAUTHENTICATED"), 0, "{log}");
    for reason in ["missing", "rejected"] {
        let of_reason = format!("\"reason\":\"{reason}\"");
        assert_eq!(log.lines().filter(|line| line.contains(&of_reason)).count(), 1, "{log}");
    }
    assert_eq!(lines("toolwire::rpc", "PERMISSION_DENIED"), 2, "{log}");
    assert_eq!(lines("toolwire::call", "PERMISSION_DENIED"), 2, "{log}");
    assert_eq!(lines("toolwire::call", "OK"), 2, "{log}");
    for secret in [DEMO, RILEY] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[tokio::test]
async fn the_log_says_what_lets_a_user_of_an_issuer_in() {
    let issuer = Issuer::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let uri = issuer.server.uri();
    let file = format!(
        "[[auth.issuers]]\nname = 'corp'\nissuer = '{uri}'\naudience = ['toolwire', 'api://tools']\ngroups = 'roles'\n"
    );
    fs::write(directory.path().join("toolwire.toml"), file).expect("written");
    let mut program = Program::start(directory.path(), &[], &[]).await;
    let mut client = ToolServiceClient::new(program.channel().await);
    let mut called = async |change: &[(&str, Value)]| {
        let header = issuer.token("8f2c", &[], change);
        let token = header.trim_start_matches("authorization: Bearer ");
        client.call_tool(with_token(call("get_account_summary"), token)).await.unwrap_err().code()
    };
    assert_eq!(called(&[("roles", json!(["support", "a b"]))]).await, Code::PermissionDenied);
    let line = program.line("get_account_summary").await;
    let groups = format!("corp/support {}", toolwire::identity::group_id("corp", "a b"));
    assert_eq!((&line["error_code"], &line["user_groups"]), (&json!("TOOL_NOT_ALLOWED"), &json!(groups)));
    assert_eq!(called(&[("aud", json!("api://else"))]).await, Code::Unauthenticated);
    let (line, _) = program.wait_for_log("a signed token is refused").await;
    assert_eq!(line["reason"], "wrong_audience");
    let detail = "it is for \"api://else\", and accepted are \"toolwire\", \"api://tools\"";
    assert_eq!(line["detail"], detail);
    // Entra leaves the claim out where it is not configured to be there.
    assert_eq!(called(&[]).await, Code::PermissionDenied);
    let (line, _) = program.wait_for_log("has no such claim").await;
    assert_eq!(
        (&line["issuer"], &line["groups"], &line["level"]),
        (&json!("corp"), &json!("roles"), &json!("WARN"))
    );
    assert_eq!(program.line("get_account_summary").await["user_groups"], "none");
    assert_eq!(called(&[("jti", json!("another"))]).await, Code::PermissionDenied);
    assert!(!program.stop().await.contains("has no such claim"), "told once");
}

#[tokio::test]
async fn the_printed_configuration_hides_tokens() {
    let directory = directory();
    let printed = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["serve", "--print-config"])
        .env("RILEYS_TOKEN", RILEY)
        .current_dir(directory.path())
        .output()
        .await
        .expect("runs");
    let text = String::from_utf8(printed.stdout).expect("text");
    assert!(printed.status.success() && text.contains("riley") && text.contains("[hidden]"), "{text}");
    assert!(!text.contains(DEMO) && !text.contains(RILEY), "{text}");
}

/// What a command prints in a directory, which it must do without a failure.
async fn ended(directory: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(arguments).current_dir(directory.path()).output().await.expect("runs")
}

async fn printed(directory: &TempDir, arguments: &[&str]) -> String {
    let output = ended(directory, arguments).await;
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[tokio::test]
async fn a_new_token_serves_its_user_by_the_digest_that_the_file_holds() {
    let directory = tempfile::tempdir().expect("a directory");
    let made = printed(&directory, &["token", "new", "demo"]).await;
    assert_ne!(made, printed(&directory, &["token", "new", "demo"]).await);
    let (token, entry) = made.split_once("\n\n").expect("a token and an entry");
    assert!(token.starts_with("twk_") && !entry.contains(token), "{made}");
    fs::write(directory.path().join("toolwire.toml"), entry).expect("written");
    let program = Program::start(directory.path(), &[], &[]).await;
    let mut client = ToolServiceClient::new(program.channel().await);
    let demo = client.call_tool(with_token(call("get_account_summary"), token)).await.expect("allowed");
    assert_eq!(total(demo.into_inner()), 128_450.22);
    let (_, digest) = entry.trim_end().trim_end_matches('"').split_once("sha256 = \"").expect("a digest");
    let status = client.call_tool(with_token(call("get_account_summary"), digest)).await.unwrap_err();
    assert_refused(&status, Code::Unauthenticated, "CREDENTIALS_REJECTED");
    let log = program.stop().await;
    assert!(!log.contains(token) && !log.contains(digest), "{log}");
}

#[tokio::test]
async fn the_line_that_decides_is_explained_from_the_file_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = format!(
        "[[auth.users]]\nuser_id = 'riley'\ntoken = '{RILEY}'\ntools = ['get_*']\n\
         [[auth.rules]]\nwho = ['user:riley']\ntools = ['get_secret']\neffect = 'deny'\n\
         [[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\naudience = ['toolwire']\n\
         [[auth.rules]]\nwho = ['group:corp/support']\ntools = ['get_*']\nscope = 'tools'\n\
         [[auth.rules]]\nwho = ['group:corp/support']\ntools = ['rank_*']\nvia = ['spiffe:example.org/*']\n\
         [[auth.rules]]\nwho = ['user:corp:left']\ntools = ['*']\neffect = 'deny'\n\
         [auth]\ntrusted_proxies = ['127.0.0.1']\n"
    );
    fs::write(directory.path().join("toolwire.toml"), file).expect("written");
    for (line, decision) in [
        ("corp:left get_quotes --group corp/support", "denied: toolwire.toml:21: auth.rules.3"),
        ("corp:left get_quotes", "auth.rules.3 shuts the user out: every request is refused"),
        ("riley get_quotes", "allowed: toolwire.toml:1: auth.users.0"),
        ("riley get_secret", "denied: toolwire.toml:5: auth.rules.0"),
        ("riley get_secret --may approve", "denied: toolwire.toml:5: auth.rules.0"),
        ("riley get_secret --may read_records", "denied: toolwire.toml:5: auth.rules.0"),
        ("riley rank_portfolio", "denied: no line allows it"),
        ("riley get_quotes --may approve", "denied: no line allows it"),
        ("alex get_quotes", "denied: no line allows it"),
        (
            "corp:8f2c get_quotes --group corp/support --scope tools",
            "allowed: toolwire.toml:13: auth.rules.1",
        ),
        (
            "corp:8f2c get_quotes --group corp/support",
            "denied: toolwire.toml:13: auth.rules.1 allows it to a token with the scope tools, which",
        ),
        ("corp:8f2c get_quotes --scope tools", "denied: no line allows it"),
        (
            "corp:8f2c rank_portfolio --group corp/support --via spiffe://example.org/agent",
            "allowed: toolwire.toml:17: auth.rules.2",
        ),
        ("corp:8f2c rank_portfolio --group corp/support", "denied: no line allows it"),
    ] {
        let arguments: Vec<_> = ["explain", "rule"].into_iter().chain(line.split(' ')).collect();
        let output = ended(&directory, &arguments).await;
        let explained = String::from_utf8(output.stdout).expect("text");
        assert!(explained.contains(decision), "{line}: {explained}");
        let code = i32::from(!decision.starts_with("allowed"));
        assert_eq!(output.status.code(), Some(code), "{line}");
    }
    // A name that no line has decides nothing, and is most likely mistyped.
    for (line, warning) in [
        ("rilley get_quotes", "no line names the user rilley. Did you mean riley?"),
        (
            "corp:8f2c get_quotes --group corp/suport",
            "no line names the group corp/suport. Did you mean corp/support?",
        ),
        (
            "corp:8f2c get_quotes --group corp/support --group corp/sales --scope tools",
            "no line names the group corp/sales",
        ),
        (
            "corp:8f2c get_quotes --group support",
            "no line names the group support. Did you mean corp/support?",
        ),
        ("riley get_quotes", ""),
        ("corp:8f2c get_quotes --group corp/support", ""),
    ] {
        let arguments: Vec<_> = ["explain", "rule"].into_iter().chain(line.split(' ')).collect();
        let said = String::from_utf8(ended(&directory, &arguments).await.stderr).expect("text");
        assert!(said.contains(warning) && said.is_empty() == warning.is_empty(), "{line}: {said}");
    }
}

#[tokio::test]
async fn the_rights_of_a_workload_are_explained_by_its_id() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = "[auth]\ntrusted_proxies = ['127.0.0.1']\n\
                [[auth.trust_domains]]\nname = 'example.org'\naudience = ['toolwire']\n\
                jwks_url = 'https://spire.example/keys'\n\
                [[auth.spiffe]]\nid = 'spiffe://example.org/*/agent'\nuser = 'agent'\ngroups = ['agents']\n\
                [[auth.spiffe]]\nid = 'spiffe://example.com/agent'\nuser = 'other'\n\
                [[auth.rules]]\nwho = ['spiffe:example.org/*/agent']\ntools = ['get_*']\n\
                [[auth.rules]]\nwho = ['group:agents', 'user:other']\ntools = ['rank_*']\nvia = ['spiffe:example.com/*']\n";
    fs::write(directory.path().join("toolwire.toml"), file).expect("written");
    let token = "spiffe://example.org/shop/agent";
    for (line, decision) in [
        (format!("{token} get_quotes"), "allowed: toolwire.toml:14: auth.rules.0"),
        (format!("{token} rank_portfolio"), "denied: no line allows it"),
        (
            format!("{token} rank_portfolio --via spiffe://example.com/agent"),
            "allowed: toolwire.toml:17: auth.rules.1",
        ),
        // No token of its trust domain is accepted: it is known by its certificate.
        ("spiffe://example.com/agent rank_portfolio".to_owned(), "allowed: toolwire.toml:17: auth.rules.1"),
        ("spiffe://example.com/agent get_quotes".to_owned(), "denied: no line allows it"),
    ] {
        let arguments: Vec<_> = ["explain", "rule"].into_iter().chain(line.split(' ')).collect();
        let output = ended(&directory, &arguments).await;
        let explained = String::from_utf8(output.stdout).expect("text");
        assert!(explained.contains(decision), "{line}: {explained}");
    }
    for (line, words) in [
        (
            format!("{token} get_quotes --group agents"),
            "the groups of a workload are those of [[auth.spiffe]]",
        ),
        ("spiffe://example.org/agent get_quotes".to_owned(), "no id of [[auth.spiffe]] matches"),
        ("spiffe://example.org get_quotes".to_owned(), "expected a SPIFFE id"),
        (
            format!("spiffe://example.com/agent get_quotes --via {token}"),
            "a user by its own certificate alone",
        ),
    ] {
        let arguments: Vec<_> = ["explain", "rule"].into_iter().chain(line.split(' ')).collect();
        let output = ended(&directory, &arguments).await;
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(said.contains(words) && !output.status.success(), "{line}: {said}");
    }
}

#[tokio::test]
async fn who_sees_a_part_of_what_there_is_is_told_so() {
    let directory = directory();
    let said = async |line: &str, samples: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_toolwire"))
            .args(line.split(' '))
            .env("TOOLWIRE_SAMPLES", samples)
            .current_dir(directory.path())
            .output()
            .await
            .expect("runs");
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    for command in ["audit", "audit --refused"] {
        let own = said(&format!("{command} --state state"), "true").await;
        assert!(own.contains(" of demo; --user NAME of one who may observe"), "{command}: {own}");
    }
    // The same words whether or not there are tools.
    for samples in ["true", "false"] {
        let none = said("list --user alex", samples).await;
        assert!(none.starts_with("you may call none of the tools here"), "{samples}: {none}");
    }
    let file = directory.path().join("toolwire.toml");
    let text = fs::read_to_string(&file).expect("read").replacen("tools = ", "observe = true\ntools = ", 1);
    fs::write(&file, text).expect("written");
    assert_eq!(said("audit --refused --state state --user riley", "true").await, "nothing was refused\n");
}
