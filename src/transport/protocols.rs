//! The protocols of a listener.

use std::{net::SocketAddr, time::Duration};

use toolwire_config as config;

/// Maximum size of headers on the HTTP listener, in bytes.
pub(super) const HTTP_HEADERS: u32 = 16 * 1024;

/// The protocols of a listener.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Protocols {
    /// HTTP/2 only, for gRPC.
    #[default]
    Http2,
    /// HTTP/2 only; the address is that of the HTTP listener, which rejections of HTTP/1 name.
    Http2Beside(SocketAddr),
    Both(HttpLimits),
}

/// The limits of a listener that speaks both versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Maximum time to receive the headers of an HTTP/1 request.
    pub header_timeout: Duration,
    /// Maximum time without a request in flight on a connection.
    pub idle_timeout: Duration,
    /// Maximum time in which the reader of a watch takes nothing although data waits for it.
    pub stall_timeout: Duration,
    /// Maximum size of the headers of an HTTP/1 request in bytes; larger ones get HTTP 431.
    pub max_header_bytes: usize,
}

impl From<&config::Http> for HttpLimits {
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
    /// The protocols for ALPN, in order of preference.
    pub(super) fn alpn(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Http2 | Self::Http2Beside(_) => vec![b"h2".to_vec()],
            Self::Both(_) => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        }
    }

    /// The limits, if the listener speaks HTTP/1.
    pub(super) fn http_limits(&self) -> Option<HttpLimits> {
        match self {
            Self::Http2 | Self::Http2Beside(_) => None,
            Self::Both(limits) => Some(*limits),
        }
    }

    /// The address of the HTTP listener, if it is another one.
    pub(super) fn http_at(&self) -> Option<SocketAddr> {
        match self {
            Self::Http2Beside(address) => Some(*address),
            Self::Http2 | Self::Both(_) => None,
        }
    }
}
