//! The first bytes of a connection: HTTP/2's 24-byte preface, or something this port does not speak.
//!
//! Decided at the first byte that differs, so that a foreigner is not kept waiting. The caller bounds the time.

use std::io::{self, Cursor};

use tokio::{
    io::{AsyncReadExt, Chain, Join, join},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

pub(super) use self::foreigner::Foreigner;

mod foreigner;

const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream whose preface was read and is read again by HTTP/2.
pub(super) type Io = Join<Chain<Cursor<[u8; 24]>, OwnedReadHalf>, OwnedWriteHalf>;

/// How a connection opens.
#[derive(Debug)]
pub(super) enum Opening {
    /// With the preface.
    Http2(Io),
    /// With something else.
    Foreign(Foreigner),
}

/// Reads until the preface is complete or something else is certain. A peer that leaves before is an error.
pub(super) async fn read(mut stream: TcpStream) -> io::Result<Opening> {
    let mut bytes = PREFACE;
    let mut filled = 0;
    while filled < PREFACE.len() {
        let read = stream.read(&mut bytes[filled..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        if !PREFACE.starts_with(&bytes[..filled]) {
            return Ok(Opening::Foreign(Foreigner::new(stream, &bytes[..filled])));
        }
    }
    let (reader, writer) = stream.into_split();
    Ok(Opening::Http2(join(Cursor::new(PREFACE).chain(reader), writer)))
}
