//! Models of providers, from a server that answers as theirs do: whole and streamed, with calls, cut, refused, too
//! late; keys that are fetched; and that no key is ever told.

mod log;
mod providers;
mod tokens;

use std::time::Duration;

use futures_util::StreamExt;
use secrecy::SecretString;
use serde_json::{Value, json};
use toolwire::{
    base::clock,
    config::{Credentials, Provider},
    outgoing::Egress,
    sources::models::{
        Message, Model, ModelError, Part, Request, Stop, ToolCall, ToolOutput, Usage, genai::Remote,
    },
    tool::context::{ToolContext, User},
};

use crate::support::stub::{self, Reply, Stub};

/// What must never be told.
const KEY: &str = "sk-planted-0123456789";

fn context() -> ToolContext {
    ToolContext::new(User::new("ada".parse().unwrap()), clock::now() + Duration::from_secs(20))
}

fn model(stub: &Stub, provider: Provider) -> Remote {
    of(stub, provider, Credentials::Key(SecretString::from(KEY)))
}

fn of(stub: &Stub, provider: Provider, credentials: Credentials) -> Remote {
    Remote::new(&stub.model(provider, credentials), &Egress::default()).unwrap()
}

fn question() -> Request {
    Request {
        system: "Be brief.".to_owned(),
        messages: vec![Message::User("What is AAPL?".to_owned())],
        ..Request::default()
    }
}

/// A question with a tool, declared as most servers take it.
fn with_tools() -> Request {
    let schema =
        json!({"type": "object", "properties": {"symbol": {"type": "string"}}, "required": ["symbol"]});
    let function = json!({"name": "get_quotes", "description": "Returns quotes.", "parameters": schema});
    Request { tools: Some(json!([{"type": "function", "function": function}]).into()), ..question() }
}

async fn parts(model: &Remote, request: Request) -> Vec<Result<Part, ModelError>> {
    model.chat(request, &context()).collect().await
}

/// All text, all calls and the end.
async fn answer(
    model: &Remote,
    request: Request,
) -> Result<(String, Vec<ToolCall>, Stop, Usage), ModelError> {
    let (mut text, mut calls, mut end) = (String::new(), Vec::new(), None);
    for part in parts(model, request).await {
        assert!(end.is_none(), "something follows the end");
        match part? {
            Part::Text(more) => text.push_str(&more),
            Part::Calls(all) => calls.extend(all),
            Part::End { stop, usage } => end = Some((stop, usage)),
        }
    }
    let (stop, usage) = end.expect("an end");
    Ok((text, calls, stop, usage))
}
