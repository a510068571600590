//! The research tools (spec 004): browse, discover, drill down, filter.
//!
//! What they share stands here: the form of times, and where data came from.

mod browse_news;
mod browse_reddit;
mod browse_valuepickr;
mod get_news;
mod get_reddit_mentions;
mod get_stock_thesis;
mod naming;
mod sentiment;
#[cfg(test)]
mod writings_tests;

use chrono::{DateTime, SecondsFormat, Utc};

pub use browse_news::BrowseNews;
pub use browse_reddit::BrowseReddit;
pub use browse_valuepickr::BrowseValuepickr;
pub use get_news::GetNews;
pub use get_reddit_mentions::GetRedditMentions;
pub use get_stock_thesis::GetStockThesis;

use super::argument::{one_of, required};
use crate::contract::Provenance;

/// A time as the research tools state it: RFC 3339 in UTC, whole seconds.
fn time(instant: impl Into<DateTime<Utc>>) -> String {
    instant.into().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Data of one source, of the given day.
fn provenance(source: &str, as_of: impl Into<DateTime<Utc>>) -> Provenance {
    Provenance::of(format!("tool:{source}:v1"), as_of.into().format("%Y-%m-%d").to_string())
}
