//! The load: connections with a number of requests under way on each, all the time, until the time is over.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use h2::client::SendRequest;
use hdrhistogram::Histogram;
use http::{Request, header};
use tokio::{net::TcpStream, task::JoinSet};

use crate::{Result, rows::Row};

/// Latencies above are counted as this, in microseconds.
const LONGEST: u64 = 60_000_000;
/// Wide enough that the client never holds back the server.
const WINDOW: u32 = 16 << 20;

/// What the clients of a measurement saw.
#[derive(Debug)]
pub struct Seen {
    /// Requests that were answered with OK.
    pub requests: u64,
    /// From sending to trailers, in microseconds.
    pub latency: Histogram<u64>,
}

/// One client for each connection.
#[derive(Debug)]
pub struct Clients {
    connections: Vec<SendRequest<Bytes>>,
    token: Option<String>,
}

impl Clients {
    /// Connects.
    pub async fn connect(address: SocketAddr, token: Option<&str>, count: usize) -> Result<Self> {
        let mut connections = Vec::new();
        for _ in 0..count {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let mut builder = h2::client::Builder::new();
            builder.initial_window_size(WINDOW).initial_connection_window_size(WINDOW);
            let (sender, connection) = builder.handshake(stream).await?;
            tokio::spawn(connection);
            connections.push(sender);
        }
        Ok(Self { connections, token: token.map(|token| format!("Bearer {token}")) })
    }

    /// Makes one request and returns the messages of its answer, each in its frame.
    pub async fn answer(&self, row: &Row) -> Result<Vec<Bytes>> {
        let mut answer = BytesMut::new();
        let sender = &self.connections[0];
        exchange(sender, row, self.token.as_deref(), |chunk| answer.extend_from_slice(chunk)).await?;
        let mut messages = Vec::new();
        while answer.len() >= 5 {
            let length = u32::from_be_bytes([answer[1], answer[2], answer[3], answer[4]]) as usize;
            messages.push(answer.split_to(5 + length).freeze());
        }
        Ok(messages)
    }

    /// Keeps the row's number of requests under way for some time.
    pub async fn load(&self, row: &Row, time: Duration) -> Result<Seen> {
        let end = Instant::now() + time;
        let mut workers = JoinSet::new();
        for sender in self.connections.iter().take(row.load.connections) {
            for _ in 0..row.load.streams {
                workers.spawn(work(sender.clone(), row.clone(), self.token.clone(), end));
            }
        }
        let mut seen = Seen { requests: 0, latency: histogram()? };
        while let Some(latency) = workers.join_next().await {
            let latency = latency??;
            seen.requests += latency.len();
            seen.latency.add(latency)?;
        }
        Ok(seen)
    }
}

fn histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, LONGEST, 3)?)
}

async fn work(
    sender: SendRequest<Bytes>,
    row: Row,
    token: Option<String>,
    end: Instant,
) -> Result<Histogram<u64>> {
    let mut latency = histogram()?;
    loop {
        let start = Instant::now();
        if start >= end {
            return Ok(latency);
        }
        exchange(&sender, &row, token.as_deref(), |_| {}).await?;
        latency.saturating_record(u64::try_from(start.elapsed().as_micros())?);
    }
}

/// One request and its whole answer; an error unless it ended well.
async fn exchange(
    sender: &SendRequest<Bytes>,
    row: &Row,
    token: Option<&str>,
    mut take: impl FnMut(&[u8]),
) -> Result<()> {
    let mut request = Request::post(format!("http://localhost{}", row.path))
        .header(header::CONTENT_TYPE, "application/grpc")
        .header(header::TE, "trailers")
        .header("grpc-timeout", "30S")
        .header(header::USER_AGENT, "toolwire-load");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, token);
    }
    let mut sender = sender.clone().ready().await?;
    let (response, mut body) = sender.send_request(request.body(())?, false)?;
    body.send_data(row.request.clone(), true)?;
    let response = response.await?;
    let refused = response.headers().get("grpc-message").cloned();
    let mut body = response.into_body();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        take(&chunk);
    }
    let trailers = body.trailers().await?.unwrap_or_default();
    match trailers.get("grpc-status") {
        Some(status) if status == "0" => Ok(()),
        _ => Err(format!("{}: not answered with OK: {refused:?} {trailers:?}", row.name).into()),
    }
}
