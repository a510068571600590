//! A peer that does not speak HTTP/2: told so where it can read it, and let go without a reset.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, sink},
    net::TcpStream,
};

const TEXT: &str = "HTTP/1.1 505 HTTP Version Not Supported\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    content-length: 57\r\n\
    connection: close\r\n\
    \r\n\
    This port speaks gRPC over HTTP/2 (prior knowledge) only.";

/// How much of what a peer still sends is read before the connection is closed.
const MAX_DRAINED: u64 = 64 * 1024;

/// What a peer's first bytes look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Language {
    /// Text: HTTP/1.x most likely.
    Text,
    /// A TLS handshake, or nothing known.
    Binary,
}

/// Such a peer.
#[derive(Debug)]
pub(in super::super) struct Foreigner {
    stream: TcpStream,
    pub(in super::super) language: Language,
}

impl Foreigner {
    pub(super) fn new(stream: TcpStream, beginning: &[u8]) -> Self {
        Self { stream, language: Language::of(beginning) }
    }

    /// Says what this port speaks, if the peer reads text, and closes. The caller bounds the time.
    pub(in super::super) async fn dismiss(mut self) -> io::Result<()> {
        if self.language == Language::Text {
            self.stream.write_all(TEXT.as_bytes()).await?;
        }
        self.stream.shutdown().await?;
        // Closing with unread input would reset the connection, and the peer might lose the text.
        copy(&mut self.stream.take(MAX_DRAINED), &mut sink()).await?;
        Ok(())
    }
}

impl Language {
    fn of(beginning: &[u8]) -> Self {
        let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        if beginning.iter().all(is_text) { Self::Text } else { Self::Binary }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_its_own_length() {
        let (head, body) = TEXT.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
    }

    #[test]
    fn a_tls_hello_is_not_answered_with_text() {
        assert_eq!(Language::of(&[0x16, 0x03, 0x01, 0x02, 0x00]), Language::Binary);
        assert_eq!(Language::of(b"GET / HTTP/1.1\r\n"), Language::Text);
        assert_eq!(Language::of(b"PRI * HTTP/1.1\r\n"), Language::Text);
    }
}
