//! The load: connections with a number of requests under way on each, all the time, until the time is over.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use hdrhistogram::Histogram;
use http::HeaderValue;
use tokio::{net::TcpStream, task::JoinSet};

use crate::{
    Result,
    exchange::{Answer, Connection},
    rows::{Load, Row, Until},
};

/// Latencies above are counted as this, in microseconds.
const LONGEST: u64 = 60_000_000;
/// Wide enough that the client never holds back the server.
const WINDOW: u32 = 16 << 20;
/// As long as any request of a row may take.
const TIMEOUT: &str = "30S";
const WATCH_TIMEOUT: &str = "1H";
/// How the encoded event `SYNCED` of a watch begins: field 1, the type, is 5.
const SYNCED: [u8; 2] = [0x08, 5];

/// What the clients of a measurement saw.
#[derive(Debug)]
pub struct Seen {
    /// Requests that were answered with OK.
    pub requests: u64,
    /// From sending to trailers, in microseconds.
    pub latency: Histogram<u64>,
}

/// One client for each connection.
#[derive(Clone, Debug)]
pub struct Clients {
    connections: Vec<Connection>,
}

impl Clients {
    /// Connects.
    pub async fn connect(address: SocketAddr, token: Option<&str>, count: usize) -> Result<Self> {
        Self::with(address, token, count, WINDOW).await
    }

    /// Connections on which the server may send nothing of an answer but its headers.
    pub async fn narrow(address: SocketAddr, token: Option<&str>, count: usize) -> Result<Self> {
        Self::with(address, token, count, 0).await
    }

    async fn with(address: SocketAddr, token: Option<&str>, count: usize, window: u32) -> Result<Self> {
        let token = token.map(|token| HeaderValue::try_from(format!("Bearer {token}"))).transpose()?;
        let mut connections = Vec::new();
        for _ in 0..count {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let mut builder = h2::client::Builder::new();
            builder.initial_window_size(window).initial_connection_window_size(WINDOW);
            let (sender, connection) = builder.handshake(stream).await?;
            tokio::spawn(connection);
            connections.push(Connection::new(sender, token.clone()));
        }
        Ok(Self { connections })
    }

    /// The connections.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// Makes one request and returns the messages of its answer.
    pub async fn answer(&self, row: &Row) -> Result<Vec<Bytes>> {
        self.answer_on(0, row).await
    }

    /// The same on one of the connections.
    pub async fn answer_on(&self, connection: usize, row: &Row) -> Result<Vec<Bytes>> {
        let mut answer = self.connections[connection].open(row.path, row.request.clone(), TIMEOUT).await?;
        let mut messages = Vec::new();
        while let Some(message) = answer.message().await? {
            let is_last = row.until == Until::Synced && message.starts_with(&SYNCED);
            messages.push(message);
            if is_last {
                return Ok(messages);
            }
        }
        answer.ok().await?;
        Ok(messages)
    }

    /// Opens a watch and reads until it is in step.
    pub async fn synced(&self, connection: usize, row: &Row) -> Result<Answer> {
        synced(&self.connections[connection], row).await
    }

    /// Keeps the row's number of requests under way for some time.
    pub async fn load(&self, row: &Row, time: Duration) -> Result<Seen> {
        let end = Instant::now() + time;
        self.load_until(row, move || Instant::now() >= end).await
    }

    /// Keeps the row's number of requests under way until told.
    pub async fn load_until(
        &self,
        row: &Row,
        is_over: impl Fn() -> bool + Clone + Send + 'static,
    ) -> Result<Seen> {
        work(row.load, is_over, |connection| {
            let connection = self.connections[connection].clone();
            let row = row.clone();
            move || exchange(connection.clone(), row.clone())
        })
        .await
    }
}

/// One request and its whole answer, or as much of it as the row wants.
pub async fn exchange(connection: Connection, row: Row) -> Result<()> {
    if row.until == Until::Synced {
        return synced(&connection, &row).await.map(drop);
    }
    let answer = connection.open(row.path, row.request, TIMEOUT).await?;
    answer.ok().await.map_err(|error| format!("{}: {error}", row.name).into())
}

async fn synced(connection: &Connection, row: &Row) -> Result<Answer> {
    let mut answer = connection.open(row.path, row.request.clone(), WATCH_TIMEOUT).await?;
    while let Some(message) = answer.message().await? {
        if message.starts_with(&SYNCED) {
            return Ok(answer);
        }
    }
    Err("the watch ended before it was in step".into())
}

/// Keeps a number of requests under way until it is over. Each worker makes its own one after another.
pub async fn work<W, F>(
    load: Load,
    is_over: impl Fn() -> bool + Clone + Send + 'static,
    mut worker: impl FnMut(usize) -> W,
) -> Result<Seen>
where
    W: FnMut() -> F + Send + 'static,
    F: Future<Output = Result<()>> + Send + 'static,
{
    let mut workers = JoinSet::new();
    for connection in 0..load.connections {
        for _ in 0..load.streams {
            // Made before any request begins: it takes half a millisecond, for which others would seem to wait.
            workers.spawn(repeat(worker(connection), is_over.clone(), histogram()?));
        }
    }
    // Dropped, it ends what it has spawned.
    let mut awake = JoinSet::new();
    awake.spawn(stay_awake());
    let mut seen = Seen { requests: 0, latency: histogram()? };
    while let Some(latency) = workers.join_next().await {
        let latency = latency??;
        seen.requests += latency.len();
        seen.latency.add(latency)?;
    }
    Ok(seen)
}

/// Keeps the client's processor from sleeping. On loopback a server that answers a client that sleeps pays for waking it,
/// the more often the slower it is, which over a network it does not.
async fn stay_awake() {
    loop {
        tokio::task::yield_now().await;
    }
}

async fn repeat<F: Future<Output = Result<()>>>(
    mut request: impl FnMut() -> F,
    is_over: impl Fn() -> bool,
    mut latency: Histogram<u64>,
) -> Result<Histogram<u64>> {
    while !is_over() {
        let start = Instant::now();
        request().await?;
        latency.saturating_record(u64::try_from(start.elapsed().as_micros())?);
    }
    Ok(latency)
}

/// An empty histogram of microseconds.
pub fn histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, LONGEST, 3)?)
}
