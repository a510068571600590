//! The first bytes of a connection: HTTP/2's 24-byte preface, or something this port does not speak.
//!
//! Decided at the first byte that differs, so that a peer of another protocol need not wait. The caller bounds the
//! time.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

pub(super) use self::other_protocol::{OtherProtocol, Protocol, Rejection, close};

mod other_protocol;

/// What every HTTP/2 connection begins with.
pub(super) const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How a connection opens.
#[derive(Debug)]
pub(super) enum Opening<S> {
    /// With the preface, which was read.
    Http2(S),
    /// With something else.
    Other(OtherProtocol<S>),
}

/// Reads until the preface is complete or something else is certain. A peer that leaves before is an error.
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
