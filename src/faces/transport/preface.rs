//! The first bytes of a connection: HTTP/2's 24-byte preface, or something this port does not speak.
//!
//! Decided at the first byte that differs, so that a peer of another protocol need not wait. The caller bounds the
//! time.

use std::io::{self, Cursor};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, Chain, Join, ReadHalf, WriteHalf, join, split};

pub(super) use self::other_protocol::{OtherProtocol, Protocol, Rejection, close};

mod other_protocol;

const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream whose preface was read and is read again by HTTP/2.
pub(super) type Io<S> = Join<Chain<Cursor<[u8; 24]>, ReadHalf<S>>, WriteHalf<S>>;

/// How a connection opens.
#[derive(Debug)]
pub(super) enum Opening<S> {
    /// With the preface.
    Http2(Io<S>),
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
    let (reader, writer) = split(stream);
    Ok(Opening::Http2(join(Cursor::new(PREFACE).chain(reader), writer)))
}
