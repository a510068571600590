//! The list of all tools. A tool is one file of logic, one manifest and one line here.

mod argument;
pub mod brokerage;
pub mod diagnostics;
pub mod research;
pub mod tool;

use std::sync::Arc;

use brokerage::{
    GetAccountSummary, GetActivity, GetFacts, GetPerformance, GetPerformanceWithTransfers, GetPositions,
    GetPositionsList, GetQuotes, GetSymbolPerformance, GetTransfers, RankPortfolio,
};
use diagnostics::{
    fail::DebugFail, nested::DebugNested, panic::DebugPanic, sleep::DebugSleep, stream::DebugStream,
    write::DebugWrite,
};
use research::{AddToWatchlist, BrowseScreener, BrowseWatchlist, RemoveFromWatchlist};
use tool::{Executor, erase};

/// Every tool that is always offered.
pub fn all() -> Vec<Arc<dyn Executor>> {
    vec![
        // Brokerage (spec 000).
        erase(GetAccountSummary),
        erase(GetActivity),
        erase(GetFacts),
        erase(GetPerformance),
        erase(GetPositions),
        erase(GetPositionsList),
        erase(GetQuotes),
        erase(GetTransfers),
        // Composites of these.
        erase(GetPerformanceWithTransfers),
        erase(GetSymbolPerformance),
        erase(RankPortfolio),
        // Research: screens and the watch-list (spec 004).
        erase(AddToWatchlist),
        erase(BrowseScreener),
        erase(BrowseWatchlist),
        erase(RemoveFromWatchlist),
    ]
}

/// The tools for checking the service itself.
pub fn diagnostics() -> Vec<Arc<dyn Executor>> {
    vec![
        erase(DebugFail),
        erase(DebugNested),
        erase(DebugPanic),
        erase(DebugSleep),
        erase(DebugStream),
        erase(DebugWrite::default()),
    ]
}
