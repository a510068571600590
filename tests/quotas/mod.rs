//! Quotas: how much a user may call, on every face and over all processes of a state.

mod exemptions;
mod explained;
mod faces;
mod floods;
mod listed;
mod permits;
mod replacement;

use serde_json::{Value, json};
use toolwire::config::{Config, Flags, Quota, testing};

use crate::http::{
    house::House,
    talk::{Answer, Talk},
};

/// Reads the quotas of a file.
fn quotas(file: &str) -> Vec<Quota> {
    testing::load_text(file, &[], Flags::default(), &[]).unwrap().config.quotas
}

/// A server with the diagnostics tools and these quotas.
fn house(file: &'static str) -> House {
    House::with(|config| configure(config, file))
}

fn configure(config: &mut Config, file: &str) {
    config.server.diagnostics = true;
    config.quotas = quotas(file);
}

/// Calls over REST.
async fn call(talk: &Talk, tool: &str, arguments: &Value) -> Answer {
    talk.post(&format!("/v1/tools/{tool}:call"), arguments).await
}

/// The same with a `request_id`.
async fn call_as(talk: &Talk, tool: &str, arguments: &Value, key: &str) -> Answer {
    let path = format!("/v1/tools/{tool}:call");
    talk.send("POST", &path, &[("idempotency-key", key)], &arguments.to_string()).await
}

fn quote() -> Value {
    json!({"symbol": "AMD"})
}
