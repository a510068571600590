//! What one client may take of the server, and what all may take together.

use std::time::Duration;

use super::{Network, reader::Reader, setting::Setting, size::Size, value::Value};
use toolwire_tool::context::UnreadBounds;

/// The largest window that HTTP/2 knows.
const MAX_WINDOW: u32 = i32::MAX as u32;

/// What clients may take: `[server.limits]`. What one user or peer may take is a share of what all may, so that
/// nobody shuts the others out.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerBounds {
    /// Streams on one connection at once. `TOOLWIRE_MAX_CONCURRENT_STREAMS`, default 100.
    pub max_concurrent_streams: u32,
    /// Bytes that a peer may send ahead on one stream. `TOOLWIRE_STREAM_WINDOW`, default `64KiB`.
    pub stream_window: u32,
    /// Bytes that a peer may send ahead on one connection. `TOOLWIRE_CONNECTION_WINDOW`, default `1MiB`.
    pub connection_window: u32,
    /// Bytes of headers of one request. `TOOLWIRE_MAX_HEADER_LIST`, default `8KiB`.
    pub max_header_list: u32,
    /// Bytes of one request message. `TOOLWIRE_MAX_REQUEST_BYTES`, default `1MiB`.
    pub max_request_bytes: usize,
    /// How often a silent peer is asked whether it lives. `TOOLWIRE_KEEPALIVE_INTERVAL`, default `20s`.
    pub keepalive_interval: Duration,
    /// How long its answer may take. `TOOLWIRE_KEEPALIVE_TIMEOUT`, default `10s`.
    pub keepalive_timeout: Duration,
    /// How long a new connection may take to speak HTTP/2. `TOOLWIRE_PREFACE_TIMEOUT`, default `5s`.
    pub preface_timeout: Duration,
    /// Connections at once; fewer if the limit of open files wants it. `TOOLWIRE_MAX_CONNECTIONS`, default 10000.
    pub max_connections: usize,
    /// Connections of one peer address at once. `TOOLWIRE_MAX_CONNECTIONS_PER_PEER`, default three quarters of all.
    pub max_connections_per_peer: usize,
    /// Peers to which no bound by address applies: proxies and sidecars, behind which everybody is one peer.
    /// `TOOLWIRE_TRUSTED_PEERS` with commas, in the file a list of addresses and networks, default none.
    pub trusted_peers: Vec<Network>,
    /// How long a connection may be silent before anybody has authenticated on it, once three quarters of all
    /// connections are taken. `TOOLWIRE_UNAUTHENTICATED_TIMEOUT`, default `10s`.
    pub unauthenticated_timeout: Duration,
    /// Calls at once, over all connections. `TOOLWIRE_MAX_CONCURRENT_CALLS`, default 2048.
    pub max_concurrent_calls: usize,
    /// Calls of one user at once. `TOOLWIRE_MAX_CALLS_PER_USER`, default half of all.
    pub max_calls_per_user: usize,
    /// Calls of one user that begin before the others have their turn, while several users call.
    /// `TOOLWIRE_CALLS_PER_TURN`, default 2.
    pub calls_per_turn: usize,
    /// Watches at once. `TOOLWIRE_MAX_WATCHES`, default 1024.
    pub max_watches: usize,
    /// Watches of one user at once. `TOOLWIRE_MAX_WATCHES_PER_USER`, default half of all.
    pub max_watches_per_user: usize,
    /// Uploads and downloads of documents at once; fewer if the limit of open files wants it.
    /// `TOOLWIRE_MAX_TRANSFERS`, default 256.
    pub max_transfers: usize,
    /// Those of one user at once. `TOOLWIRE_MAX_TRANSFERS_PER_USER`, default a quarter of all.
    pub max_transfers_per_user: usize,
    /// Requests at once that have begun and whose message is not complete. `TOOLWIRE_MAX_UNFINISHED_REQUESTS`,
    /// default 2048.
    pub max_unfinished_requests: usize,
    /// Such requests of one user at once. `TOOLWIRE_MAX_UNFINISHED_PER_USER`, default half of all.
    pub max_unfinished_per_user: usize,
    /// How long a request may take to be complete; a client stream, to bring its first message.
    /// `TOOLWIRE_REQUEST_TIMEOUT`, default `10s`.
    pub request_timeout: Duration,
    /// How long a client stream may bring nothing after that. `TOOLWIRE_STREAM_IDLE_TIMEOUT`, default `30s`.
    pub stream_idle_timeout: Duration,
    /// Bytes of events of one stream that its reader has not taken; beyond it the tool waits.
    /// `TOOLWIRE_MAX_UNREAD_PER_STREAM`, default `1MiB`.
    pub max_unread_per_stream: usize,
    /// The same of all streams of one user. `TOOLWIRE_MAX_UNREAD_PER_USER`, default a quarter of all.
    pub max_unread_per_user: usize,
    /// The same of all streams. `TOOLWIRE_MAX_UNREAD`, default `256MiB`.
    pub max_unread: usize,
    /// When a connection is asked to move on. `TOOLWIRE_MAX_CONNECTION_AGE`, default `30m`.
    pub max_connection_age: Duration,
}

