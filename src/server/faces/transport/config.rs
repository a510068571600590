//! The numbers of the transport: those of the operator's configuration, and those that nobody sets.
//!
//! Plain data: nothing here reads the environment or a file, and defaults of settings stand in
//! `toolwire-config` alone.

use std::time::Duration;

use super::protocols::{Either, HTTP_HEADERS, Protocols};
use toolwire_config::{self as config, Network};

/// How much longer than the longest call a connection goes on after its age is exceeded.
const AGE_MARGIN: Duration = Duration::from_secs(30);

/// Everything `serve` and `stack` need to know in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Connections served at once; further ones wait in the kernel's accept queue.
    pub max_connections: usize,
    /// Connections of one peer; further ones are closed at once.
    pub max_connections_per_peer: usize,
    /// Peers that this bound is not for.
    pub trusted_peers: Vec<Network>,
    /// How long a connection without credentials may be silent when room is short.
    pub unauthenticated_timeout: Duration,
    /// Requests in flight at once over all connections; further ones are refused with UNAVAILABLE.
    pub max_concurrent_requests: usize,
    /// Those of one user; further ones are refused with `RESOURCE_EXHAUSTED`. The same holds for what follows.
    pub max_calls_per_user: usize,
    /// Calls of one user that begin before the others have their turn, while several call.
    pub calls_per_turn: usize,
    pub max_watches: usize,
    pub max_watches_per_user: usize,
    /// Uploads and downloads of documents at once.
    pub max_transfers: usize,
    pub max_transfers_per_user: usize,
    /// Requests whose message is not complete.
    pub max_unfinished_requests: usize,
    /// Those of one user, or of one peer if the method is public.
    pub max_unfinished_per_user: usize,
    pub max_request_bytes: usize,
    /// How long a request may take to be complete.
    pub request_timeout: Duration,
    /// How long a client stream may bring nothing.
    pub stream_idle_timeout: Duration,
    /// What a refused caller is told to wait before it tries again.
    pub overload_retry_after: Duration,
    /// The longest any capped call may last, whatever its `grpc-timeout` says.
    pub server_cap: Duration,
    /// How long a new connection may take to say its HTTP/2 preface, and a refused one to leave.
    pub preface_timeout: Duration,
    pub speech: Protocols,
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
        self.at(fastrand::f64())
    }

    /// The age at `position` in the allowed range: 0 is the shortest, 1 the longest.
    fn at(&self, position: f64) -> Duration {
        self.max.mul_f64((1.0 + self.jitter * (2.0 * position - 1.0)).max(0.0))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::from(&config::Server::default())
    }
}

impl From<&config::Server> for Config {
    fn from(server: &config::Server) -> Self {
        let limits = &server.limits;
        Self {
            max_connections: limits.max_connections,
            max_connections_per_peer: limits.max_connections_per_peer,
            trusted_peers: limits.trusted_peers.clone(),
            unauthenticated_timeout: limits.unauthenticated_timeout,
            max_concurrent_requests: limits.max_concurrent_calls,
            max_calls_per_user: limits.max_calls_per_user,
            calls_per_turn: limits.calls_per_turn,
            max_watches: limits.max_watches,
            max_watches_per_user: limits.max_watches_per_user,
            max_transfers: limits.max_transfers,
            max_transfers_per_user: limits.max_transfers_per_user,
            max_unfinished_requests: limits.max_unfinished_requests,
            max_unfinished_per_user: limits.max_unfinished_per_user,
            max_request_bytes: limits.max_request_bytes,
            request_timeout: limits.request_timeout,
            stream_idle_timeout: limits.stream_idle_timeout,
            overload_retry_after: Duration::from_secs(1),
            server_cap: server.deadline_cap,
            preface_timeout: limits.preface_timeout,
            speech: Protocols::Http2,
            http2: Http2::from(limits),
            age: Age {
                max: limits.max_connection_age,
                jitter: 0.1,
                // No call that the cap allows is cut by the age of its connection.
                grace: server.deadline_cap + AGE_MARGIN,
            },
            drain: Drain { lame_duck: server.drain.lame_duck, forced_end: server.drain.forced_end },
        }
    }
}

impl Config {
    /// The same for a listener on which HTTP/1 is spoken, too, with at most so many connections, of one peer the same
    /// share of them as elsewhere.
    pub(super) fn for_http(self, most: usize, bounds: Either) -> Self {
        let max_connections = self.max_connections.min(most).max(1);
        let most_of_peer = self.max_connections_per_peer * max_connections / self.max_connections.max(1);
        Self {
            max_connections,
            max_connections_per_peer: most_of_peer.max(1),
            speech: Protocols::Either(bounds),
            http2: Http2 { max_header_list_size: HTTP_HEADERS, ..self.http2 },
            ..self
        }
    }
}

impl Default for Http2 {
    fn default() -> Self {
        Self::from(&config::ServerBounds::default())
    }
}

impl From<&config::ServerBounds> for Http2 {
    fn from(limits: &config::ServerBounds) -> Self {
        Self {
            max_concurrent_streams: limits.max_concurrent_streams,
            stream_window: limits.stream_window,
            connection_window: limits.connection_window,
            max_header_list_size: limits.max_header_list,
            max_send_buffer_size: 64 * 1024,
            keepalive_interval: limits.keepalive_interval,
            keepalive_timeout: limits.keepalive_timeout,
            max_pending_accept_reset_streams: 20,
            max_local_error_reset_streams: 1_024,
        }
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
    fn http_has_connections_of_its_own_and_a_peer_its_share_of_them() {
        let bounds = Either::from(&config::Http::default());
        let config = Config::default().for_http(1_000, bounds);
        assert_eq!((config.max_connections, config.max_connections_per_peer), (1_000, 750));
        assert_eq!(Config::default().for_http(0, bounds).max_connections, 1);
    }

    #[test]
    fn ages_differ() {
        let age = Config::default().age;
        let ages: std::collections::HashSet<_> = (0..100).map(|_| age.jittered()).collect();
        assert!(ages.len() > 90, "only {} different ages", ages.len());
    }

    #[test]
    fn the_age_of_a_connection_cuts_no_call_that_the_cap_allows() {
        for deadline_cap in [Duration::from_mins(2), Duration::from_mins(10)] {
            let config = Config::from(&config::Server { deadline_cap, ..config::Server::default() });
            assert!(config.age.grace > config.server_cap);
        }
    }
}
