//! One server under measurement, and its clients.

use std::{
    net::SocketAddr,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    Result,
    client::{Clients, Seen},
    http1::Http1,
    machine,
    mcp::Mcp,
    report::Figures,
    rows::Row,
    server::Server,
};

/// The server's processor, and the clients'.
const PROCESSORS: (usize, usize) = (0, 1);
/// As long as it takes until caches are filled and buffers have grown.
pub const WARM_UP: Duration = Duration::from_millis(500);

/// What is measured in turn.
#[derive(Debug)]
pub struct Side {
    /// Its name in the table.
    pub name: String,
    /// The process.
    pub server: Server,
    clients: Speaks,
}

/// How it is spoken to.
#[derive(Debug)]
enum Speaks {
    Grpc(Clients),
    Http1(Http1),
    Mcp(Mcp),
}

/// Starts a server on the servers' processor and waits for its address.
pub fn start(command: &mut Command) -> Result<Server> {
    let (processor, own) = PROCESSORS;
    Server::start(command, processor, own)
}

impl Side {
    /// A server that speaks gRPC, and so many connections to it.
    pub async fn grpc(
        name: impl Into<String>,
        command: &mut Command,
        token: Option<&str>,
        connections: usize,
    ) -> Result<Self> {
        let server = start(command)?;
        let clients = Speaks::Grpc(Clients::connect(server.address, token, connections).await?);
        Ok(Self { name: name.into(), server, clients })
    }

    /// A server that was started, and what it is asked over HTTP/1.1.
    pub fn http1(name: impl Into<String>, server: Server, client: Http1) -> Self {
        Self { name: name.into(), server, clients: Speaks::Http1(client) }
    }

    /// A server that speaks MCP over HTTP.
    pub fn mcp(name: impl Into<String>, command: &mut Command) -> Result<Self> {
        let server = start(command)?;
        let clients = Speaks::Mcp(Mcp::new(server.address));
        Ok(Self { name: name.into(), server, clients })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// The clients of a server that speaks gRPC.
    pub fn clients(&self) -> Result<&Clients> {
        match &self.clients {
            Speaks::Grpc(clients) => Ok(clients),
            Speaks::Http1(_) | Speaks::Mcp(_) => Err("does not speak gRPC".into()),
        }
    }

    /// The clients of a server that speaks MCP.
    pub fn mcp_client(&self) -> Option<&Mcp> {
        match &self.clients {
            Speaks::Grpc(_) | Speaks::Http1(_) => None,
            Speaks::Mcp(mcp) => Some(mcp),
        }
    }

    /// Loads it for some time.
    pub async fn load(&self, row: &Row, time: Duration) -> Result<Seen> {
        match &self.clients {
            Speaks::Grpc(clients) => clients.load(row, time).await,
            Speaks::Http1(client) => client.load(row.load, time).await,
            Speaks::Mcp(mcp) => mcp.load(row.load, time).await,
        }
    }

    /// Loads it for some time and says what that took.
    pub async fn measure(&self, row: &Row, time: Duration) -> Result<Figures> {
        let before = machine::processor_time(self.server.id())?;
        let start = Instant::now();
        let Seen { requests, latency } = self.load(row, time).await?;
        let (elapsed, after) = (start.elapsed(), machine::processor_time(self.server.id())?);
        Ok(Figures::new(requests, elapsed, after - before, &latency))
    }
}
