//! What is spoken on a listener.

use std::{net::SocketAddr, time::Duration};

use toolwire_config as config;

/// Bytes of headers that the HTTP listener takes.
pub(super) const HTTP_HEADERS: u32 = 16 * 1024;

/// What is spoken on a listener.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Protocols {
    /// HTTP/2 alone: gRPC. Who speaks HTTP/1 is told so, and where it is spoken.
    #[default]
    Http2,
    /// The same, while HTTP/1 is spoken on another listener.
    Http2Beside(SocketAddr),
    /// HTTP/2 and HTTP/1.
    Either(Either),
}

/// The bounds of a listener on which both are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Either {
    /// How long the headers of a request may take over HTTP/1.
    pub header_timeout: Duration,
    /// How long a connection may have no request under way.
    pub idle_timeout: Duration,
    /// How long a reader of a watch may take nothing while more waits for it.
    pub stall_timeout: Duration,
    /// Bytes of the headers of one request over HTTP/1; of more, HTTP 431.
    pub max_header_bytes: usize,
}

impl From<&config::Http> for Either {
    fn from(http: &config::Http) -> Self {
        Self {
            header_timeout: http.header_timeout,
            idle_timeout: http.idle_timeout,
            stall_timeout: http.stall_timeout,
            max_header_bytes: HTTP_HEADERS as usize,
        }
    }
}

impl Protocols {
    /// What a TLS client may choose from by ALPN, best first.
    pub(super) fn alpn(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Http2 | Self::Http2Beside(_) => vec![b"h2".to_vec()],
            Self::Either(_) => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        }
    }

    /// The bounds, if HTTP/1 is spoken.
    pub(super) fn either(&self) -> Option<Either> {
        match self {
            Self::Http2 | Self::Http2Beside(_) => None,
            Self::Either(either) => Some(*either),
        }
    }

    /// Where HTTP/1 is spoken, if that is another listener.
    pub(super) fn http_at(&self) -> Option<SocketAddr> {
        match self {
            Self::Http2Beside(address) => Some(*address),
            Self::Http2 | Self::Either(_) => None,
        }
    }
}
