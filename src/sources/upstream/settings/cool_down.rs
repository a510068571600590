//! The length of the cool-down after a refusal.

use std::time::Duration;

use toolwire_config::{Reader, Setting};

/// How long a source is left alone: `[sources.cool_down]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoolDown {
    /// After it blocked us. `TOOLWIRE_SOURCES_COOL_DOWN_BLOCKED`, default `6h`.
    pub blocked: Duration,
    /// After it refused our credentials. `TOOLWIRE_SOURCES_COOL_DOWN_AUTH_FAILED`, default `30m`.
    pub auth_failed: Duration,
}

/// A cool-down has an end that a clock can show.
const LONGEST: Duration = Duration::from_hours(366 * 24);

impl Default for CoolDown {
    fn default() -> Self {
        Self { blocked: Duration::from_hours(6), auth_failed: Duration::from_mins(30) }
    }
}

impl CoolDown {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        let mut length = |key: &str, variable, default| {
            let length = reader.value(Setting::new(key, variable), default);
            if length > LONGEST {
                reader.problem(key, "must be at most a year; write 8784h or less");
            }
            length
        };
        Self {
            blocked: length(
                "sources.cool_down.blocked",
                "TOOLWIRE_SOURCES_COOL_DOWN_BLOCKED",
                default.blocked,
            ),
            auth_failed: length(
                "sources.cool_down.auth_failed",
                "TOOLWIRE_SOURCES_COOL_DOWN_AUTH_FAILED",
                default.auth_failed,
            ),
        }
    }
}
