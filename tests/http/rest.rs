//! The REST face over real sockets.

mod bad_input;
mod broken_off;
mod calls;
mod conditional;
mod confirming;
mod counted;
mod described;
mod explained;
mod listed;
mod names;
mod page_events;
mod recordings;
mod refusals;
mod streamed;
mod understood;
mod watched_calls;

use serde_json::Value;

use crate::{
    http::raw::{Answer, ask},
    support::server::{Server, config_with_http},
};

const JSON: &str = "content-type: application/json";
const KEY: &str = "idempotency-key: 6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a11";

fn server() -> Server {
    Server::with(config_with_http())
}

async fn get(server: &Server, path: &str, headers: &[&str]) -> Answer {
    ask(server.http.unwrap(), "GET", path, headers, "").await
}

async fn post(server: &Server, path: &str, headers: &[&str], body: &str) -> Answer {
    let headers: Vec<_> = [JSON].into_iter().chain(headers.iter().copied()).collect();
    ask(server.http.unwrap(), "POST", path, &headers, body).await
}

#[track_caller]
fn value(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}
