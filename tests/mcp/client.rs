//! Clients that send messages of JSON-RPC as those of both eras do.

use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::http::{
    house::House,
    talk::{Answer, Talk},
};

pub(crate) const OLD: &str = "2025-11-25";
pub(crate) const NEW: &str = "2026-07-28";
/// What would hang fails after so long.
pub(crate) const SOON: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// With `initialize`, and a revision that a header names alone.
    Old,
    /// Without a handshake: each message says all there is to know.
    New,
}

pub(crate) const ERAS: [Era; 2] = [Era::Old, Era::New];

/// A message, and the headers that go with it over HTTP.
pub(crate) struct Message {
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

impl Message {
    pub(crate) fn new(era: Era, method: &str, params: Value) -> Self {
        Self::with_capabilities(era, method, params, &json!({}))
    }

    pub(crate) fn with_capabilities(era: Era, method: &str, mut params: Value, capabilities: &Value) -> Self {
        let mut headers = vec![("accept", "application/json, text/event-stream".to_owned())];
        match era {
            Era::Old => headers.push(("mcp-protocol-version", OLD.to_owned())),
            Era::New => {
                headers.push(("mcp-protocol-version", NEW.to_owned()));
                headers.push(("mcp-method", method.to_owned()));
                if let Some(name) = params["name"].as_str().or_else(|| params["taskId"].as_str()) {
                    headers.push(("mcp-name", name.to_owned()));
                }
                params["_meta"]["io.modelcontextprotocol/protocolVersion"] = NEW.into();
                params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                    json!({"name": "test", "version": "1"});
                params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
            }
        }
        Self { headers, body: json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}) }
    }

    /// The call of a tool, with metadata.
    pub(crate) fn call(era: Era, tool: &str, arguments: &Value, meta: &Value) -> Self {
        Self::new(era, "tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}))
    }

    pub(crate) async fn send(&self, talk: &Talk, path: &str) -> Answer {
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        talk.send("POST", path, &headers, &self.body.to_string()).await
    }
}

/// A server that has the diagnostics tools.
pub(crate) fn house() -> House {
    House::with(|config| config.server.diagnostics = true)
}

/// Every message of an answer, in their order; the last one answers the request.
#[track_caller]
pub(crate) fn messages(answer: &Answer) -> Vec<Value> {
    if answer.headers["content-type"] == "application/json" {
        return vec![answer.json()];
    }
    let data = answer.text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
}

/// The answer to a request over HTTP.
pub(crate) async fn ask(talk: &Talk, era: Era, method: &str, params: Value) -> Value {
    let answer = Message::new(era, method, params).send(talk, "/mcp").await;
    messages(&answer).pop().unwrap_or_else(|| panic!("{answer:?}"))
}

/// The result of a call over HTTP.
pub(crate) async fn call(talk: &Talk, era: Era, tool: &str, arguments: Value, meta: Value) -> Value {
    let answer = Message::call(era, tool, &arguments, &meta).send(talk, "/mcp").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let mut answer = messages(&answer).pop().unwrap_or_else(|| panic!("{answer:?}"));
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].take()
}

/// The text of a block of a result.
#[track_caller]
pub(crate) fn text(result: &Value, block: usize) -> &str {
    result["content"][block]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

/// `toolwire mcp`, and its two streams.
pub(crate) struct Stdio {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: Lines<BufReader<ChildStdout>>,
    /// Of its own tools.
    pub(crate) state: TempDir,
}

impl Stdio {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    pub(crate) fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let state = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolwire"))
            .arg("mcp")
            .args(arguments)
            .env("TOOLWIRE_STATE", state.path())
            .env("TOOLWIRE_DIAGNOSTICS", "true")
            .envs(variables.iter().copied())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, output, state }
    }

    pub(crate) async fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        input.flush().await.unwrap();
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        let line = timeout(SOON, self.output.next_line()).await.unwrap().unwrap().expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON-RPC: {line}"))
    }

    /// Asks, and reads on to the answer.
    pub(crate) async fn ask(&mut self, message: &Message) -> Value {
        self.say(&message.body.to_string()).await;
        self.answer_to(message).await
    }

    /// Reads on to the answer.
    pub(crate) async fn answer_to(&mut self, message: &Message) -> Value {
        loop {
            let answer = self.next().await;
            if answer["id"] == message.body["id"] {
                return answer;
            }
        }
    }

    /// The most memory that it has held so far, in KiB; 0 once it has ended.
    pub(crate) fn peak_memory_kib(&self) -> u64 {
        let id = self.child.id().unwrap_or_default();
        let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or_default()
    }

    /// Does what clients of the era do first.
    pub(crate) async fn greet(&mut self, era: Era) {
        self.greet_as(era, &json!({})).await;
    }

    /// The same for a client that declares these capabilities, if it is of the era that does so here.
    pub(crate) async fn greet_as(&mut self, era: Era, capabilities: &Value) {
        if era == Era::Old {
            let info = json!({"name": "t", "version": "1"});
            let params = json!({"protocolVersion": OLD, "capabilities": capabilities, "clientInfo": info});
            let answer = self.ask(&Message::new(era, "initialize", params)).await;
            assert_eq!(answer["result"]["protocolVersion"], OLD, "{answer}");
            self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        }
    }
}
