//! What the real program counts, as its admin endpoint tells it, and what it tells nobody.

use std::{collections::BTreeSet, fs, net::SocketAddr, path::Path};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tonic::{Code, Request, Status};
use toolwire::{
    contract::{
        json::to_struct,
        proto::v1::{CallToolRequest, call_tool_request, tool_service_client::ToolServiceClient},
    },
    telemetry::metric::name::{self, IN_PROMETHEUS, PROCESS_IN_PROMETHEUS},
};

use crate::support::{arguments, collector::Collector, program::Program, raw::Raw};

const ADMIN: [&str; 2] = ["--admin", "127.0.0.1:0"];

/// The head and the body of an answer of the admin endpoint.
async fn get(address: SocketAddr, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.expect("connects");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("readable");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

pub(super) async fn scrape(program: &Program) -> String {
    let (head, body) = get(program.admin.expect("asked for"), "/metrics").await;
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/plain; version=0.0.4"), "{head}");
    body
}

/// The series of the scrape: the name with its labels, and the value.
fn series(scrape: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = scrape.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').expect("a value"))
}

/// The sum of the series of a name, which counts, that have all the given labels.
fn sum(scrape: &str, name: &str, labels: &[&str]) -> i64 {
    let of_name = |series: &str| series.split('{').next() == Some(name);
    let meant =
        series(scrape).filter(|(series, _)| of_name(series) && labels.iter().all(|it| series.contains(it)));
    meant.map(|(_, value)| value.parse::<i64>().expect("a count")).sum()
}

fn request(tool: &str, input: Value) -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        ..CallToolRequest::default()
    }
}

/// A call by the bearer of a token, if the server wants one.
async fn call(program: &Program, token: Option<&str>, tool: &str, input: Value) -> Result<(), Status> {
    let mut request = Request::new(request(tool, input));
    if let Some(token) = token {
        let value = format!("Bearer {token}").parse().expect("a value");
        request.metadata_mut().insert("authorization", value);
    }
    ToolServiceClient::new(program.channel().await).call_tool(request).await.map(|_| ())
}

#[tokio::test]
async fn numbers_move_with_calls_by_tool_and_code() {
    let program = Program::start(Path::new("."), &ADMIN, &[]).await;
    for _ in 0..3 {
        call(&program, None, "get_quotes", json!({"symbol": "AAPL"})).await.expect("status OK");
    }
    call(&program, None, "get_symbol_performance", json!({"symbol": "AAPL"})).await.expect("status OK");
    call(&program, None, "debug_fail", json!({"code": "BLOCKED"})).await.expect("status OK");
    call(&program, None, "get_quotes", json!({})).await.expect("status OK");
    let status = call(&program, None, "made_up_by_the_caller", json!({})).await.expect_err("refused");
    assert_eq!(status.code(), Code::NotFound);

    let scrape = scrape(&program).await;
    let calls = |labels: &[&str]| sum(&scrape, "toolwire_call_duration_seconds_count", labels);
    // Three, and one that the composite made.
    assert_eq!(calls(&["tool=\"get_quotes\"", "code=\"OK\""]), 4, "{scrape}");
    assert_eq!(calls(&["tool=\"get_quotes\"", "code=\"INVALID_ARGUMENT\""]), 1);
    assert_eq!(calls(&["tool=\"debug_fail\"", "code=\"BLOCKED\""]), 1);
    assert_eq!(calls(&["tool=\"_OTHER\"", "code=\"UNKNOWN_TOOL\""]), 1);
    assert!(!scrape.contains("made_up_by_the_caller"), "a caller made a label: {scrape}");
    let executed = |labels: &[&str]| sum(&scrape, "gen_ai_execute_tool_duration_seconds_count", labels);
    assert_eq!(executed(&["gen_ai_tool_name=\"get_quotes\""]), 4, "what is refused is not executed");
    assert_eq!(executed(&["gen_ai_tool_name=\"debug_fail\"", "error_type=\"BLOCKED\""]), 1);
    let rpcs = |status: &str| {
        let labels = ["rpc_method=\"toolwire.v1.ToolService/CallTool\"", status];
        sum(&scrape, "rpc_server_call_duration_seconds_count", &labels)
    };
    assert_eq!(rpcs("rpc_response_status_code=\"OK\""), 6);
    assert_eq!(rpcs("rpc_response_status_code=\"NOT_FOUND\""), 1);
    assert_eq!(sum(&scrape, "toolwire_calls_in_flight", &[]), 0);
    assert!(scrape.contains("\ntoolwire_calls_in_flight 0"), "it is there, at zero: {scrape}");
}

