//! The same load on a server of the Model Context Protocol: `tools/call` over HTTP/1.1.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};

use crate::{
    Result,
    client::Seen,
    http1::Http1,
    rows::{Load, SYMBOLS},
};

/// The revision of the protocol without sessions.
const VERSION: &str = "2025-06-18";

/// A server, and the request that it is loaded with.
#[derive(Debug)]
pub struct Mcp(Http1);

impl Mcp {
    /// Clients of the server at an address.
    pub fn new(address: SocketAddr) -> Self {
        let params = json!({"name": "get_quotes", "arguments": {"symbol": SYMBOLS}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let http1 = Http1::new(address, "/mcp", request.to_string())
            .with("accept", "application/json, text/event-stream")
            .with("mcp-protocol-version", VERSION);
        Self(http1)
    }

    /// Makes one request and returns the text of its result.
    pub async fn answer(&self) -> Result<String> {
        let body: Value = serde_json::from_slice(&self.0.answer().await?)?;
        let text = body.pointer("/result/content/0/text").and_then(Value::as_str);
        Ok(text.ok_or_else(|| format!("no text: {body}"))?.to_owned())
    }

    /// Keeps a number of requests under way for some time.
    pub async fn load(&self, load: Load, time: Duration) -> Result<Seen> {
        self.0.load(load, time).await
    }
}
