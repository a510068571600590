//! Out of a company's network: every client goes by the proxy, and its credentials are told to nobody.

use std::{collections::BTreeSet, fs, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    process::Command,
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::timeout,
};
use tonic::Request;
use toolwire::contract::{
    json::to_struct,
    proto::v1::{CallToolRequest, call_tool_request, tool_service_client::ToolServiceClient},
};

use crate::support::{arguments, program::Program};

const TOKEN: &str = "planted-token-of-demo";
const SECRET: &str = "whsec_b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQtb2xk";
/// `riley:s3cret-pass`.
const CREDENTIALS: &str = "cmlsZXk6czNjcmV0LXBhc3M=";

/// A proxy that opens no tunnel and tells what it was asked for, with the credentials.
async fn proxy() -> (SocketAddr, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("bound");
    let (tell, asked) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let tell = tell.clone();
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = socket.read_u8().await else { return };
                    head.push(byte);
                }
                let _ = tell.send(String::from_utf8(head).expect("text"));
                let _ = socket.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
            });
        }
    });
    (address, asked)
}

fn settings(proxy: SocketAddr) -> String {
    format!(
        "[network]\nproxy = 'http://riley:s3cret-pass@{proxy}'\n\
         [[auth.users]]\nuser_id = 'demo'\ntoken = '{TOKEN}'\n\
         [[auth.issuers]]\nname = 'corp'\nissuer = 'https://issuer.test'\naudience = ['toolwire']\n\
         [providers.shop]\nkind = 'mcp'\nurl = 'https://mcp.test/mcp'\n\
         [models.claude]\nprovider = 'compatible'\nmodel = 'm'\nendpoint = 'https://model.test/v1'\n\
         [sources]\nmode = 'embedded,search=live'\n[sources.search]\nendpoint = 'https://search.test/'\n\
         [[confirmations.webhooks]]\nurl = 'https://webhook.test/'\nsecrets_env = ['HOOK']\n"
    )
}

async fn call(client: &mut ToolServiceClient<tonic::transport::Channel>, tool: &str, input: Value) {
    let mut request = Request::new(CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        request_id: uuid::Uuid::now_v7().to_string(),
        ..CallToolRequest::default()
    });
    request.metadata_mut().insert("authorization", format!("Bearer {TOKEN}").parse().expect("a value"));
    client.call_tool(request).await.expect("status OK");
}

#[tokio::test]
async fn sources_models_mcp_servers_webhooks_issuers_and_collectors_are_asked_by_the_proxy() {
    let (address, mut asked) = proxy().await;
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("toolwire.toml"), settings(address)).expect("written");
    let variables = [
        ("HOOK", SECRET),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://spans.test:4317"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://metrics.test:4318/v1/metrics"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "100"),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ];
    let program = Program::start(directory.path(), &[], &variables).await;
    let mut client = ToolServiceClient::new(program.channel().await);
    let mut missing: BTreeSet<_> = [
        "issuer.test:443",
        "mcp.test:443",
        "model.test:443",
        "search.test:443",
        "webhook.test:443",
        "spans.test:4317",
        "metrics.test:4318",
    ]
    .map(|target| format!("CONNECT {target} HTTP/1.1"))
    .into();
    let all = async {
        while !missing.is_empty() {
            // Again while one is missing: before the webhook has subscribed, nobody tells it.
            call(&mut client, "ask_claude", json!({"prompt": "Why?"})).await;
            call(&mut client, "search_web", json!({"query": "retail sales"})).await;
            call(&mut client, "debug_confirm", json!({"value": "a"})).await;
            while let Ok(Some(head)) = timeout(Duration::from_secs(1), asked.recv()).await {
                assert!(head.contains(CREDENTIALS), "{head}");
                missing.remove(head.lines().next().expect("a line"));
                if missing.is_empty() {
                    break;
                }
            }
        }
    };
    let in_time = timeout(Duration::from_mins(1), all).await;
    assert!(in_time.is_ok(), "not asked for: {missing:?}");
    let log = program.stop().await;
    assert!(!log.contains("s3cret") && !log.contains(CREDENTIALS), "{log}");
    assert!(log.contains("does not let connections through"), "an operator is told: {log}");
}

#[tokio::test]
async fn a_printed_configuration_hides_the_credentials_of_the_proxy() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = settings(([127, 0, 0, 1], 9).into());
    fs::write(directory.path().join("toolwire.toml"), settings).expect("written");
    let printed = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["serve", "--print-config"])
        .env("HOOK", SECRET)
        .current_dir(directory.path())
        .output()
        .await
        .expect("runs");
    let text = String::from_utf8(printed.stdout).expect("text");
    assert!(printed.status.success() && text.contains("http://[hidden]@127.0.0.1:9"), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
}
