//! The research tools: browse, discover, drill down, filter.
//!
//! What they share stands here: the form of times, provenance and warnings.

mod add_to_watchlist;
pub mod backtest;
mod backtest_filter;
mod browse_news;
mod browse_reddit;
mod browse_screener;
mod browse_valuepickr;
mod browse_watchlist;
mod check_forbidden;
mod check_wait_zone;
mod compare_stocks;
mod figure;
pub mod forbidden_stocks;
mod get_earnings;
mod get_fundamentals;
mod get_insider_trading;
mod get_institutional_holdings;
mod get_news;
mod get_reddit_mentions;
mod get_stock_thesis;
mod get_technicals;
pub mod indicators;
mod mention;
mod naming;
mod opinion;
mod outside;
mod profiles;
mod remove_from_watchlist;
mod sentiment;
mod symbol;
pub mod wait_zone;
mod watchlist;
#[cfg(test)]
mod writings_tests;

use std::{sync::Arc, time::SystemTime};

use chrono::{DateTime, NaiveDate, Utc};

pub use add_to_watchlist::AddToWatchlist;
pub use backtest_filter::BacktestFilter;
pub use browse_news::BrowseNews;
pub use browse_reddit::BrowseReddit;
pub use browse_screener::BrowseScreener;
pub use browse_valuepickr::BrowseValuepickr;
pub use browse_watchlist::BrowseWatchlist;
pub use check_forbidden::CheckForbidden;
pub use check_wait_zone::CheckWaitZone;
pub use compare_stocks::CompareStocks;
pub use get_earnings::GetEarnings;
pub use get_fundamentals::GetFundamentals;
pub use get_insider_trading::GetInsiderTrading;
pub use get_institutional_holdings::GetInstitutionalHoldings;
pub use get_news::GetNews;
pub use get_reddit_mentions::GetRedditMentions;
pub use get_stock_thesis::GetStockThesis;
pub(super) use get_stock_thesis::mood_counts;
pub use get_technicals::GetTechnicals;
pub(super) use mention::{ORDINARY, mentions};
pub(super) use naming::Naming;
pub use profiles::Profiles;
pub use remove_from_watchlist::RemoveFromWatchlist;

use toolwire_base::clock;
use toolwire_contract::{Provenance, ToolError};
use toolwire_sources::upstream::http::Failure;
use toolwire_tool::{
    Executor,
    argument::{one_of, reject, required},
    erase,
};

/// The tools that the domain offers.
pub(super) fn all() -> Vec<Arc<dyn Executor>> {
    vec![
        // Discovery.
        erase(BrowseNews),
        erase(BrowseReddit),
        erase(BrowseScreener),
        erase(BrowseValuepickr),
        erase(BrowseWatchlist),
        erase(AddToWatchlist),
        erase(RemoveFromWatchlist),
        // One stock.
        erase(GetFundamentals),
        erase(GetNews),
        erase(GetRedditMentions),
        erase(GetStockThesis),
        // Filters.
        erase(CheckForbidden),
        erase(CheckWaitZone),
        erase(GetTechnicals),
        erase(BacktestFilter),
        erase(CompareStocks),
        erase(GetEarnings),
        erase(GetInsiderTrading),
        erase(GetInstitutionalHoldings),
    ]
}

/// A time as the research tools state it: RFC 3339 in UTC, whole seconds.
fn time(instant: impl Into<DateTime<Utc>>) -> String {
    clock::rfc3339(instant.into().into())
}

/// The provenance of data of one source, by the day of an instant in UTC.
fn provenance(source: &str, as_of: impl Into<DateTime<Utc>>) -> Provenance {
    Provenance::of(format!("tool:{source}:v1"), as_of.into().format("%Y-%m-%d").to_string())
}

/// The provenance of data of one source, by a day at its exchange.
fn provenance_on(source: &str, day: NaiveDate) -> Provenance {
    Provenance::of(format!("tool:{source}:v1"), day.to_string())
}

/// The prefix of the warning that a source contradicts itself. By it a tool that calls another knows not to conclude
/// anything from the figures, whose messages have no field for this.
const INSUFFICIENT: &str = "insufficient data: ";

/// The warning that a source contradicts itself.
fn insufficient(contradiction: &str) -> String {
    format!("{INSUFFICIENT}{contradiction}")
}

/// The warnings among these that a source contradicts itself.
fn contradictions(provenance: &Provenance) -> Vec<String> {
    let warnings = provenance.warnings.iter();
    warnings.filter(|warning| warning.starts_with(INSUFFICIENT)).cloned().collect()
}

/// The warning that data was recorded: a refresh does not make it newer.
fn recorded_warning(at: Option<SystemTime>) -> Option<String> {
    let day = DateTime::<Utc>::from(at?).format("%Y-%m-%d");
    Some(format!("This is embedded data, recorded on {day}: it is never newer, whenever it was read."))
}

/// Truncates a list to the limit of the call, with a warning that states how many items there are.
fn truncate_list<T>(items: &mut Vec<T>, limit: Option<i32>, what: &str, provenance: &mut Provenance) {
    let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else { return };
    let all = items.len();
    if limit < all {
        items.truncate(limit);
        provenance.warn_cut(format!("{limit} of {all} {what} are shown."));
    }
}

/// The warning that a part of a result is missing. The cause is for the operator, in the log.
fn warn_missing(part: &str, failure: Failure) -> String {
    tracing::warn!(
        source = failure.source_title,
        detail = &*failure.detail,
        "{part} is missing from a result"
    );
    let mut letters = part.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let part: String = first.chain(letters).collect();
    format!("{part} is missing: {}", ToolError::from(failure).message)
}
