//! Credentials for Screener.in over gRPC: per user and session, validated, forgotten; and the command that gives them.

use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tonic::{Code, Request, transport::Channel};
use tonic_types::StatusExt;
use toolwire::domains::research::proto::v1::{
    ForgetScreenerCredentialsRequest, SetScreenerCredentialsRequest,
    research_service_client::ResearchServiceClient,
};

use crate::support::server::Server;

type Client = ResearchServiceClient<Channel>;

fn of<T>(message: T, user: &'static str, session: &'static str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-toolwire-user", user.parse().expect("ASCII"));
    if !session.is_empty() {
        request.metadata_mut().insert("x-toolwire-session-id", session.parse().expect("ASCII"));
    }
    request
}

fn login() -> SetScreenerCredentialsRequest {
    SetScreenerCredentialsRequest {
        username: "riley@example.com".to_owned(),
        password: "s3cret-word".to_owned(),
    }
}

async fn forget(client: &mut Client, user: &'static str, session: &'static str) -> Code {
    let forgotten =
        client.forget_screener_credentials(of(ForgetScreenerCredentialsRequest {}, user, session));
    forgotten.await.map_or_else(|status| status.code(), |_| Code::Ok)
}

#[tokio::test]
async fn credentials_are_of_one_user_and_one_session_and_can_be_forgotten_once() {
    let server = Server::start();
    let mut client = Client::new(server.channel().await);
    client.set_screener_credentials(of(login(), "riley", "s1")).await.unwrap();
    assert_eq!(forget(&mut client, "riley", "").await, Code::NotFound);
    assert_eq!(forget(&mut client, "riley", "s2").await, Code::NotFound);
    assert_eq!(forget(&mut client, "demo", "s1").await, Code::NotFound);
    assert_eq!(forget(&mut client, "riley", "s1").await, Code::Ok);
    assert_eq!(forget(&mut client, "riley", "s1").await, Code::NotFound);
}

#[tokio::test]
async fn bad_credentials_are_refused_without_being_repeated() {
    let server = Server::start();
    let mut client = Client::new(server.channel().await);
    let bad = SetScreenerCredentialsRequest { username: String::new(), password: "s3cret".repeat(200) };
    let status = client.set_screener_credentials(of(bad, "riley", "")).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let violations = status.get_details_bad_request().unwrap().field_violations;
    let fields: Vec<_> = violations.iter().map(|it| it.field.as_str()).collect();
    assert_eq!(fields, ["username", "password"]);
    assert!(!format!("{status:?}").contains("s3cret"), "{status:?}");
    assert_eq!(forget(&mut client, "riley", "").await, Code::NotFound);
}

#[tokio::test]
async fn the_command_reads_them_from_standard_input_and_never_shows_them() {
    let server = Server::start();
    let url = format!("http://{}", server.address);
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(["screener-login", "--server", &url, "--user", "riley", "--session", "s1"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"riley@example.com\ns3cret-word\n").await.unwrap();
    drop(input);
    let output = child.wait_with_output().await.unwrap();
    let shown = format!("{output:?}");
    assert!(output.status.success(), "{shown}");
    assert!(!shown.contains("s3cret") && !shown.contains("example.com"), "{shown}");
    let mut client = Client::new(server.channel().await);
    assert_eq!(forget(&mut client, "riley", "s1").await, Code::Ok);
}