#[tokio::test]
async fn what_callers_did_wrong_is_counted_as_no_fault_of_the_servers() {
    let program = Program::start(Path::new("."), &ADMIN, &[]).await;
    let raw = Raw::connect(program.address).await;
    let paths = ["/toolwire.v1.ToolService/CallTool", "/grpc.health.v1.Health/Check"];
    for path in paths {
        for (encoding, body) in [
            ("identity", &[0, 0, 0, 0, 1, 0xff][..]),
            ("identity", &[1, 0, 0, 0, 0]),
            ("identity", &[9, 0, 0, 0, 0]),
            ("identity", &[0, 0]),
            ("gzip", &[1, 0, 0, 0, 1, 0]),
            ("zstd", &[1, 0, 0, 0, 1, 0]),
        ] {
            let headers = [("grpc-encoding", encoding)];
            raw.start_bytes(path, &headers, Bytes::copy_from_slice(body)).await.end().await;
        }
    }
    let scrape = scrape(&program).await;
    for path in paths {
        let rpcs = |status: &str| {
            let labels = [&*format!("rpc_method=\"{}\"", &path[1..]), status];
            sum(&scrape, "rpc_server_call_duration_seconds_count", &labels)
        };
        assert_eq!(rpcs("rpc_response_status_code=\"INTERNAL\""), 0, "{scrape}");
        assert_eq!(rpcs("rpc_response_status_code=\"INVALID_ARGUMENT\""), 5);
        assert_eq!(rpcs("rpc_response_status_code=\"UNIMPLEMENTED\""), 1);
    }
}

/// The names of metrics in the dashboard's expressions.
fn names_on_the_dashboard() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/deploy/grafana/toolwire.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels").iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut names = BTreeSet::new();
    for target in targets {
        let expression = target["expr"].as_str().expect("an expression");
        // Every selector has labels, so a name is what stands before a brace.
        for before in expression.split('{').rev().skip(1) {
            let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
            names.insert(before[start..].to_owned());
        }
    }
    names
}

#[tokio::test]
async fn the_dashboard_shows_only_what_is_counted_and_all_that_is() {
    let names = names_on_the_dashboard();
    let family = |name: &str| {
        let suffix = ["_bucket", "_sum", "_count"].into_iter().find_map(|it| name.strip_suffix(it));
        suffix.unwrap_or(name).to_owned()
    };
    let shown: BTreeSet<_> = names.iter().map(|name| family(name)).collect();
    let counted: BTreeSet<_> = IN_PROMETHEUS.iter().map(ToString::to_string).collect();
    assert_eq!(shown, counted);

    // What a server without upstream traffic counts has the very names of the series.
    let program = Program::start(Path::new("."), &ADMIN, &[]).await;
    call(&program, None, "get_quotes", json!({"symbol": "AAPL"})).await.expect("status OK");
    let scrape = scrape(&program).await;
    let scraped: BTreeSet<_> =
        series(&scrape).map(|(series, _)| series.split('{').next().expect("a name")).collect();
    let of_calls = names.iter().filter(|name| name.contains("call") || name.contains("execute"));
    for name in of_calls {
        assert!(scraped.contains(name.as_str()), "{name} is not scraped");
    }
}

#[tokio::test]
async fn the_process_tells_what_it_takes() {
    let program = Program::start(Path::new("."), &ADMIN, &[]).await;
    let scrape = scrape(&program).await;
    for name in PROCESS_IN_PROMETHEUS {
        let found = series(&scrape).find(|(series, _)| series.split('{').next() == Some(name));
        let (_, value) = found.unwrap_or_else(|| panic!("{name} is not scraped"));
        assert!(value.parse::<f64>().expect("a number") >= 0.0, "{name} {value}");
    }
    assert!(scrape.contains("service_version=") && scrape.contains("service_instance_id="), "{scrape}");
}

