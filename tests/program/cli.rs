//! The `toolwire` program as its users meet it: exit codes, what stands on which stream, what it asks of a server.

mod client;
mod completion;
mod domain_commands;
mod every_tool;
mod fake_server;
mod hostile;
mod marked;
mod signals;
mod source_failures;
mod untrusted;

use std::{
    fs,
    process::{Output, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};
use toolwire::contract::proto::v1::invoke_tool_request::Input;

/// A bound on what ends by itself, so that a test does not hang.
const TIMEOUT: Duration = Duration::from_secs(20);

/// `toolwire serve` on a free port, and what it printed when it was ready.
async fn served(directory: &TempDir, lame_duck: &str) -> (Child, String) {
    served_with_log(directory, lame_duck, Stdio::null()).await
}

/// The same with a log that goes somewhere.
async fn served_with_log(directory: &TempDir, lame_duck: &str, log: Stdio) -> (Child, String) {
    let mut command = toolwire(directory);
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("TOOLWIRE_DRAIN_LAME_DUCK", lame_duck);
    command.stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.next_line().await.unwrap().unwrap();
    let address = ready.strip_prefix("toolwire listening on ").unwrap().to_owned();
    (child, address)
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

async fn exit_code(mut child: Child) -> Option<i32> {
    timeout(TIMEOUT, child.wait()).await.expect("it ends").unwrap().code()
}

/// The program in an empty directory and an empty environment.
fn toolwire(directory: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.current_dir(directory).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    command.env("TOOLWIRE_STATE", directory.path().join("state"));
    command
}

async fn run(arguments: &[&str]) -> Output {
    toolwire(&tempfile::tempdir().unwrap()).args(arguments).output().await.unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

#[track_caller]
fn assert_fails(output: &Output, code: i32, words: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert_eq!(stdout(output), "", "nothing but results belongs on standard output");
    for word in words {
        assert!(stderr(output).contains(word), "{word:?} is not in {:?}", stderr(output));
    }
}

#[tokio::test]
async fn without_a_command_the_commands_are_shown() {
    let words =
        ["Tools:\n  list ", "Server:\n  serve ", "Of the domain brokerage:\n  import ", "completions"];
    assert_fails(&run(&[]).await, 2, &words);
    let help = run(&["call", "--help"]).await;
    assert_eq!(help.status.code(), Some(0));
    assert!(stdout(&help).contains("KEY=VALUE") && stdout(&help).contains("TOOLWIRE_TOKEN"), "{help:?}");
    let of_a_domain = run(&["discover", "--help"]).await;
    assert!(stdout(&of_a_domain).starts_with("Looks for stocks"), "{of_a_domain:?}");
}

#[tokio::test]
async fn bad_usage_is_exit_code_2_and_says_what_was_expected() {
    assert_fails(&run(&["call", "x", "--deadline", "5"]).await, 2, &["--deadline", "such as 500ms"]);
    assert_fails(&run(&["call", "--intent", "i", "--json", "{}", "a=b"]).await, 2, &["leave key=value out"]);
}

#[tokio::test]
async fn json_that_is_no_object_is_an_error_of_the_call() {
    let call = async |json| run(&["call", "get_account_summary", "--json", json]).await;
    assert_fails(&call("[]").await, 1, &["INVALID_ARGUMENT", "must be a JSON object"]);
    assert_fails(&call(r#"{"account": "#).await, 1, &["INVALID_ARGUMENT", "EOF while parsing"]);
    for none in ["", " ", "null"] {
        assert_eq!(call(none).await.status.code(), Some(0), "{none:?}");
    }
}

#[tokio::test]
async fn a_bad_configuration_is_exit_code_2_and_names_its_source() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("toolwire.toml"), "[server]\nlisen = 'x'\nport = 1").unwrap();
    let output = toolwire(&directory).arg("serve").output().await.unwrap();
    assert_fails(&output, 2, &["2 problems", "toolwire.toml:2: server.lisen", "Did you mean server.listen?"]);
    let output = run(&["serve", "--listen", "50051"]).await;
    assert_fails(&output, 2, &["flag --listen: expected an address and a port"]);
}

#[tokio::test]
async fn other_machines_are_not_served_without_credentials() {
    let output = run(&["serve", "--listen", "0.0.0.0:0"]).await;
    assert_fails(&output, 2, &["no credentials are configured", "[[auth.users]]", "127.0.0.1"]);
}

#[tokio::test]
async fn the_effective_configuration_is_printed_with_its_sources_and_without_its_secrets() {
    let directory = tempfile::tempdir().unwrap();
    let file = "[server]\nlisten = '127.0.0.1:1'\n[log]\nformat = 'text'\n[[auth.users]]\nuser_id = 'riley'\ntoken = 's3cret'";
    fs::write(directory.path().join("toolwire.toml"), file).unwrap();
    let mut command = toolwire(&directory);
    command.env("TOOLWIRE_LISTEN", "127.0.0.1:2").env("TOOLWIRE_REFLECTION", "false");
    command.args([
        "serve",
        "--print-config",
        "--listen",
        "127.0.0.1:3",
        "--diagnostics",
        "--data",
        "d",
        "--state",
        "s",
    ]);
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines: Vec<_> =
        stdout(&output).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "listen = \"127.0.0.1:3\" # --listen (--listen, TOOLWIRE_LISTEN)",
        "reflection = false # TOOLWIRE_REFLECTION (TOOLWIRE_REFLECTION)",
        "diagnostics = true # --diagnostics (--diagnostics, TOOLWIRE_DIAGNOSTICS)",
        "dir = \"d\" # --data (--data, TOOLWIRE_DATA)",
        "dir = \"s\" # --state (--state, TOOLWIRE_STATE)",
        "format = \"text\" # toolwire.toml (--log, TOOLWIRE_LOG)",
        "deadline_cap = \"2m\" # default (TOOLWIRE_DEADLINE_CAP)",
        "token = \"[hidden]\"",
    ] {
        assert!(lines.iter().any(|it| it == line), "{line:?} is not in {lines:#?}");
    }
    assert!(!stdout(&output).contains("s3cret"));
}

#[tokio::test]
async fn the_admin_address_stands_on_the_second_line_and_the_endpoint_outlives_readiness() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = toolwire(&directory);
    command.args(["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
    command.env("TOOLWIRE_DRAIN_LAME_DUCK", "10s").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next_line().await.unwrap().unwrap();
    // Without a connection it would end at once.
    let _connected = connect(first.strip_prefix("toolwire listening on ").unwrap()).await;
    let line = lines.next_line().await.unwrap().unwrap();
    let admin = line.strip_prefix("toolwire admin on ").unwrap();
    assert!(http_get(admin, "/readyz").await.starts_with("HTTP/1.1 200"));
    send(&child, Signal::TERM);
    timeout(TIMEOUT, async { while http_get(admin, "/readyz").await.starts_with("HTTP/1.1 200") {} })
        .await
        .expect("it drains");
    assert!(http_get(admin, "/readyz").await.starts_with("HTTP/1.1 503"));
    assert!(http_get(admin, "/healthz").await.starts_with("HTTP/1.1 200"));
    child.kill().await.unwrap();
}

#[tokio::test]
async fn a_server_that_starts_says_what_it_serves_and_what_to_try_next() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = toolwire(&directory);
    command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.next_line().await.unwrap().unwrap();
    let address = ready.strip_prefix("toolwire listening on ").unwrap().to_owned();
    let mut text = String::new();
    while !text.contains("grpcurl") {
        text += &lines.next_line().await.unwrap().unwrap();
        text.push('\n');
    }
    let listed = run(&["list", "--json"]).await;
    let tools = serde_json::from_str::<Vec<Value>>(stdout(&listed)).unwrap().len();
    let state = directory.path().join("state");
    for part in [
        format!("tools        {tools};"),
        "sources      embedded".to_owned(),
        format!("state        toolwire.db in {}", state.display()),
        "diagnostics  off; --diagnostics".to_owned(),
        format!("toolwire list --server http://{address}\n"),
        format!("grpcurl -plaintext {address} toolwire.v1.ToolService/ListTools\n"),
    ] {
        assert!(text.contains(&part), "{part} is missing in\n{text}");
    }
    assert!(state.join("toolwire.db").is_file());
    child.kill().await.unwrap();
}

/// A connection that the server has accepted, as its settings say.
async fn connect(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    stream.read_u8().await.unwrap();
    stream
}

async fn http_get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn limits_and_guidance_are_those_of_a_server_or_of_the_program_itself() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, address) = served(&directory, "0s").await;
    for more in [&[][..], &["--server", &address][..]] {
        let limits = run(&[&["limits"], more].concat()).await;
        assert_eq!(limits.status.code(), Some(0), "{limits:?}");
        let lines: Vec<_> = stdout(&limits).lines().collect();
        assert!(lines[0].starts_with("SOURCE "), "{lines:?}");
        let brokerage = lines.iter().find(|line| line.starts_with("brokerage")).unwrap();
        assert!(brokerage.contains("at once") && brokerage.ends_with("unlimited"), "{brokerage}");
        // Nothing of a portfolio is limited, and no manifest of it says how to use it.
        let guidance = run(&[&["guidance", "--tag", "portfolio"], more].concat()).await;
        assert_eq!((guidance.status.code(), stdout(&guidance)), (Some(0), ""), "{guidance:?}");
        assert!(stderr(&guidance).contains("no guidance"), "{guidance:?}");
        let whole = run(&[&["guidance", "--with-parameters"], more].concat()).await;
        let tool = stdout(&whole).lines().position(|line| line.starts_with("- get_performance: "));
        let parameters = tool.and_then(|at| stdout(&whole).lines().nth(at + 1)).unwrap_or_default();
        assert!(parameters.contains("timeframe"), "{whole:?}");
    }
    child.kill().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_exit_code_1_and_says_how_to_start_it() {
    let output = run(&["list", "--server", "127.0.0.1:1"]).await;
    assert_fails(&output, 1, &["cannot reach http://127.0.0.1:1", "`toolwire serve`"]);
}

#[tokio::test]
async fn tools_are_listed_and_described() {
    let (address, ..) = fake_server::start().await;
    let server = address.to_string();
    let listed = run(&["list", "--server", &server]).await;
    let first = stdout(&listed).lines().next().unwrap();
    assert_eq!(first, "fail   read   Title of fail");
    let listed = run(&["list", "--json", "--server", &server]).await;
    let tools: Value = serde_json::from_str(stdout(&listed)).unwrap();
    assert_eq!(tools[1]["name"], "read");
    assert_eq!(tools[1]["input_schema"]["properties"]["n"]["type"], "integer");
    let described = run(&["describe", "read", "--server", &server]).await;
    assert!(stdout(&described).contains("Parameters\n  n     integer  optional\n"), "{described:?}");
    let unknown = run(&["describe", "raed", "--server", &server]).await;
    assert_fails(&unknown, 1, &["NOT_FOUND: Unknown tool: raed. Did you mean read?", "`toolwire list`"]);
}

#[tokio::test]
async fn a_call_shows_its_events_beside_its_data() {
    let (address, seen, _) = fake_server::start().await;
    let directory = tempfile::tempdir().unwrap();
    let mut command = toolwire(&directory);
    command.env("TOOLWIRE_TOKEN", "t0ken").args(["call", "read", "n=9007199254740993", "text=1"]);
    command.args(["--deadline", "5s", "--user", "riley", "--server", &address.to_string()]);
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stdout(&output), "{\n  \"z\": 9007199254740993,\n  \"a\": \"b\"\n}\n");
    assert_eq!(stderr(&output), "accepted read, call call-1\nprogress 50% Halfway\n");
    let invocations = seen.invocations.lock().unwrap();
    let (metadata, request) = &invocations[0];
    assert_eq!(metadata.get("authorization").unwrap(), "Bearer t0ken");
    assert_eq!(metadata.get("x-toolwire-user").unwrap(), "riley");
    assert!(metadata.get("grpc-timeout").is_some());
    assert_eq!(request.input, Some(Input::ArgumentsJson(r#"{"n":9007199254740993,"text":"1"}"#.to_owned())));
    assert_eq!(request.request_id, "");
}

#[tokio::test]
async fn a_call_for_programs_prints_every_event_as_a_line() {
    let (address, ..) = fake_server::start().await;
    let output = run(&["call", "read", "--format", "json", "--server", &address.to_string()]).await;
    let events: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 3);
    assert_eq!(events[1]["progress"]["fraction"], 0.5);
    assert_eq!(events[2]["result"]["data"], json!({"z": 9_007_199_254_740_993_i64, "a": "b"}));
    assert_eq!(stderr(&output), "");
}

#[tokio::test]
async fn a_tools_error_is_exit_code_1_and_says_when_to_try_again() {
    let (address, ..) = fake_server::start().await;
    let output = run(&["call", "--intent", "fail_intent", "--server", &address.to_string()]).await;
    assert_fails(&output, 1, &["error: RATE_LIMITED: Too many requests", "Try again in 2 s"]);
}

#[tokio::test]
async fn a_write_gets_a_request_id_that_is_said() {
    let (address, seen, _) = fake_server::start().await;
    let server = address.to_string();
    let output = run(&["call", "write", "--server", &server]).await;
    let given = "0196f1c2-7a4b-7c3d-8e5f-0123456789ab";
    run(&["call", "write", "--request-id", given, "--server", &server]).await;
    let sent = |index: usize| seen.invocations.lock().unwrap()[index].1.request_id.clone();
    assert!(stderr(&output).contains(&format!("request_id {}\n", sent(0))), "{output:?}");
    assert!(!sent(0).is_empty());
    assert_eq!(sent(1), given);
}

#[tokio::test]
async fn interrupting_a_call_cancels_it() {
    let (address, _, mut dropped) = fake_server::start().await;
    let directory = tempfile::tempdir().unwrap();
    let mut command = toolwire(&directory);
    command.args(["call", "slow", "--server", &address.to_string()]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("accepted slow, call call-1"));
    send(&child, Signal::INT);
    assert_eq!(exit_code(child).await, Some(130));
    timeout(TIMEOUT, dropped.recv()).await.expect("the server hears of it");
}

#[tokio::test]
async fn without_a_server_the_same_pipeline_answers() {
    let output = run(&["call", "get_quotes", "symbol=AAPL"]).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let data: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(data["quotes"][0]["price"], 193.12);
    assert!(stderr(&output).starts_with("accepted get_quotes, call "), "{output:?}");
    assert!(stderr(&output).contains("from tool:quotes:v1, as of 2026-01-15"), "{output:?}");
    let listed = run(&["list", "--tag", "brokerage"]).await;
    assert!(stdout(&listed).contains("get_quotes                      read  Quotes\n"), "{listed:?}");
}

#[tokio::test]
async fn a_read_in_process_keeps_no_state_and_a_repeated_write_meets_its_outcome() {
    let directory = tempfile::tempdir().unwrap();
    let call = async |arguments: &[&str]| {
        let output = toolwire(&directory).arg("call").args(arguments).output().await.unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_str::<Value>(stdout(&output)).unwrap()
    };
    call(&["get_quotes", "symbol=AAPL"]).await;
    assert!(!directory.path().join("state").exists());
    let id = "0196f1c2-7a4b-7c3d-8e5f-0123456789ab";
    let write = &["debug_write", "value=x", "--diagnostics", "--request-id", id];
    let first = call(write).await;
    assert_eq!(call(write).await["written_at"], first["written_at"]);
}

#[tokio::test]
async fn a_state_that_cannot_be_kept_is_said_before_anything_is_done() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("state"), "a file").unwrap();
    let served = toolwire(&directory).args(["serve", "--listen", "127.0.0.1:0"]).output().await.unwrap();
    let words = ["the state in ", "state/toolwire.db", "--state DIR"];
    assert_fails(&served, 2, &words);
    let write = ["call", "debug_write", "value=x", "--diagnostics"];
    assert_fails(&toolwire(&directory).args(write).output().await.unwrap(), 2, &words);
    let read = toolwire(&directory).args(["call", "get_quotes", "symbol=AAPL"]).output().await.unwrap();
    assert_eq!(read.status.code(), Some(0), "{read:?}");
}