impl Default for ServerBounds {
    fn default() -> Self {
        Self {
            max_concurrent_streams: 100,
            stream_window: 64 * 1024,
            connection_window: 1024 * 1024,
            max_header_list: 8 * 1024,
            max_request_bytes: 1024 * 1024,
            keepalive_interval: Duration::from_secs(20),
            keepalive_timeout: Duration::from_secs(10),
            preface_timeout: Duration::from_secs(5),
            max_connections: 10_000,
            max_connections_per_peer: 7_500,
            trusted_peers: Vec::new(),
            unauthenticated_timeout: Duration::from_secs(10),
            max_concurrent_calls: 2_048,
            max_calls_per_user: 1_024,
            calls_per_turn: 2,
            max_watches: 1_024,
            max_watches_per_user: 512,
            max_transfers: 256,
            max_transfers_per_user: 64,
            max_unfinished_requests: 2_048,
            max_unfinished_per_user: 1_024,
            request_timeout: Duration::from_secs(10),
            stream_idle_timeout: Duration::from_secs(30),
            max_unread_per_stream: 1024 * 1024,
            max_unread_per_user: 64 * 1024 * 1024,
            max_unread: 256 * 1024 * 1024,
            max_connection_age: Duration::from_mins(30),
        }
    }
}

impl ServerBounds {
    #[rustfmt::skip]
    pub(super) fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        let max_connections = number(reader, "max_connections", "TOOLWIRE_MAX_CONNECTIONS", default.max_connections);
        let max_concurrent_calls = number(reader, "max_concurrent_calls", "TOOLWIRE_MAX_CONCURRENT_CALLS", default.max_concurrent_calls);
        let max_watches = number(reader, "max_watches", "TOOLWIRE_MAX_WATCHES", default.max_watches);
        let max_transfers = number(reader, "max_transfers", "TOOLWIRE_MAX_TRANSFERS", default.max_transfers);
        let max_unfinished_requests = number(reader, "max_unfinished_requests", "TOOLWIRE_MAX_UNFINISHED_REQUESTS", default.max_unfinished_requests);
        let max_unread = bytes(reader, "max_unread", "TOOLWIRE_MAX_UNREAD", default.max_unread);
        Self {
            max_concurrent_streams: number(reader, "max_concurrent_streams", "TOOLWIRE_MAX_CONCURRENT_STREAMS", default.max_concurrent_streams),
            stream_window: window(reader, "stream_window", "TOOLWIRE_STREAM_WINDOW", default.stream_window),
            connection_window: window(reader, "connection_window", "TOOLWIRE_CONNECTION_WINDOW", default.connection_window),
            max_header_list: bytes(reader, "max_header_list", "TOOLWIRE_MAX_HEADER_LIST", default.max_header_list),
            max_request_bytes: bytes(reader, "max_request_bytes", "TOOLWIRE_MAX_REQUEST_BYTES", default.max_request_bytes),
            keepalive_interval: length(reader, "keepalive_interval", "TOOLWIRE_KEEPALIVE_INTERVAL", default.keepalive_interval),
            keepalive_timeout: length(reader, "keepalive_timeout", "TOOLWIRE_KEEPALIVE_TIMEOUT", default.keepalive_timeout),
            preface_timeout: length(reader, "preface_timeout", "TOOLWIRE_PREFACE_TIMEOUT", default.preface_timeout),
            max_connections,
            max_connections_per_peer: number(reader, "max_connections_per_peer", "TOOLWIRE_MAX_CONNECTIONS_PER_PEER", (max_connections * 3).div_ceil(4)),
            trusted_peers: reader.values(Setting::new("server.limits.trusted_peers", "TOOLWIRE_TRUSTED_PEERS"), default.trusted_peers),
            unauthenticated_timeout: length(reader, "unauthenticated_timeout", "TOOLWIRE_UNAUTHENTICATED_TIMEOUT", default.unauthenticated_timeout),
            max_concurrent_calls,
            max_calls_per_user: number(reader, "max_calls_per_user", "TOOLWIRE_MAX_CALLS_PER_USER", max_concurrent_calls.div_ceil(2)),
            calls_per_turn: number(reader, "calls_per_turn", "TOOLWIRE_CALLS_PER_TURN", default.calls_per_turn),
            max_watches,
            max_watches_per_user: number(reader, "max_watches_per_user", "TOOLWIRE_MAX_WATCHES_PER_USER", max_watches.div_ceil(2)),
            max_transfers,
            max_transfers_per_user: number(reader, "max_transfers_per_user", "TOOLWIRE_MAX_TRANSFERS_PER_USER", max_transfers.div_ceil(4)),
            max_unfinished_requests,
            max_unfinished_per_user: number(reader, "max_unfinished_per_user", "TOOLWIRE_MAX_UNFINISHED_PER_USER", max_unfinished_requests.div_ceil(2)),
            request_timeout: length(reader, "request_timeout", "TOOLWIRE_REQUEST_TIMEOUT", default.request_timeout),
            stream_idle_timeout: length(reader, "stream_idle_timeout", "TOOLWIRE_STREAM_IDLE_TIMEOUT", default.stream_idle_timeout),
            max_unread_per_stream: bytes(reader, "max_unread_per_stream", "TOOLWIRE_MAX_UNREAD_PER_STREAM", default.max_unread_per_stream),
            max_unread_per_user: bytes(reader, "max_unread_per_user", "TOOLWIRE_MAX_UNREAD_PER_USER", max_unread.div_ceil(4)),
            max_unread,
            max_connection_age: length(reader, "max_connection_age", "TOOLWIRE_MAX_CONNECTION_AGE", default.max_connection_age),
        }
    }
}

