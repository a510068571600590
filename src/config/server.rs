//! Settings of the gRPC server.

use std::{net::SocketAddr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{Limits, Problem, duration, setting::Setting};

/// The gRPC server: `[server]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Where to listen; port 0 takes a free one. `--listen`, `TOOLWIRE_LISTEN`, default `127.0.0.1:50051`.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// Whether another process may listen on the same address, for a restart without a gap. `--reuse-port`,
    /// `TOOLWIRE_REUSE_PORT`, default `false`.
    pub reuse_port: bool,
    /// Whether reflection is served. `TOOLWIRE_REFLECTION`, default `true`.
    pub reflection: bool,
    /// Whether the diagnostics tools are offered. `--diagnostics`, `TOOLWIRE_DIAGNOSTICS`, default `false`.
    pub diagnostics: bool,
    /// No call lasts longer. `TOOLWIRE_DEADLINE_CAP`, default `2m`.
    #[serde(with = "duration")]
    pub deadline_cap: Duration,
    /// How the server ends.
    pub drain: Drain,
    /// What one client may take.
    pub limits: Limits,
}

/// How the server ends: `[server.drain]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drain {
    /// How long new calls are still served after health says `NOT_SERVING`. `TOOLWIRE_DRAIN_LAME_DUCK`, default `5s`.
    #[serde(with = "duration")]
    pub lame_duck: Duration,
    /// When what still runs is cut off. `TOOLWIRE_DRAIN_FORCED_END`, default `25s`.
    #[serde(with = "duration")]
    pub forced_end: Duration,
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("server.listen", "TOOLWIRE_LISTEN").flag("--listen"),
    Setting::new("server.reuse_port", "TOOLWIRE_REUSE_PORT").flag("--reuse-port"),
    Setting::new("server.reflection", "TOOLWIRE_REFLECTION"),
    Setting::new("server.diagnostics", "TOOLWIRE_DIAGNOSTICS").flag("--diagnostics"),
    Setting::new("server.deadline_cap", "TOOLWIRE_DEADLINE_CAP"),
    Setting::new("server.drain.lame_duck", "TOOLWIRE_DRAIN_LAME_DUCK"),
    Setting::new("server.drain.forced_end", "TOOLWIRE_DRAIN_FORCED_END"),
];

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 50_051)),
            reuse_port: false,
            reflection: true,
            diagnostics: false,
            deadline_cap: Duration::from_mins(2),
            drain: Drain::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for Drain {
    fn default() -> Self {
        Self { lame_duck: Duration::from_secs(5), forced_end: Duration::from_secs(25) }
    }
}

impl Server {
    /// What its values cannot mean, by key.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = self.limits.problems();
        if self.deadline_cap.is_zero() {
            problems.push(Problem::new("server.deadline_cap", "must be longer than zero"));
        }
        if self.drain.forced_end < self.drain.lame_duck {
            let what = "must not be shorter than server.drain.lame_duck";
            problems.push(Problem::new("server.drain.forced_end", what));
        }
        problems
    }
}

pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numeric.as_deref().unwrap_or(&text).parse().map_err(|_| {
        D::Error::custom(format!(
            "expected an address and a port such as 127.0.0.1:50051, but found {text:?}"
        ))
    })
}
