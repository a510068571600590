//! A disk that was full for a while: nothing can be written, and then it can again, without a restart.

use std::net::SocketAddr;

use rustix::process::{Resource, Rlimit, prlimit};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::{Code, Streaming};
use tonic_health::pb::{
    HealthCheckRequest, HealthCheckResponse, health_check_response::ServingStatus,
    health_client::HealthClient,
};
use toolwire::{
    contract::proto::v1::{CallToolResponse, call_tool_response, tool_result},
    tool::context::RequestId,
};

use super::call;
use crate::support::program::Program;

/// How many bytes the files of the process may have; what it writes beyond that fails, as on a full disk.
fn limit_files(program: &Program, bytes: Option<u64>) {
    let limit = Rlimit { current: bytes, maximum: None };
    prlimit(Some(program.pid()), Resource::Fsize, limit).expect("its own process");
}

async fn is_serving(health: &mut Streaming<HealthCheckResponse>) -> bool {
    let told = health.message().await.expect("status OK").expect("no end");
    told.status() == ServingStatus::Serving
}

/// What `/readyz` answers.
async fn ready(admin: SocketAddr) -> String {
    let mut stream = TcpStream::connect(admin).await.expect("connects");
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("readable");
    answer
}

/// The data of a call that succeeded.
fn data(response: CallToolResponse) -> Option<tool_result::Outcome> {
    let Some(call_tool_response::Outcome::Result(result)) = response.outcome else {
        panic!("no result: {response:?}")
    };
    result.outcome
}

#[tokio::test]
async fn a_disk_that_was_full_for_a_while_is_told_and_written_again_as_soon_as_there_is_room() {
    let program = Program::with_limited_files(&["--admin", "127.0.0.1:0"]).await;
    let (channel, admin) = (program.channel().await, program.admin.expect("asked for"));
    let write = || call(&channel, "debug_write", json!({"value": "x"}), Some(RequestId::generate()));
    let mut health = HealthClient::new(channel.clone())
        .watch(HealthCheckRequest { service: String::new() })
        .await
        .expect("status OK")
        .into_inner();
    assert!(is_serving(&mut health).await);
    write().await.expect("there is room");
    let known = RequestId::generate();
    let repeated = || call(&channel, "debug_write", json!({"value": "x"}), Some(known));
    let told = data(repeated().await.expect("there is room"));

    limit_files(&program, Some(0));
    for _ in 0..3 {
        assert_eq!(write().await.expect_err("there is no room").code(), Code::Unavailable);
    }
    assert_eq!(data(repeated().await.expect("its record can be read")), told);
    assert!(!is_serving(&mut health).await);
    let answer = ready(admin).await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("state cannot be written"), "{answer}");
    call(&channel, "debug_sleep", json!({"duration": "0s"}), None).await.expect("needs no room");

    limit_files(&program, None);
    assert!(is_serving(&mut health).await, "it found out by itself");
    write().await.expect("there is room again");
    assert!(ready(admin).await.starts_with("HTTP/1.1 200 "));
}