#[tokio::test]
async fn bad_arguments_are_met_with_every_violation() {
    let output = run(&["call", "get_quotes", "symbl=AAPL", "n=1"]).await;
    let words =
        ["INVALID_ARGUMENT", "/symbl  ", "Did you mean symbol?", "/n  ", "toolwire describe get_quotes"];
    assert_fails(&output, 1, &words);
    assert_fails(&run(&["call", "get_qoutes"]).await, 1, &["Did you mean get_quotes"]);
    assert_fails(&run(&["call", "--intent", "nope"]).await, 1, &["Unknown intent: nope"]);
}

#[tokio::test]
async fn the_deadline_ends_a_call_in_process_too() {
    let output = run(&["call", "debug_sleep", "duration=30s", "--diagnostics", "--deadline", "100ms"]).await;
    assert_fails(&output, 1, &["accepted debug_sleep", "error: TIMEOUT: ", "--deadline"]);
}

#[tokio::test]
async fn a_broken_manifest_is_exit_code_2_with_every_problem() {
    let directory = tempfile::tempdir().unwrap();
    let tools = directory.path().join("tools");
    fs::create_dir(&tools).unwrap();
    fs::write(tools.join("get_quotes.json"), r#"{"name": "get_quotes", "colour": 1}"#).unwrap();
    let data = directory.path().to_str().unwrap();
    let output = run(&["lint", "--data", data]).await;
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let row = ["tools/get_quotes.json:/colour", "unknown-key", "unknown", "key", "`colour`"];
    assert!(stdout(&output).lines().any(|line| line.split_whitespace().eq(row)), "{output:?}");
    assert!(stdout(&output).contains("Missing master data file: "), "{output:?}");
    assert!(stdout(&output).trim_end().ends_with(" problems"), "{output:?}");
    assert_fails(&run(&["serve", "--data", data]).await, 2, &["problems", "tools/get_quotes.json"]);
}

#[tokio::test]
async fn our_own_manifests_have_no_problems() {
    let output = run(&["lint", "--diagnostics"]).await;
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "0 problems\n"), "{output:?}");
}

