//! Users, rules, toolsets and quotas of a program that runs: read again when the file changes and by SIGHUP, all of
//! them or nothing.

mod recordings;

use std::{fs, path::Path};

use rustix::process::{Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tonic::{Code, Request, Status, Streaming};
use tonic_types::StatusExt;
use toolwire::contract::proto::v1::{
    GetToolRequest, WatchEventType, WatchToolsRequest, WatchToolsResponse,
    tool_service_client::ToolServiceClient,
};

use super::metrics::scrape;
use crate::{
    http::issuers::Issuer,
    support::{authority::Authority, program::Program, server::definition},
};

const ADMIN: [&str; 2] = ["--admin", "127.0.0.1:0"];

/// A directory whose configuration has these users, each with tools.
fn directory(users: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), &file(users));
    directory
}

fn file(users: &[(&str, &str)]) -> String {
    let entry = |(user, tools): &(&str, &str)| {
        format!("[[auth.users]]\nuser_id = '{user}'\ntoken = '{}'\ntools = ['{tools}']\n", token(user))
    };
    users.iter().map(entry).collect()
}

fn token(user: &str) -> String {
    format!("planted-t0ken-of-{user}")
}

/// As most editors do: a reader sees either file whole.
fn write(directory: &Path, text: &str) {
    fs::write(directory.join("new.toml"), text).expect("written");
    fs::rename(directory.join("new.toml"), directory.join("toolwire.toml")).expect("renamed");
}

fn with_token<T>(message: T, user: &str) -> Request<T> {
    let mut request = Request::new(message);
    let value = format!("Bearer {}", token(user)).parse().expect("a value");
    request.metadata_mut().insert("authorization", value);
    request
}

/// Whether the user may know of a tool.
async fn sees(program: &Program, user: &str, tool: &str) -> Result<(), Code> {
    let mut client = ToolServiceClient::new(program.channel().await);
    let request = GetToolRequest { name: tool.to_owned(), ..Default::default() };
    client.get_tool(with_token(request, user)).await.map(drop).map_err(|status| status.code())
}

async fn watch(program: &Program, user: &str) -> Streaming<WatchToolsResponse> {
    let mut client = ToolServiceClient::new(program.channel().await);
    let request = with_token(WatchToolsRequest::default(), user);
    let mut stream = client.watch_tools(request).await.expect("allowed").into_inner();
    while stream.message().await.expect("goes on").expect("goes on").r#type() != WatchEventType::Synced {}
    stream
}

/// The status with which a stream ends.
async fn end(stream: &mut Streaming<WatchToolsResponse>) -> Status {
    loop {
        match stream.message().await {
            Ok(message) => assert!(message.is_some(), "ended well"),
            Err(status) => return status,
        }
    }
}

async fn problem(program: &Program) -> String {
    let text = scrape(program).await;
    let is_meant =
        |line: &&str| line.starts_with("toolwire_config_problem{") && line.contains("kind=\"settings\"");
    let line = text.lines().find(is_meant).expect("it is there");
    line.rsplit(' ').next().expect("a value").to_owned()
}

