//! The same load on a server of the Model Context Protocol: `tools/call` over HTTP/1.1, a connection for each request
//! that is under way.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::Mutex};

use crate::{
    Result,
    client::{Seen, work},
    rows::{Load, SYMBOLS},
};

/// The revision of the protocol without sessions.
const VERSION: &str = "2025-06-18";

/// A server, and the request that it is loaded with.
#[derive(Debug)]
pub struct Mcp {
    address: SocketAddr,
    request: Bytes,
}

type Sender = Arc<Mutex<SendRequest<Full<Bytes>>>>;

impl Mcp {
    /// Clients of the server at an address.
    pub fn new(address: SocketAddr) -> Self {
        let params = json!({"name": "get_quotes", "arguments": {"symbol": SYMBOLS}});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        Self { address, request: request.to_string().into() }
    }

    /// Makes one request and returns the text of its result.
    pub async fn answer(&self) -> Result<String> {
        let body = exchange(self.connect().await?, self.address, self.request.clone()).await?;
        let body: Value = serde_json::from_slice(&body)?;
        let text = body.pointer("/result/content/0/text").and_then(Value::as_str);
        Ok(text.ok_or_else(|| format!("no text: {body}"))?.to_owned())
    }

    /// Keeps a number of requests under way for some time.
    pub async fn load(&self, load: Load, time: Duration) -> Result<Seen> {
        let load = Load { connections: load.connections * load.streams, streams: 1 };
        let mut connections = Vec::new();
        for _ in 0..load.connections {
            connections.push(self.connect().await?);
        }
        let end = Instant::now() + time;
        work(
            load,
            move || Instant::now() >= end,
            |connection| {
                let (sender, address) = (Arc::clone(&connections[connection]), self.address);
                let request = self.request.clone();
                move || {
                    let exchange = exchange(Arc::clone(&sender), address, request.clone());
                    async { exchange.await.map(|_| ()) }
                }
            },
        )
        .await
    }

    async fn connect(&self) -> Result<Sender> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Arc::new(Mutex::new(sender)))
    }
}

/// One request and its whole answer; an error unless it ended well.
async fn exchange(sender: Sender, address: SocketAddr, request: Bytes) -> Result<Bytes> {
    let request = Request::post("/mcp")
        .header(header::HOST, address.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .body(Full::new(request))?;
    let mut sender = sender.lock().await;
    sender.ready().await?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    match status {
        StatusCode::OK => Ok(body),
        _ => Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into()),
    }
}