#[tokio::test]
async fn docs_are_written_and_then_fresh() {
    let directory = tempfile::tempdir().unwrap();
    let docs = async |more: &[&str]| {
        toolwire(&directory).args(["docs", "--output", "T.md"]).args(more).output().await.unwrap()
    };
    assert_fails(&docs(&["--check"]).await, 1, &["T.md is stale", "`toolwire docs`"]);
    assert_eq!(docs(&[]).await.status.code(), Some(0));
    assert_eq!(docs(&["--check"]).await.status.code(), Some(0));
}

#[tokio::test]
async fn legacy_files_are_merged_and_nothing_is_overwritten_unasked() {
    let legacy = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/legacy");
    let directory = tempfile::tempdir().unwrap();
    let import = async |more: &[&str]| {
        toolwire(&directory).args(["import", legacy]).args(more).output().await.unwrap()
    };
    let printed = import(&[]).await;
    assert!(serde_json::from_str::<Value>(stdout(&printed)).unwrap()["quotes"].is_object(), "{printed:?}");
    assert_eq!(import(&["--output", "m.json"]).await.status.code(), Some(0));
    assert_fails(&import(&["--output", "m.json"]).await, 1, &["is there already", "--force"]);
    assert_eq!(import(&["--output", "m.json", "--force"]).await.status.code(), Some(0));
    assert_eq!(fs::read_to_string(directory.path().join("m.json")).unwrap(), stdout(&printed));
}

