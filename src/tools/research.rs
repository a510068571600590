//! The research tools (spec 004): browse, discover, drill down, filter.
//!
//! What they share stands here: the form of times, and where data came from.

mod add_to_watchlist;
mod browse_screener;
mod browse_watchlist;
mod placeholders;
mod remove_from_watchlist;
mod watchlist;

use chrono::{DateTime, SecondsFormat, Utc};

pub use add_to_watchlist::AddToWatchlist;
pub use browse_screener::BrowseScreener;
pub use browse_watchlist::BrowseWatchlist;
pub use placeholders::*;
pub use remove_from_watchlist::RemoveFromWatchlist;

use super::argument::required;
use crate::contract::Provenance;

/// A time as the research tools state it: RFC 3339 in UTC, whole seconds.
fn time(instant: impl Into<DateTime<Utc>>) -> String {
    instant.into().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Data of one source, of the given day.
fn provenance(source: &str, as_of: impl Into<DateTime<Utc>>) -> Provenance {
    Provenance::of(format!("tool:{source}:v1"), as_of.into().format("%Y-%m-%d").to_string())
}
