//! The research tools (spec 004): browse, discover, drill down, filter.
//!
//! What they share stands here: the form of times, and where data came from.

use chrono::{DateTime, SecondsFormat, Utc};

use crate::contract::Provenance;

/// A time as the research tools state it: RFC 3339 in UTC, whole seconds.
#[allow(dead_code, reason = "used by the tools to come")]
fn time(instant: impl Into<DateTime<Utc>>) -> String {
    instant.into().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Data of one source, of the given day.
#[allow(dead_code, reason = "used by the tools to come")]
fn provenance(source: &str, as_of: impl Into<DateTime<Utc>>) -> Provenance {
    Provenance::of(format!("tool:{source}:v1"), as_of.into().format("%Y-%m-%d").to_string())
}
