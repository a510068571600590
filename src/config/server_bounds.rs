//! What one client may take of the server.

use std::time::Duration;

use super::{reader::Reader, setting::Setting, size::Size, value::Value};

/// The largest window that HTTP/2 knows.
const MAX_WINDOW: u32 = i32::MAX as u32;

/// What one client may take: `[server.limits]`.
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
    /// Connections at once. `TOOLWIRE_MAX_CONNECTIONS`, default 10000.
    pub max_connections: usize,
    /// Calls at once, over all connections. `TOOLWIRE_MAX_CONCURRENT_CALLS`, default 1024.
    pub max_concurrent_calls: usize,
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
            max_concurrent_calls: 1_024,
            max_connection_age: Duration::from_mins(30),
        }
    }
}

impl ServerBounds {
    #[rustfmt::skip]
    pub(super) fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        Self {
            max_concurrent_streams: number(reader, "max_concurrent_streams", "TOOLWIRE_MAX_CONCURRENT_STREAMS", default.max_concurrent_streams),
            stream_window: window(reader, "stream_window", "TOOLWIRE_STREAM_WINDOW", default.stream_window),
            connection_window: window(reader, "connection_window", "TOOLWIRE_CONNECTION_WINDOW", default.connection_window),
            max_header_list: bytes(reader, "max_header_list", "TOOLWIRE_MAX_HEADER_LIST", default.max_header_list),
            max_request_bytes: bytes(reader, "max_request_bytes", "TOOLWIRE_MAX_REQUEST_BYTES", default.max_request_bytes),
            keepalive_interval: length(reader, "keepalive_interval", "TOOLWIRE_KEEPALIVE_INTERVAL", default.keepalive_interval),
            keepalive_timeout: length(reader, "keepalive_timeout", "TOOLWIRE_KEEPALIVE_TIMEOUT", default.keepalive_timeout),
            preface_timeout: length(reader, "preface_timeout", "TOOLWIRE_PREFACE_TIMEOUT", default.preface_timeout),
            max_connections: number(reader, "max_connections", "TOOLWIRE_MAX_CONNECTIONS", default.max_connections),
            max_concurrent_calls: number(reader, "max_concurrent_calls", "TOOLWIRE_MAX_CONCURRENT_CALLS", default.max_concurrent_calls),
            max_connection_age: length(reader, "max_connection_age", "TOOLWIRE_MAX_CONNECTION_AGE", default.max_connection_age),
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
