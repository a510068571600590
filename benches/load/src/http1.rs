//! Load over HTTP/1.1: one request, a connection for each that is under way.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, sync::Mutex};

use crate::{
    Result,
    client::{Seen, work},
    rows::Load,
};

/// A server, and the request that it is loaded with.
#[derive(Clone, Debug)]
pub struct Http1 {
    address: SocketAddr,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

/// A connection.
pub type Sender = Arc<Mutex<SendRequest<Full<Bytes>>>>;

impl Http1 {
    /// Clients that post JSON to a server.
    pub fn new(address: SocketAddr, path: &str, body: String) -> Self {
        Self { address, path: path.to_owned(), headers: Vec::new(), body: body.into() }
    }

    /// The same with another header.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same request at another path with another body.
    pub fn at(&self, path: &str, body: &str) -> Self {
        Self { path: path.to_owned(), body: body.to_owned().into(), ..self.clone() }
    }

    /// Makes one request and returns its answer.
    pub async fn answer(&self) -> Result<Bytes> {
        self.exchange(self.connect().await?).await
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
                let (client, sender) = (self.clone(), Arc::clone(&connections[connection]));
                move || {
                    let (client, sender) = (client.clone(), Arc::clone(&sender));
                    async move { client.exchange(sender).await.map(|_| ()) }
                }
            },
        )
        .await
    }

    /// A connection.
    pub async fn connect(&self) -> Result<Sender> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Arc::new(Mutex::new(sender)))
    }

    /// The headers of an answer, whose body is still to come.
    pub async fn begin(&self, sender: &Sender) -> Result<Response<Incoming>> {
        let request = Request::post(&self.path)
            .header(header::HOST, self.address.to_string())
            .header(header::CONTENT_TYPE, "application/json");
        let request =
            self.headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let mut sender = sender.lock().await;
        sender.ready().await?;
        Ok(sender.send_request(request.body(Full::new(self.body.clone()))?).await?)
    }

    /// One request and its whole answer; an error unless it ended well.
    async fn exchange(&self, sender: Sender) -> Result<Bytes> {
        let response = self.begin(&sender).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        match status {
            StatusCode::OK => Ok(body),
            _ => Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into()),
        }
    }
}
