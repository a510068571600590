//! The simulated network in the terms of the product's listener.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use toolwire::transport::{Socket, Stream};
use turmoil::net::{TcpListener, TcpStream};

/// Where the server listens.
pub(crate) struct Simulated(pub(crate) TcpListener);

/// One of its connections.
pub(crate) struct Connection(TcpStream);

impl Socket for Simulated {
    type Stream = Connection;

    async fn accept(&self) -> io::Result<(Connection, SocketAddr)> {
        let (stream, address) = self.0.accept().await?;
        Ok((Connection(stream), address))
    }

    fn close(self) -> impl Iterator<Item = (Connection, SocketAddr)> + Send {
        std::iter::empty()
    }
}

impl Stream for Connection {
    async fn peek(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.peek(bytes).await
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, bytes)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