#[tokio::test]
async fn nothing_that_a_caller_or_an_operator_keeps_secret_is_told() {
    const PLANTED: &str = "pl4nted-s3cret";
    let (token, argument) = (format!("{PLANTED}-token"), format!("{PLANTED}-argument"));
    let directory = tempfile::tempdir().expect("a directory");
    let users =
        "[[auth.users]]\nuser_id = 'quiet-user'\nemail = 'quiet@example.com'\ntoken_env = 'TOOLWIRE_QUIET'";
    fs::write(directory.path().join("toolwire.toml"), users).expect("written");
    let variables = [("TOOLWIRE_QUIET", token.as_str()), ("TOOLWIRE_LOG_FILTER", "toolwire=trace,info")];
    let program = Program::start(directory.path(), &ADMIN, &variables).await;

    let as_user = Some(token.as_str());
    // Accepted, answered with data, refused by the schema, failed in the tool, panicked, unknown, unauthenticated.
    call(&program, as_user, "get_facts", json!({"topic": argument})).await.expect("status OK");
    call(&program, as_user, "get_quotes", json!({"symbol": argument})).await.expect("status OK");
    call(&program, as_user, "get_performance", json!({"timeframe": argument})).await.expect("status OK");
    call(&program, as_user, "debug_fail", json!({"code": "AUTH_FAILED"})).await.expect("status OK");
    call(&program, as_user, "debug_panic", json!({})).await.expect("status OK");
    call(&program, as_user, "get_quote", json!({"symbol": argument})).await.expect_err("refused");
    let wrong = format!("{PLANTED}-wrong");
    call(&program, Some(&wrong), "get_quotes", json!({"symbol": argument})).await.expect_err("refused");

    let scrape = scrape(&program).await;
    for secret in [PLANTED, "quiet-user", "quiet@example.com"] {
        assert!(!scrape.contains(secret), "{secret:?} in {scrape}");
    }
    assert!(
        sum(&scrape, "toolwire_call_duration_seconds_count", &[]) >= 6,
        "the calls were counted: {scrape}"
    );
    let log = program.stop().await;
    assert!(
        log.lines().filter(|line| line.contains("toolwire::call")).count() >= 6,
        "they were logged: {log}"
    );
    // The log names users; it is for operators.
    assert!(log.contains("quiet-user") && !log.contains(PLANTED), "{log}");
}

#[tokio::test]
async fn metrics_go_out_over_otlp_without_an_admin_endpoint() {
    let (collector, address) = Collector::start().await;
    let endpoint = format!("http://{address}");
    let variables =
        [("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", endpoint.as_str()), ("OTEL_METRIC_EXPORT_INTERVAL", "50")];
    let program = Program::start(Path::new("."), &[], &variables).await;
    call(&program, None, "get_quotes", json!({"symbol": "AAPL"})).await.expect("status OK");
    collector.metric(name::CALL_DURATION).await;
}

#[tokio::test]
async fn a_collector_that_never_answers_costs_calls_nothing() {
    // The kernel accepts for it; nobody reads.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let endpoint = format!("http://{}", silent.local_addr().expect("bound"));
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_METRIC_EXPORT_INTERVAL", "10"),
        ("OTEL_BSP_SCHEDULE_DELAY", "10"),
        // Nobody reads its log either, and that one is not bounded.
        ("TOOLWIRE_LOG_FILTER", "off"),
    ];
    let program = Program::start(Path::new("."), &ADMIN, &variables).await;
    // More than the queue of spans holds.
    let mut client = ToolServiceClient::new(program.channel().await);
    for _ in 0..2_100 {
        client.call_tool(request("get_quotes", json!({"symbol": "AAPL"}))).await.expect("status OK");
    }
    let scrape = scrape(&program).await;
    assert_eq!(sum(&scrape, "toolwire_call_duration_seconds_count", &["tool=\"get_quotes\""]), 2_100);
}

#[tokio::test]
async fn an_admin_address_in_use_is_an_error_at_start_that_says_so() {
    let taken = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = taken.local_addr().expect("bound").to_string();
    let state = tempfile::tempdir().expect("a directory");
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["serve", "--listen", "127.0.0.1:0", "--admin", &address, "--state"])
        .arg(state.path())
        .output()
        .await
        .expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(output.stdout.is_empty() && said.contains(&address) && said.contains("--admin"), "{said}");
}
