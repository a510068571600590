//! An MCP server over HTTP in this process, of the revision before the newest: it answers as a test says, and otherwise
//! as it should.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::any};

use crate::upstream::{
    Target,
    testing::{Notes, Upstream},
};

/// A message that it was sent.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) id: Value,
    pub(super) params: Value,
    pub(super) session: Option<String>,
}

pub(super) struct Fake {
    server: MockServer,
    seen: Arc<Mutex<Vec<Asked>>>,
}

struct Answers<F> {
    answer: F,
    seen: Arc<Mutex<Vec<Asked>>>,
}

impl Asked {
    pub(super) fn is(&self, method: &str) -> bool {
        self.method == method
    }

    /// The result as its answer.
    pub(super) fn result(&self, result: &Value) -> ResponseTemplate {
        ResponseTemplate::new(200).set_body_json(json!({"jsonrpc": "2.0", "id": self.id, "result": result}))
    }
}

impl<F: Fn(&Asked) -> Option<ResponseTemplate> + Send + Sync> Respond for Answers<F> {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        if request.method.as_str() != "POST" {
            return ResponseTemplate::new(405);
        }
        let mut message: Value = request.body_json().expect("a message");
        let session = request.headers.get("mcp-session-id").and_then(|it| it.to_str().ok());
        let asked = Asked {
            method: message["method"].as_str().unwrap_or_default().to_owned(),
            id: message["id"].take(),
            params: message["params"].take(),
            session: session.map(str::to_owned),
        };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
        (self.answer)(&asked).unwrap_or_else(|| usual(&asked))
    }
}

fn usual(asked: &Asked) -> ResponseTemplate {
    match asked.method.as_str() {
        "initialize" => asked.result(&json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"}
        })),
        "tools/list" => asked.result(&json!({"tools": [tool("t")]})),
        "tools/call" => asked.result(&text("ok")),
        _ if asked.id.is_null() => ResponseTemplate::new(202),
        _ => ResponseTemplate::new(200).set_body_json(json!({
            "jsonrpc": "2.0", "id": asked.id, "error": {"code": -32601, "message": "Method not found"}
        })),
    }
}

pub(super) fn tool(name: &str) -> Value {
    json!({"name": name, "description": "A tool.", "inputSchema": {"type": "object"}})
}

pub(super) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub(super) fn raw(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> ResponseTemplate {
    let body: Vec<u8> = body.into();
    ResponseTemplate::new(status).set_body_raw(body, kind)
}

impl Fake {
    pub(super) async fn start(
        answer: impl Fn(&Asked) -> Option<ResponseTemplate> + Send + Sync + 'static,
    ) -> Self {
        let (server, seen) = (MockServer::start().await, Arc::default());
        let answers = Answers { answer, seen: Arc::clone(&seen) };
        Mock::given(any()).respond_with(answers).mount(&server).await;
        Self { server, seen }
    }

    pub(super) fn target(&self) -> Target {
        // A provider may be installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().tls_certs_only([]).no_proxy().build().expect("a client");
        Target::Http { client, url: format!("{}/mcp", self.server.uri()), token: None }
    }

    /// The server as a provider, connected and listed.
    pub(super) async fn upstream(&self) -> Upstream {
        Upstream::of(self.target(), Notes::new()).await
    }

    pub(super) fn count(&self, method: &str) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|it| it.is(method)).count()
    }
}
