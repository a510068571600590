//! Reads the first bytes of a connection: the 24-byte preface of HTTP/2, or another protocol.
//!
//! Decides at the first byte that differs, so that a peer of another protocol is answered without delay. The caller
//! bounds the time.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

pub(super) use self::other_protocol::{OtherProtocol, Protocol, Rejection, close};

mod other_protocol;

/// The preface of every HTTP/2 connection.
pub(super) const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Debug)]
pub(super) enum Opening<S> {
    /// The preface, which has been read.
    Http2(S),
    Other(OtherProtocol<S>),
}

/// Reads until the preface is complete or excluded. If the peer closes the connection before, it is an error.
pub(super) async fn read<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) -> io::Result<Opening<S>> {
    let mut bytes = PREFACE;
    let mut filled = 0;
    while filled < PREFACE.len() {
        let read = stream.read(&mut bytes[filled..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        if !PREFACE.starts_with(&bytes[..filled]) {
            return Ok(Opening::Other(OtherProtocol::new(stream, &bytes[..filled])));
        }
    }
    Ok(Opening::Http2(stream))
}
