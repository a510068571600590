//! A client of the HTTP listener: requests, answers, and streams of events read as they come.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::Value;

/// Talks to one server as one user.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    address: SocketAddr,
    user: String,
    client: Client<hyper_util::client::legacy::connect::HttpConnector, Full<Bytes>>,
}

/// An answer, read whole.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// A stream of events that is open.
pub(crate) struct Events {
    body: Incoming,
    text: String,
}

impl Talk {
    pub(crate) fn to(address: SocketAddr, user: &str) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { address, user: user.to_owned(), client }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], &body.to_string()).await
    }

    /// An answer, read to its end.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let response = self.request(method, path, headers, body).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status.as_u16(), headers: parts.headers, text }
    }

    /// The headers and the body of an answer that may be no text.
    pub(crate) async fn bytes(&self, path: &str, headers: &[(&str, &str)]) -> (http::HeaderMap, Bytes) {
        let (parts, body) = self.request("GET", path, headers, "").await.into_parts();
        (parts.headers, body.collect().await.unwrap().to_bytes())
    }

    /// A stream of events, open.
    pub(crate) async fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Events {
        let response = self.request(method, path, headers, body).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream", "{}", response.status());
        Events { body: response.into_body(), text: String::new() }
    }

    async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> http::Response<Incoming> {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("x-toolwire-user", &self.user);
        if method == "POST" {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        self.client.request(request).await.unwrap()
    }
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The JSON of a success.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// Status and code of a problem.
    #[track_caller]
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        (self.status, self.json()["code"].as_str().unwrap_or_default().to_owned())
    }
}

impl Events {
    /// The next event; `None` after the last. Comments say nothing.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(at) = self.text.find("\n\n") {
                let block: String = self.text.drain(..at + 2).collect();
                let event = read(&block);
                if event.is_some() {
                    return event;
                }
                continue;
            }
            let frame = self.body.frame().await?.unwrap();
            if let Ok(data) = frame.into_data() {
                self.text.push_str(str::from_utf8(&data).unwrap());
            }
        }
    }

    pub(crate) async fn all(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn read(block: &str) -> Option<Event> {
    let field = |name: &str| {
        block
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            .unwrap_or_default()
            .to_owned()
    };
    let data = block.lines().find_map(|line| line.strip_prefix("data: "))?;
    Some(Event { id: field("id"), name: field("event"), data: serde_json::from_str(data).unwrap() })
}
