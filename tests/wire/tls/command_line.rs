//! The command line against servers with and without TLS: what it says in plain words.

use std::{path::Path, process::Output};

use tokio::process::Command;

use crate::support::{
    authority::Authority,
    server::{Server, config},
};

/// `toolwire limits --server URL`, which trusts the authorities of `ca`.
async fn limits(url: &str, ca: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    command.args(["limits", "--server", url]).env_remove("TOOLWIRE_CA");
    if let Some(file) = ca {
        command.arg("--ca").arg(file);
    }
    command.kill_on_drop(true).output().await.unwrap()
}

#[track_caller]
fn assert_says(output: &Output, words: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(words), "{text}");
    assert_eq!(output.status.code(), Some(1), "{text}");
}

#[tokio::test]
async fn a_server_is_asked_over_tls() {
    let authority = Authority::new();
    authority.sign("localhost");
    let server = Server::with(authority.config());
    let url = format!("https://localhost:{}", server.address.port());
    let output = limits(&url, Some(&authority.file("ca.pem"))).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let of_environment = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["limits", "--server", &url])
        .env("TOOLWIRE_CA", authority.file("ca.pem"))
        .output();
    assert!(of_environment.await.unwrap().status.success());
}

#[tokio::test]
async fn a_certificate_that_is_not_accepted_is_explained() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    authority.sign("localhost");
    let server = Server::with(authority.config());
    let url = format!("https://localhost:{}", server.address.port());
    assert_says(&limits(&url, Some(&stranger.file("ca.pem"))).await, "not trusted here");

    authority.sign("tools.example");
    let server = Server::with(authority.config());
    let url = format!("https://localhost:{}", server.address.port());
    assert_says(&limits(&url, Some(&authority.file("ca.pem"))).await, "another name. Use one that it has: ");

    authority.sign_until("localhost", 2020);
    let server = Server::with(authority.config());
    let url = format!("https://localhost:{}", server.address.port());
    assert_says(&limits(&url, Some(&authority.file("ca.pem"))).await, "has expired");
}

#[tokio::test]
async fn the_wrong_scheme_is_named() {
    let authority = Authority::new();
    authority.sign("localhost");
    let plain = Server::with(config());
    let url = format!("https://localhost:{}", plain.address.port());
    let output = limits(&url, Some(&authority.file("ca.pem"))).await;
    assert_says(
        &output,
        &format!("the server does not speak TLS: use http://localhost:{}", plain.address.port()),
    );

    let encrypted = Server::with(authority.config());
    let url = format!("http://localhost:{}", encrypted.address.port());
    assert_says(
        &limits(&url, None).await,
        &format!("the server speaks TLS: use https://localhost:{}", encrypted.address.port()),
    );
}

#[tokio::test]
async fn a_file_that_holds_no_authority_is_refused_before_anything_is_asked() {
    let output = limits("https://localhost:1", Some(Path::new("Cargo.toml"))).await;
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--ca Cargo.toml: holds no certificate"), "{text}");
    assert_eq!(output.status.code(), Some(2), "{text}");
    let output = limits("http://localhost:1", Some(Path::new("Cargo.toml"))).await;
    assert_eq!(output.status.code(), Some(2));
}
