//! The limits and durations of the transport: those of the operator's configuration, and constants.
//!
//! Plain data: nothing here reads the environment or a file, and defaults of settings stand in
//! `toolwire-config` alone.

use std::time::Duration;

use super::protocols::{Either, HTTP_HEADERS, Protocols};
use toolwire_config::{self as config, Drain, ServerBounds};

/// How much longer than the longest call a connection goes on after its age is exceeded.
const AGE_MARGIN: Duration = Duration::from_secs(30);

/// The settings of `serve` and `stack`.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The limits of this listener.
    pub limits: ServerBounds,
    /// The retry delay that a caller gets who is refused because of overload.
    pub overload_retry_after: Duration,
    /// The longest any capped call may last, whatever its `grpc-timeout` says.
    pub server_cap: Duration,
    pub protocols: Protocols,
    /// When a connection is closed for its age.
    pub age: Age,
    /// How the server drains at shutdown.
    pub drain: Drain,
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
        Self {
            limits: server.limits.clone(),
            overload_retry_after: Duration::from_secs(1),
            server_cap: server.deadline_cap,
            protocols: Protocols::Http2,
            age: Age {
                max: server.limits.max_connection_age,
                jitter: 0.1,
                // No call that the cap allows is cut by the age of its connection.
                grace: server.deadline_cap + AGE_MARGIN,
            },
            drain: server.drain.clone(),
        }
    }
}

impl Config {
    /// This configuration for a listener that also speaks HTTP/1, with at most `most` connections.
    pub(super) fn for_http(self, most: usize, bounds: Either) -> Self {
        let most = self.limits.max_connections.min(most).max(1);
        let limits = ServerBounds { max_header_list: HTTP_HEADERS, ..self.limits };
        Self { limits, protocols: Protocols::Either(bounds), ..self }.with_connections(most)
    }

    /// This configuration with `max_connections`; one peer keeps its share of them.
    pub(super) fn with_connections(mut self, max_connections: usize) -> Self {
        let limits = &mut self.limits;
        let of_peer =
            limits.max_connections_per_peer.saturating_mul(max_connections) / limits.max_connections.max(1);
        (limits.max_connections, limits.max_connections_per_peer) = (max_connections, of_peer.max(1));
        self
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
        let limits = Config::default().for_http(1_000, bounds).limits;
        assert_eq!((limits.max_connections, limits.max_connections_per_peer), (1_000, 750));
        assert_eq!(Config::default().for_http(0, bounds).limits.max_connections, 1);
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
