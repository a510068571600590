//! How long a source is left alone after it refused us.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::{Problem, duration, setting::Setting};

/// How long a source is left alone: `[sources.cool_down]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoolDown {
    /// After it blocked us. `TOOLWIRE_SOURCES_COOL_DOWN_BLOCKED`, default `6h`.
    #[serde(with = "duration")]
    pub blocked: Duration,
    /// After it refused our credentials. `TOOLWIRE_SOURCES_COOL_DOWN_AUTH_FAILED`, default `30m`.
    #[serde(with = "duration")]
    pub auth_failed: Duration,
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("sources.cool_down.blocked", "TOOLWIRE_SOURCES_COOL_DOWN_BLOCKED"),
    Setting::new("sources.cool_down.auth_failed", "TOOLWIRE_SOURCES_COOL_DOWN_AUTH_FAILED"),
];

/// A cool-down has an end that a clock can show.
const LONGEST: Duration = Duration::from_hours(366 * 24);

impl Default for CoolDown {
    fn default() -> Self {
        Self { blocked: Duration::from_hours(6), auth_failed: Duration::from_mins(30) }
    }
}

impl CoolDown {
    pub(super) fn problems(self) -> Vec<Problem> {
        let lengths = [("blocked", self.blocked), ("auth_failed", self.auth_failed)];
        let too_long = lengths.into_iter().filter(|(_, length)| *length > LONGEST);
        let problem = |(name, _)| {
            Problem::new(format!("sources.cool_down.{name}"), "must be at most a year; write 8784h or less")
        };
        too_long.map(problem).collect()
    }
}
