//! The numbers of the transport, with the defaults that are promised to operators.
//!
//! Plain data: nothing here reads the environment or a file; `config/` of the crate does that.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// Everything `serve` and `stack` need to know in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Connections served at once; further ones wait in the kernel's accept queue.
    pub max_connections: usize,
    /// Requests in flight at once over all connections; further ones are refused with UNAVAILABLE.
    pub max_concurrent_requests: usize,
    /// What a refused caller is told to wait before it tries again.
    pub overload_retry_after: Duration,
    /// The longest any capped call may last, whatever its `grpc-timeout` says.
    pub server_cap: Duration,
    /// How long a new connection may take to say its HTTP/2 preface, and a refused one to leave.
    pub preface_timeout: Duration,
    /// HTTP/2 settings.
    pub http2: Http2,
    /// When a connection has lived long enough.
    pub age: Age,
    /// How the server leaves.
    pub drain: Drain,
}

/// HTTP/2 settings of every connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http2 {
    /// `SETTINGS_MAX_CONCURRENT_STREAMS`.
    pub max_concurrent_streams: u32,
    /// Receive window of a stream, in bytes.
    pub stream_window: u32,
    /// Receive window of a connection, in bytes.
    pub connection_window: u32,
    /// Largest header list that is accepted, in bytes; a larger one is answered with HTTP 431.
    pub max_header_list_size: u32,
    /// Bytes of one stream that may wait in HTTP/2 for a slow reader.
    pub max_send_buffer_size: usize,
    /// Time between two keepalive pings.
    pub keepalive_interval: Duration,
    /// How long a ping may stay unanswered before the connection is closed.
    pub keepalive_timeout: Duration,
    /// Streams that a peer may open and reset before they are accepted (rapid reset).
    pub max_pending_accept_reset_streams: usize,
    /// Streams that may be reset because the peer broke the protocol (RUSTSEC-2024-0003).
    pub max_local_error_reset_streams: usize,
}

/// Age of connections: an old one is told to go, so that load spreads over new instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Age {
    /// Age at which GOAWAY is sent, before jitter.
    pub max: Duration,
    /// Share of `max` by which a connection's own age differs at most, either way: 0.1 is ±10 %.
    pub jitter: f64,
    /// How long calls in flight may go on after GOAWAY before the connection is dropped.
    pub grace: Duration,
}

/// The two bounds of a shutdown, both counted from its signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drain {
    /// How long the server goes on as before, so that balancers notice that health says `NOT_SERVING`.
    pub lame_duck: Duration,
    /// When whatever is left is dropped.
    pub forced_end: Duration,
}

impl Age {
    /// This connection's own age: `max` ± `jitter`, so that a fleet's connections do not end together.
    pub(super) fn jittered(&self) -> Duration {
        // Every `RandomState` has keys of its own: enough chance to spread ages, without a dependency.
        let random = RandomState::new().hash_one(0);
        self.at(f64::from(u32::try_from(random >> 32).unwrap_or(0)) / f64::from(u32::MAX))
    }

    /// The age at `position` in the allowed range: 0 is the shortest, 1 the longest.
    fn at(&self, position: f64) -> Duration {
        self.max.mul_f64((1.0 + self.jitter * (2.0 * position - 1.0)).max(0.0))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_connections: 10_000,
            max_concurrent_requests: 1_024,
            overload_retry_after: Duration::from_secs(1),
            server_cap: Duration::from_mins(2),
            preface_timeout: Duration::from_secs(5),
            http2: Http2::default(),
            age: Age::default(),
            drain: Drain::default(),
        }
    }
}

impl Default for Http2 {
    fn default() -> Self {
        Self {
            max_concurrent_streams: 100,
            stream_window: 64 * 1024,
            connection_window: 1024 * 1024,
            max_header_list_size: 8 * 1024,
            max_send_buffer_size: 64 * 1024,
            keepalive_interval: Duration::from_secs(20),
            keepalive_timeout: Duration::from_secs(10),
            max_pending_accept_reset_streams: 20,
            max_local_error_reset_streams: 1_024,
        }
    }
}

impl Default for Age {
    fn default() -> Self {
        // The grace exceeds the server cap, so that no capped call is cut by age.
        Self { max: Duration::from_mins(30), jitter: 0.1, grace: Duration::from_secs(150) }
    }
}

impl Default for Drain {
    fn default() -> Self {
        Self { lame_duck: Duration::from_secs(5), forced_end: Duration::from_secs(25) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_stays_within_its_jitter() {
        let age = Age { max: Duration::from_secs(1_001), jitter: 0.1, grace: Duration::ZERO };
        assert_eq!(age.at(0.5), age.max);
        assert!(age.at(0.0) < age.at(1.0));
        for _ in 0..1_000 {
            let jittered = age.jittered();
            assert!((900.0..=1_102.0).contains(&jittered.as_secs_f64()), "{jittered:?}");
        }
    }

    #[test]
    fn ages_differ() {
        let age = Age::default();
        let ages: std::collections::HashSet<_> = (0..100).map(|_| age.jittered()).collect();
        assert!(ages.len() > 90, "only {} different ages", ages.len());
    }

    #[test]
    fn a_capped_call_outlives_the_age_of_its_connection() {
        let config = Config::default();
        assert!(config.age.grace > config.server_cap);
        assert!(config.drain.forced_end > config.drain.lame_duck);
    }
}
