//! The listening socket: bound with the options that a rolling restart needs, and an accept loop that survives errors.

use std::{io, net::SocketAddr, time::Duration};

use socket2::{Domain, Protocol, Type};
use tokio::{net::TcpListener, time::sleep};

use super::{
    protocols::Protocols,
    socket::{Socket, concerns_one_connection},
    tls::{self, CertificateError, Tls},
};

const BACKLOG: i32 = 1_024;
const MIN_PAUSE: Duration = Duration::from_millis(5);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// A bound socket, and its TLS configuration.
#[derive(Debug)]
pub struct Listener<S = TcpListener> {
    pub(super) socket: S,
    pub(super) tls: Option<Tls>,
}

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("TLS: {0}; name a certificate and its own key, both as PEM")]
    Certificate(#[from] CertificateError),
}

impl Listener {
    /// Listens as [`bind`] does. With `files`, connections must use TLS, which negotiates `protocols`.
    pub fn open(
        address: SocketAddr,
        reuse_port: bool,
        files: Option<tls::Files>,
        protocols: &Protocols,
    ) -> Result<Self, ListenError> {
        // The files first, since they are more likely to be wrong, and no client can connect before they are read.
        let tls = files.map(|files| Tls::open(files, protocols)).transpose()?;
        Ok(Self { socket: bind(address, reuse_port)?, tls })
    }

    /// The address, with the actual port.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// The TLS configuration, if connections must use TLS.
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }
}

impl<S: Socket> From<S> for Listener<S> {
    fn from(socket: S) -> Self {
        Self { socket, tls: None }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}; {advice}")]
pub struct BindError {
    pub address: SocketAddr,
    /// Advice for the operator.
    pub advice: &'static str,
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

/// Listens on `address`; with `reuse_port`, together with other processes that set it too. Requires a tokio runtime.
pub fn bind(address: SocketAddr, reuse_port: bool) -> Result<TcpListener, BindError> {
    socket(address, reuse_port)
        .and_then(|socket| TcpListener::from_std(socket.into()))
        .map_err(|source| BindError::new(address, source))
}

fn socket(address: SocketAddr, reuse_port: bool) -> io::Result<socket2::Socket> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Lets a restarted server listen while connections of the previous process are in TIME_WAIT.
    socket.set_reuse_address(true)?;
    #[cfg(unix)]
    socket.set_reuse_port(reuse_port)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// Accepts the next connection. Retries after errors, with increasing pauses: a server that stopped accepting would
/// have to be restarted.
pub(super) async fn accept<S: Socket>(socket: &S) -> (S::Stream, SocketAddr) {
    let mut pause = MIN_PAUSE;
    loop {
        match socket.accept().await {
            Ok(connection) => return connection,
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, ?pause, "cannot accept connections; is the limit of open files exceeded?");
                sleep(pause).await;
                pause = (pause * 2).min(MAX_PAUSE);
            }
        }
    }
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
}