impl ServerBounds {
    /// What may wait for slow readers.
    pub fn unread(&self) -> UnreadBounds {
        UnreadBounds {
            stream: self.max_unread_per_stream,
            user: self.max_unread_per_user,
            all: self.max_unread,
        }
    }
}

/// A setting that must not be zero.
fn positive<T: Value + PartialEq>(
    reader: &mut Reader,
    name: &str,
    variable: &str,
    default: T,
    zero: &T,
) -> T {
    let key = format!("server.limits.{name}");
    let value = reader.value(Setting::new(&key, variable), default);
    if value == *zero {
        reader.problem(&key, "must be more than zero: nothing could be served");
    }
    value
}

fn number<T: Value + PartialEq + Default>(reader: &mut Reader, name: &str, variable: &str, default: T) -> T {
    positive(reader, name, variable, default, &T::default())
}

fn length(reader: &mut Reader, name: &str, variable: &str, default: Duration) -> Duration {
    positive(reader, name, variable, default, &Duration::ZERO)
}

fn bytes<T>(reader: &mut Reader, name: &str, variable: &str, default: T) -> T
where
    T: Copy + TryFrom<u64> + TryInto<u64>,
{
    let size = Size(default.try_into().unwrap_or(u64::MAX));
    let Size(bytes) = positive(reader, name, variable, size, &Size(0));
    T::try_from(bytes).unwrap_or_else(|_| {
        reader.problem(&format!("server.limits.{name}"), format!("{bytes} bytes are too many"));
        default
    })
}

fn window(reader: &mut Reader, name: &str, variable: &str, default: u32) -> u32 {
    let bytes = bytes(reader, name, variable, default);
    if bytes > MAX_WINDOW {
        let what = "must be at most 2147483647 bytes, as HTTP/2 demands";
        reader.problem(&format!("server.limits.{name}"), what);
    }
    bytes
}
