//! The listening socket: bound with the options a rolling restart needs, and accepted from without ever giving up.

use std::{io, net::SocketAddr, time::Duration};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};

use super::tls::{self, CertificateError, Tls};

const BACKLOG: i32 = 1_024;
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// An address that was taken, and what is spoken on it.
#[derive(Debug)]
pub struct Listener {
    pub(super) tcp: TcpListener,
    pub(super) tls: Option<Tls>,
}

/// Why the server cannot serve where it is told to.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address cannot be taken.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The certificate or its key cannot be used.
    #[error("TLS: {0}; name a certificate and its own key, both as PEM")]
    Certificate(#[from] CertificateError),
}

impl Listener {
    /// Listens as [`bind`] does; with `files` for TLS and nothing else.
    pub fn open(
        address: SocketAddr,
        reuse_port: bool,
        files: Option<tls::Files>,
    ) -> Result<Self, ListenError> {
        // First what a typing mistake is likelier in, before anybody can connect.
        let tls = files.map(Tls::open).transpose()?;
        Ok(Self { tcp: bind(address, reuse_port)?, tls })
    }

    /// The address, with the port that was taken.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// What takes TLS connections, if they are asked for.
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }
}

impl From<TcpListener> for Listener {
    fn from(tcp: TcpListener) -> Self {
        Self { tcp, tls: None }
    }
}

/// Why the server cannot listen, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}; {advice}")]
pub struct BindError {
    /// The address.
    pub address: SocketAddr,
    /// What the operator can do.
    pub advice: &'static str,
    /// What the system said.
    pub source: io::Error,
}

impl BindError {
    fn new(address: SocketAddr, source: io::Error) -> Self {
        let advice = match source.kind() {
            io::ErrorKind::AddrInUse => "stop what listens there or choose another port",
            io::ErrorKind::AddrNotAvailable => "choose an address that this machine has",
            io::ErrorKind::PermissionDenied => "choose a port above 1023 or run with the right to bind it",
            _ => "check the address and the limits of this process",
        };
        Self { address, advice, source }
    }
}

/// Listens on `address`; with `reuse_port` beside other processes that do so too. Wants a tokio runtime.
pub fn bind(address: SocketAddr, reuse_port: bool) -> Result<TcpListener, BindError> {
    socket(address, reuse_port)
        .and_then(|socket| TcpListener::from_std(socket.into()))
        .map_err(|source| BindError::new(address, source))
}

fn socket(address: SocketAddr, reuse_port: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A restarted server may listen while connections of the last one linger in TIME_WAIT.
    socket.set_reuse_address(true)?;
    #[cfg(unix)]
    socket.set_reuse_port(reuse_port)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// The next connection. Errors are waited out: a server that stops accepting must be restarted, one that pauses need
/// not.
pub(super) async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut pause = SHORTEST_PAUSE;
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                without_delay(&stream);
                return (stream, address);
            }
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, ?pause, "cannot accept connections; is the limit of open files reached?");
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// A connection that is in the queue already, without waiting for one. `queue` must be non-blocking.
pub(super) fn accept_queued(queue: &std::net::TcpListener) -> Option<(TcpStream, SocketAddr)> {
    loop {
        match queue.accept() {
            Ok((stream, address)) => {
                stream.set_nonblocking(true).ok()?;
                let stream = TcpStream::from_std(stream).ok()?;
                without_delay(&stream);
                return Some((stream, address));
            }
            Err(error) if concerns_one_connection(&error) => {}
            // Mostly WouldBlock: the queue is empty.
            Err(_) => return None,
        }
    }
}

/// Small frames go out at once; otherwise each waits for the peer's delayed acknowledgement, 40 ms.
fn without_delay(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
}

/// Whether only this connection is lost, and the next may be accepted at once.
fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: &str = "127.0.0.1:0";

    #[tokio::test]
    async fn an_address_in_use_is_named_with_what_to_do() {
        let first = bind(ANY.parse().unwrap(), false).unwrap();
        let address = first.local_addr().unwrap();
        let error = bind(address, false).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot listen on {address}: ")), "{error}");
        assert!(error.ends_with("stop what listens there or choose another port"), "{error}");
    }

    #[tokio::test]
    async fn two_servers_may_share_a_port_on_demand() {
        let first = bind(ANY.parse().unwrap(), true).unwrap();
        bind(first.local_addr().unwrap(), true).unwrap();
    }

    #[tokio::test]
    async fn the_queue_is_emptied_without_waiting() {
        let listener = bind(ANY.parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        // Connected by the kernel before anyone accepts.
        let clients =
            [std::net::TcpStream::connect(address).unwrap(), std::net::TcpStream::connect(address).unwrap()];
        let queue = listener.into_std().unwrap();
        for client in clients {
            let (_, peer) = accept_queued(&queue).unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
        }
        assert!(accept_queued(&queue).is_none());
    }

    #[test]
    fn a_lost_connection_is_no_reason_to_pause() {
        assert!(concerns_one_connection(&io::ErrorKind::ConnectionAborted.into()));
        let too_many_open_files = io::Error::from_raw_os_error(24);
        assert!(!concerns_one_connection(&too_many_open_files));
    }
}