#[tokio::test]
async fn a_server_and_the_program_itself_give_the_same_answers() {
    let directory = tempfile::tempdir().unwrap();
    let (child, address) = served(&directory, "0s").await;
    for line in [
        &["list"][..],
        &["list", "--json", "--tag", "quotes"],
        &["describe", "get_performance"],
        &["call", "rank_portfolio"],
        &["call", "get_quotes", "symbl=AAPL"],
        &["call", "get_qoutes"],
        &["call", "--intent", "nope"],
    ] {
        let (here, there) = (run(line).await, run(&[line, &["--server", &address]].concat()).await);
        assert_eq!(here.status.code(), there.status.code(), "{line:?}: {there:?}");
        assert_eq!(stdout(&here), stdout(&there), "{line:?}");
        if here.status.code() == Some(1) {
            let without_advice =
                stderr(&here).replace("  No server was asked: --server or TOOLWIRE_SERVER names one.\n", "");
            assert_eq!(without_advice, stderr(&there), "{line:?}");
        }
    }
    send(&child, Signal::TERM);
    assert_eq!(exit_code(child).await, Some(0));
}

#[tokio::test]
async fn an_address_in_use_is_exit_code_1_and_says_what_to_do() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let output = run(&["serve", "--listen", &taken.local_addr().unwrap().to_string()]).await;
    assert_fails(&output, 1, &["cannot listen on 127.0.0.1:", "choose another port"]);
}
