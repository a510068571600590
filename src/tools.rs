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
use research::{
    AddToWatchlist, BacktestFilter, BrowseNews, BrowseReddit, BrowseScreener, BrowseValuepickr,
    BrowseWatchlist, CheckForbidden, CheckWaitZone, CompareStocks, GetEarnings, GetFundamentals,
    GetInsiderTrading, GetInstitutionalHoldings, GetNews, GetRedditMentions, GetStockThesis, GetTechnicals,
    RemoveFromWatchlist,
};
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
        // Research (spec 004): discovery.
        erase(BrowseNews),
        erase(BrowseReddit),
        erase(BrowseScreener),
        erase(BrowseValuepickr),
        erase(BrowseWatchlist),
        erase(AddToWatchlist),
        erase(RemoveFromWatchlist),
        // Research: one stock.
        erase(GetFundamentals),
        erase(GetNews),
        erase(GetRedditMentions),
        erase(GetStockThesis),
        // Research: filters.
        erase(CheckForbidden),
        erase(CheckWaitZone),
        erase(GetTechnicals),
        // Research: 004's roadmap.
        erase(BacktestFilter),
        erase(CompareStocks),
        erase(GetEarnings),
        erase(GetInsiderTrading),
        erase(GetInstitutionalHoldings),
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
