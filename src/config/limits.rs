//! What one client may take of the server.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Problem, duration, setting::Setting, size};

/// The largest window that HTTP/2 knows.
const MAX_WINDOW: u32 = i32::MAX as u32;

/// What one client may take: `[server.limits]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Streams on one connection at once. `TOOLWIRE_MAX_CONCURRENT_STREAMS`, default 100.
    pub max_concurrent_streams: u32,
    /// Bytes that a peer may send ahead on one stream. `TOOLWIRE_STREAM_WINDOW`, default `64KiB`.
    #[serde(with = "size")]
    pub stream_window: u32,
    /// Bytes that a peer may send ahead on one connection. `TOOLWIRE_CONNECTION_WINDOW`, default `1MiB`.
    #[serde(with = "size")]
    pub connection_window: u32,
    /// Bytes of headers of one request. `TOOLWIRE_MAX_HEADER_LIST`, default `8KiB`.
    #[serde(with = "size")]
    pub max_header_list: u32,
    /// Bytes of one request message. `TOOLWIRE_MAX_REQUEST_BYTES`, default `1MiB`.
    #[serde(with = "size")]
    pub max_request_bytes: usize,
    /// How often a silent peer is asked whether it lives. `TOOLWIRE_KEEPALIVE_INTERVAL`, default `20s`.
    #[serde(with = "duration")]
    pub keepalive_interval: Duration,
    /// How long its answer may take. `TOOLWIRE_KEEPALIVE_TIMEOUT`, default `10s`.
    #[serde(with = "duration")]
    pub keepalive_timeout: Duration,
    /// How long a new connection may take to speak HTTP/2. `TOOLWIRE_PREFACE_TIMEOUT`, default `5s`.
    #[serde(with = "duration")]
    pub preface_timeout: Duration,
    /// Connections at once. `TOOLWIRE_MAX_CONNECTIONS`, default 10000.
    pub max_connections: usize,
    /// Calls at once, over all connections. `TOOLWIRE_MAX_CONCURRENT_CALLS`, default 1024.
    pub max_concurrent_calls: usize,
    /// When a connection is asked to move on. `TOOLWIRE_MAX_CONNECTION_AGE`, default `30m`.
    #[serde(with = "duration")]
    pub max_connection_age: Duration,
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("server.limits.max_concurrent_streams", "TOOLWIRE_MAX_CONCURRENT_STREAMS"),
    Setting::new("server.limits.stream_window", "TOOLWIRE_STREAM_WINDOW"),
    Setting::new("server.limits.connection_window", "TOOLWIRE_CONNECTION_WINDOW"),
    Setting::new("server.limits.max_header_list", "TOOLWIRE_MAX_HEADER_LIST"),
    Setting::new("server.limits.max_request_bytes", "TOOLWIRE_MAX_REQUEST_BYTES"),
    Setting::new("server.limits.keepalive_interval", "TOOLWIRE_KEEPALIVE_INTERVAL"),
    Setting::new("server.limits.keepalive_timeout", "TOOLWIRE_KEEPALIVE_TIMEOUT"),
    Setting::new("server.limits.preface_timeout", "TOOLWIRE_PREFACE_TIMEOUT"),
    Setting::new("server.limits.max_connections", "TOOLWIRE_MAX_CONNECTIONS"),
    Setting::new("server.limits.max_concurrent_calls", "TOOLWIRE_MAX_CONCURRENT_CALLS"),
    Setting::new("server.limits.max_connection_age", "TOOLWIRE_MAX_CONNECTION_AGE"),
];

impl Default for Limits {
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

impl Limits {
    /// What its values cannot mean, by key.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let is_zero = [
            ("max_concurrent_streams", self.max_concurrent_streams == 0),
            ("stream_window", self.stream_window == 0),
            ("connection_window", self.connection_window == 0),
            ("max_header_list", self.max_header_list == 0),
            ("max_request_bytes", self.max_request_bytes == 0),
            ("keepalive_interval", self.keepalive_interval.is_zero()),
            ("keepalive_timeout", self.keepalive_timeout.is_zero()),
            ("preface_timeout", self.preface_timeout.is_zero()),
            ("max_connections", self.max_connections == 0),
            ("max_concurrent_calls", self.max_concurrent_calls == 0),
            ("max_connection_age", self.max_connection_age.is_zero()),
        ];
        let is_too_large = [
            ("stream_window", self.stream_window > MAX_WINDOW),
            ("connection_window", self.connection_window > MAX_WINDOW),
        ];
        let zero = problems(&is_zero, "must be more than zero: nothing could be served");
        zero.chain(problems(&is_too_large, "must be at most 2147483647 bytes, as HTTP/2 demands")).collect()
    }
}

fn problems<'a>(checks: &'a [(&str, bool)], what: &'a str) -> impl Iterator<Item = Problem> + 'a {
    let broken = checks.iter().filter(|(_, is_broken)| *is_broken);
    broken.map(move |(key, _)| Problem::new(format!("server.limits.{key}"), what))
}
