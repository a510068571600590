//! Rejects a peer of another protocol: it receives an answer that it can display, and the connection is closed without
//! a reset.

use std::{borrow::Cow, io, net::SocketAddr};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink};

/// Maximum number of bytes read from the peer before the connection is closed.
const MAX_DRAINED: u64 = 64 * 1024;

/// A protocol, recognised by the first bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Protocol {
    /// Text, most likely HTTP/1.x.
    Text,
    Tls,
    Binary,
}

/// The answer to a peer of another protocol, in HTTP/1.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Rejection {
    status: &'static str,
    pub(in super::super) text: Cow<'static, str>,
}

/// A connection of another protocol.
#[derive(Debug)]
pub(in super::super) struct OtherProtocol<S> {
    pub(in super::super) stream: S,
    /// The bytes that have been read.
    pub(in super::super) beginning: Bytes,
    pub(in super::super) protocol: Protocol,
}

impl Rejection {
    /// For plain text on a port that speaks TLS.
    pub(in super::super) const WANTS_TLS: Self =
        Self { status: "400 Bad Request", text: Cow::Borrowed("This port speaks TLS: use https://.") };
    /// For TLS on a port that does not speak it. Clients then report that the port is not TLS, which a closed
    /// connection would not show.
    const WANTS_PLAIN: Self =
        Self { status: "400 Bad Request", text: Cow::Borrowed("This port does not speak TLS: use http://.") };

    /// For HTTP/1 on a port that does not speak it; another one may.
    fn wants_http2(http1_at: Option<SocketAddr>) -> Self {
        let only = "This port speaks gRPC over HTTP/2 (prior knowledge) only.";
        let text = match http1_at {
            None => Cow::Borrowed(only),
            Some(address) => format!("{only} HTTP/1.1 is spoken on port {}.", address.port()).into(),
        };
        Self { status: "505 HTTP Version Not Supported", text }
    }

    fn bytes(self) -> String {
        let Self { status, text } = self;
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{text}",
            text.len()
        )
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> OtherProtocol<S> {
    pub(super) fn new(stream: S, beginning: &[u8]) -> Self {
        Self { stream, beginning: Bytes::copy_from_slice(beginning), protocol: Protocol::of(beginning) }
    }

    /// Rejects the peer in its own protocol, naming the protocol of this port.
    pub(in super::super) async fn reject_by_protocol(self, http1_at: Option<SocketAddr>) -> io::Result<()> {
        match self.protocol {
            Protocol::Text => self.reject(Rejection::wants_http2(http1_at)).await,
            Protocol::Tls => self.reject(Rejection::WANTS_PLAIN).await,
            Protocol::Binary => close(self.stream).await,
        }
    }

    /// Sends the rejection and closes. The caller bounds the time.
    pub(in super::super) async fn reject(mut self, rejection: Rejection) -> io::Result<()> {
        self.stream.write_all(rejection.bytes().as_bytes()).await?;
        close(self.stream).await
    }
}

/// Closes a connection gracefully. Closing with unread input would reset it, and the peer might lose the last bytes.
pub(in super::super) async fn close(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    stream.shutdown().await?;
    copy(&mut stream.take(MAX_DRAINED), &mut sink()).await?;
    Ok(())
}

impl Protocol {
    fn of(beginning: &[u8]) -> Self {
        let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        match beginning {
            // A handshake record of major version 3, which all versions of TLS have (RFC 8446 §5.1).
            [0x16] | [0x16, 3, ..] => Self::Tls,
            _ if beginning.iter().all(is_text) => Self::Text,
            _ => Self::Binary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_says_its_own_length() {
        let answer = Rejection::WANTS_TLS.bytes();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
    }

    #[test]
    fn the_port_that_speaks_the_protocol_is_named() {
        assert!(Rejection::wants_http2(None).text.ends_with(" only."));
        let text = Rejection::wants_http2(Some(([127, 0, 0, 1], 50_080).into())).text;
        assert!(text.ends_with("HTTP/1.1 is spoken on port 50080."), "{text}");
    }

    #[test]
    fn a_protocol_is_recognised_by_its_first_bytes() {
        assert_eq!(Protocol::of(&[0x16, 0x03, 0x01, 0x02, 0x00]), Protocol::Tls);
        assert_eq!(Protocol::of(&[0x16, 0x04]), Protocol::Binary);
        assert_eq!(Protocol::of(&[0, 1]), Protocol::Binary);
        assert_eq!(Protocol::of(b"GET / HTTP/1.1\r\n"), Protocol::Text);
        assert_eq!(Protocol::of(b"PRI * HTTP/1.1\r\n"), Protocol::Text);
    }
}
