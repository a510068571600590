//! The limits and durations of the transport, from the operator's configuration and constants.
//!
//! Plain data: nothing here reads the environment or a file. The defaults of settings are in `toolwire-config`.

use std::time::Duration;

use super::protocols::{HTTP_HEADERS, HttpLimits, Protocols};
use toolwire_base::backlog::Backlog;
use toolwire_config::{self as config, Drain, ServerBounds};

/// The time beyond the longest call for which a connection stays open after its maximum age.
const AGE_MARGIN: Duration = Duration::from_secs(30);

/// The settings of `serve` and `stack`.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub limits: ServerBounds,
    /// The retry delay of requests that are refused because of overload.
    pub overload_retry_after: Duration,
    /// Maximum duration of a capped call, whatever its `grpc-timeout`.
    pub server_cap: Duration,
    pub protocols: Protocols,
    pub age: Age,
    /// The phases of a shutdown.
    pub drain: Drain,
    /// What waits for peers, of all listeners together.
    pub backlog: Backlog,
}

/// The age of connections: old ones are closed, so that load spreads over new instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Age {
    /// The age at which GOAWAY is sent, before jitter.
    pub max: Duration,
    /// Maximum deviation from `max` as a fraction, in both directions: 0.1 is ±10 %.
    pub jitter: f64,
    /// The time that calls in flight have after GOAWAY before the connection is dropped.
    pub grace: Duration,
}

impl Age {
    /// The age of one connection: `max` ± `jitter`, so that connections do not end together.
    pub(super) fn with_jitter(&self) -> Duration {
        self.at(fastrand::f64())
    }

    /// The age at `position` in its range: 0 is the shortest, 1 the longest.
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
                // Longer than any capped call, so that the age of a connection cuts none.
                grace: server.deadline_cap + AGE_MARGIN,
            },
            drain: server.drain.clone(),
            backlog: Backlog::new(server.limits.backlog()),
        }
    }
}

impl Config {
    /// Adapts the configuration to a listener that also speaks HTTP/1, with at most `most` connections.
    pub(super) fn for_http(self, most: usize, bounds: HttpLimits) -> Self {
        let most = self.limits.max_connections.min(most).max(1);
        let limits = ServerBounds { max_header_list: HTTP_HEADERS, ..self.limits };
        Self { limits, protocols: Protocols::Both(bounds), ..self }.with_connections(most)
    }

    /// Sets `max_connections`, and scales the limit per peer in proportion.
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
            let jittered = age.with_jitter();
            assert!((900.0..=1_102.0).contains(&jittered.as_secs_f64()), "{jittered:?}");
        }
    }

    #[test]
    fn http_has_connections_of_its_own_and_a_peer_its_share_of_them() {
        let bounds = HttpLimits::from(&config::Http::default());
        let limits = Config::default().for_http(1_000, bounds).limits;
        assert_eq!((limits.max_connections, limits.max_connections_per_peer), (1_000, 750));
        assert_eq!(Config::default().for_http(0, bounds).limits.max_connections, 1);
    }

    #[test]
    fn ages_differ() {
        let age = Config::default().age;
        let ages: std::collections::HashSet<_> = (0..100).map(|_| age.with_jitter()).collect();
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
