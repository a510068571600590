//! Abstracts the listening socket: the system's TCP, or a simulated network in tests.

use std::{io, iter, net::SocketAddr};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};

pub trait Socket: Send + Sync {
    type Stream: Stream;

    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>> + Send;

    /// Closes the socket, and returns the connections in its accept queue.
    fn close(self) -> impl Iterator<Item = (Self::Stream, SocketAddr)> + Send;
}

/// The two directions of a connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {
    /// Reads the next bytes without consuming them. Returns 0 if the peer has closed the connection.
    fn peek(&mut self, bytes: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;
}

impl Socket for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        TcpListener::accept(self).await.inspect(|(stream, _)| without_delay(stream))
    }

    fn close(self) -> impl Iterator<Item = (TcpStream, SocketAddr)> + Send {
        let queue = self.into_std();
        let queue = queue.inspect_err(|error| tracing::warn!(%error, "the accept queue is lost")).ok();
        iter::from_fn(move || accept_queued(queue.as_ref()?))
    }
}

impl Stream for TcpStream {
    async fn peek(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        TcpStream::peek(self, bytes).await
    }
}

/// Accepts a connection from the queue without waiting. `queue` must be non-blocking.
fn accept_queued(queue: &std::net::TcpListener) -> Option<(TcpStream, SocketAddr)> {
    loop {
        match queue.accept() {
            Ok((stream, address)) => {
                stream.set_nonblocking(true).ok()?;
                let stream = TcpStream::from_std(stream).ok()?;
                without_delay(&stream);
                return Some((stream, address));
            }
            Err(error) if concerns_one_connection(&error) => {}
            // Usually WouldBlock: the queue is empty.
            Err(_) => return None,
        }
    }
}

/// Sets `TCP_NODELAY`: otherwise small frames wait for the peer's delayed acknowledgement, up to 40 ms.
fn without_delay(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
}

/// Whether an error concerns only one connection, so that the next can be accepted without a pause.
pub(super) fn concerns_one_connection(error: &io::Error) -> bool {
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
    use std::net::TcpStream;

    use super::*;
    use crate::bind;

    #[tokio::test]
    async fn the_queue_is_emptied_without_waiting() {
        let listener = bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        // The kernel completes the handshakes before any accept.
        let clients = [(); 2].map(|()| TcpStream::connect(address).unwrap());
        let peers: Vec<_> = listener.close().map(|(_, peer)| peer).collect();
        assert_eq!(peers, clients.map(|client| client.local_addr().unwrap()));
    }

    #[test]
    fn a_lost_connection_is_no_reason_to_pause() {
        assert!(concerns_one_connection(&io::ErrorKind::ConnectionAborted.into()));
        let too_many_open_files = io::Error::from_raw_os_error(24);
        assert!(!concerns_one_connection(&too_many_open_files));
    }
}