#[tokio::test]
async fn a_changed_file_is_taken_over_and_ends_the_streams_of_who_lost_a_right() {
    let directory = directory(&[("demo", "*"), ("riley", "*")]);
    let mut program = Program::start(directory.path(), &ADMIN, &[]).await;
    let (mut riley, mut demo) = (watch(&program, "riley").await, watch(&program, "demo").await);
    assert_eq!(sees(&program, "alex", "get_quotes").await, Err(Code::Unauthenticated));

    write(directory.path(), &file(&[("demo", "*"), ("riley", "get_*"), ("alex", "*")]));
    let status = end(&mut riley).await;
    assert_eq!(status.code(), Code::PermissionDenied, "{status:?}");
    assert_eq!(status.get_details_error_info().expect("an ErrorInfo").reason, "RIGHT_WITHDRAWN");
    let (line, before) = program.wait_for_log("are those of the settings now").await;
    assert_eq!(line["changes"], "user added: alex; user changed: riley", "{before:?}");
    assert_eq!(sees(&program, "alex", "get_quotes").await, Ok(()));
    assert_eq!(sees(&program, "riley", "get_quotes").await, Ok(()));
    assert_eq!(sees(&program, "riley", "rank_portfolio").await, Err(Code::PermissionDenied));
    assert_eq!(problem(&program).await, "0");

    // All or nothing: the file has another user, too.
    for broken in [
        format!("{}\n[[auth.users]\n", file(&[("sam", "*")])),
        format!("{}token_env = 'ALSO'\n", file(&[("sam", "*")])),
        format!("{}[server]\nlistne = '127.0.0.1:1'\n", file(&[("sam", "*")])),
        "[log]\nformat = 'json'\n".to_owned(),
    ] {
        write(directory.path(), &broken);
        let (line, _) = program.wait_for_log("the settings cannot be used").await;
        assert!(!line["error"].as_str().expect("why").is_empty(), "{line}");
        assert_eq!(problem(&program).await, "1", "{broken}");
        assert_eq!(sees(&program, "sam", "get_quotes").await, Err(Code::Unauthenticated));
        assert_eq!(sees(&program, "demo", "get_quotes").await, Ok(()));
    }
    write(directory.path(), &format!("{}[log]\narguments = true\n", file(&[("demo", "*")])));
    let (line, _) = program.wait_for_log("are those of the settings now").await;
    assert_eq!(line["changes"], "user removed: alex; user removed: riley");
    let (line, _) = program.wait_for_log("count from the next start").await;
    assert_eq!(line["settings"], "log.arguments");
    assert_eq!(problem(&program).await, "0");
    // Who gained rights sees what they show.
    write(directory.path(), &file(&[("demo", "*"), ("riley", "get_*")]));
    program.wait_for_log("are those of the settings now").await;
    let mut riley = watch(&program, "riley").await;
    write(directory.path(), &file(&[("demo", "*"), ("riley", "*")]));
    let gained = riley.message().await.expect("goes on").expect("goes on");
    assert_eq!(gained.r#type(), WatchEventType::Added);
    assert!(!definition(&gained.tool).name.starts_with("get_"));
    program.wait_for_log("are those of the settings now").await;
    // Who lost nothing noticed nothing.
    fs::remove_file(directory.path().join("toolwire.toml")).expect("removed");
    program.wait_for_log("the settings cannot be used").await;
    write(directory.path(), &file(&[("other", "*")]));
    assert_eq!(end(&mut demo).await.code(), Code::Unauthenticated);

    let log = program.stop().await;
    for user in ["demo", "riley", "alex", "sam", "other"] {
        assert!(!log.contains(&token(user)), "{log}");
    }
}

#[tokio::test]
async fn a_removed_token_is_refused_on_a_connection_that_presented_it_before() {
    let directory = directory(&[("demo", "*"), ("riley", "*")]);
    let mut program = Program::start(directory.path(), &ADMIN, &[]).await;
    let mut client = ToolServiceClient::new(program.channel().await);
    let mut is_accepted = async |user: &str| {
        let request = GetToolRequest { name: "get_quotes".to_owned(), ..Default::default() };
        client.get_tool(with_token(request, user)).await.map(drop).map_err(|status| status.code())
    };
    for user in ["demo", "demo", "riley", "demo"] {
        assert_eq!(is_accepted(user).await, Ok(()));
    }
    assert_eq!(is_accepted("alex").await, Err(Code::Unauthenticated));
    assert_eq!(is_accepted("demo").await, Ok(()));
    write(directory.path(), &file(&[("riley", "*")]));
    program.wait_for_log("are those of the settings now").await;
    assert_eq!(is_accepted("demo").await, Err(Code::Unauthenticated));
    assert_eq!(is_accepted("riley").await, Ok(()));
    program.stop().await;
}

/// Whether a request that names a toolset may know of a tool.
async fn sees_within(program: &Program, toolset: &str, tool: &str) -> Result<(), Code> {
    let mut client = ToolServiceClient::new(program.channel().await);
    let request = GetToolRequest { name: tool.to_owned(), ..Default::default() };
    let mut request = with_token(request, "demo");
    request.metadata_mut().insert("x-toolwire-toolset", toolset.parse().expect("a value"));
    client.get_tool(request).await.map(drop).map_err(|status| status.code())
}

#[tokio::test]
async fn toolsets_and_quotas_are_taken_over_with_the_users_or_not_at_all() {
    let directory = directory(&[("demo", "*")]);
    let mut program = Program::start(directory.path(), &ADMIN, &[]).await;
    let settings = |more: &str| write(directory.path(), &format!("{}{more}", file(&[("demo", "*")])));
    settings("[toolsets.market]\ntools = ['get_quotes']\n[[quota]]\nconcurrent = 2\n");
    let (line, _) = program.wait_for_log("are those of the settings now").await;
    assert_eq!(line["changes"], "toolset added: market; quota added: everybody");
    for broken in [
        "[toolsets.market]\ntools = ['get_positions']\n[[quota]]\nconcurrent = 0\n",
        "[toolsets.market]\ntools = []\n[[quota]]\nconcurrent = 1\n",
        "[toolsets.market]\ntools = ['get_positions']\n\
         [[auth.rules]]\nwho = ['user:demo']\ntoolsets = ['markets']\n",
    ] {
        assert_eq!(sees_within(&program, "market", "get_quotes").await, Ok(()));
        assert_eq!(sees_within(&program, "market", "get_positions").await, Err(Code::NotFound));
        settings(broken);
        program.wait_for_log("the settings cannot be used").await;
    }
    settings("[toolsets.market]\ntools = ['get_positions']\n");
    let (line, _) = program.wait_for_log("are those of the settings now").await;
    assert_eq!(line["changes"], "toolset changed: market; quota removed: everybody");
    assert_eq!(sees_within(&program, "market", "get_positions").await, Ok(()));
    program.stop().await;
}

/// What an alert goes by: files that cannot be used, and keys that cannot be fetched.
#[tokio::test]
async fn certificates_and_keys_of_issuers_that_cannot_be_had_are_seen_in_the_metrics() {
    let (directory, authority) = (tempfile::tempdir().expect("a directory"), Authority::new());
    authority.sign("localhost");
    let (cert, key) = (authority.file("cert.pem"), authority.file("key.pem"));
    let text = format!(
        "[server.tls]\ncert = '{}'\nkey = '{}'\n[[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\n\
         audience = ['toolwire']\njwks_url = 'http://127.0.0.1:9/keys'\n",
        cert.display(),
        key.display()
    );
    write(directory.path(), &text);
    let mut program = Program::start(directory.path(), &ADMIN, &[]).await;
    let metric = async |program: &Program, name: &str, label: &str| {
        let text = scrape(program).await;
        let is_meant = |line: &&str| line.starts_with(&format!("{name}{{")) && line.contains(label);
        text.lines().find(is_meant).expect("it is there").rsplit(' ').next().expect("a value").to_owned()
    };
    let problem = "toolwire_config_problem";
    assert_eq!(metric(&program, problem, "kind=\"certificates\"").await, "0");
    let sound = fs::read_to_string(&key).expect("readable");
    fs::write(&key, "no key").expect("written");
    program.wait_for_log("the new certificate cannot be used").await;
    assert_eq!(metric(&program, problem, "kind=\"certificates\"").await, "1");
    assert_eq!(metric(&program, problem, "kind=\"settings\"").await, "0");
    fs::write(&key, sound).expect("written");
    program.wait_for_log("a new certificate is served").await;
    assert_eq!(metric(&program, problem, "kind=\"certificates\"").await, "0");
    metric(&program, "toolwire_issuer_keys_age_seconds", "issuer=\"corp\"")
        .await
        .parse::<u64>()
        .expect("seconds");
    program.stop().await;
}

/// A key that is withdrawn from the file verifies no further token, and a file that cannot be used changes nothing.
#[tokio::test]
async fn the_file_of_an_issuers_keys_is_taken_over_when_it_changes() {
    let (before, after) = (Issuer::start().await, Issuer::start().await);
    let directory = tempfile::tempdir().expect("a directory");
    let keys = directory.path().join("keys.json");
    let write_keys = |text: &str| {
        fs::write(directory.path().join("new.json"), text).expect("written");
        fs::rename(directory.path().join("new.json"), &keys).expect("renamed");
    };
    write_keys(&before.keys().to_string());
    let settings = "[[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\naudience = ['toolwire']\n\
                    jwks_file = 'keys.json'\n[[auth.rules]]\nwho = ['user:corp:riley']\ntools = ['*']\n";
    write(directory.path(), settings);
    let mut program = Program::start(directory.path(), &ADMIN, &[]).await;
    let mut client = ToolServiceClient::new(program.channel().await);
    let mut is_accepted = async |signer: &Issuer| {
        let header = signer.token("riley", &[], &[("iss", Value::from("https://login.example"))]);
        let token = header.trim_start_matches("authorization: ").parse().expect("a value");
        let mut request =
            Request::new(GetToolRequest { name: "get_quotes".to_owned(), ..Default::default() });
        request.metadata_mut().insert("authorization", token);
        client.get_tool(request).await.map(drop).map_err(|status| status.code())
    };
    assert_eq!(is_accepted(&before).await, Ok(()));
    assert_eq!(is_accepted(&after).await, Err(Code::Unauthenticated));

    write_keys("{\"keys\": ");
    program.wait_for_log("the settings cannot be used").await;
    assert_eq!(problem(&program).await, "1");
    assert_eq!(is_accepted(&before).await, Ok(()));

    write_keys(&after.keys().to_string());
    program.wait_for_log("are those of the settings now").await;
    assert_eq!(problem(&program).await, "0");
    assert_eq!(is_accepted(&after).await, Ok(()));
    assert_eq!(is_accepted(&before).await, Err(Code::Unauthenticated));
    program.stop().await;
}

/// What a service manager sends a daemon that is to read its settings again.
#[tokio::test]
async fn a_hang_up_without_a_terminal_has_the_settings_read_now() {
    let directory = directory(&[("demo", "*")]);
    let mut program = Program::without_terminal_in(directory.path(), &[], &[]).await;
    let hang_up = |program: &Program| kill_process(program.pid(), Signal::HUP).expect("running");
    hang_up(&program);
    let (line, _) = program.wait_for_log("the settings are read again").await;
    assert_eq!((&line["signal"], &line["level"]), (&Value::from("SIGHUP"), &Value::from("INFO")));
    let (line, _) = program.wait_for_log("are those of the settings now").await;
    assert_eq!(line["changes"], "none");
    write(directory.path(), "[[auth.users]");
    hang_up(&program);
    program.wait_for_log("the settings cannot be used").await;
    assert_eq!(sees(&program, "demo", "get_quotes").await, Ok(()));
}
