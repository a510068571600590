//! The list of all tools. A tool is one file of logic, one manifest and one line here.

pub mod brokerage;
pub mod tool;

use std::sync::Arc;

use brokerage::{
    GetAccountSummary, GetActivity, GetFacts, GetPerformance, GetPerformanceWithTransfers, GetPositions,
    GetPositionsList, GetQuotes, GetSymbolPerformance, GetTransfers, RankPortfolio,
};
use tool::Executor;

/// Every tool that is always offered.
pub fn all() -> Vec<Arc<dyn Executor>> {
    vec![
        // Brokerage (spec 000).
        tool::erase(GetAccountSummary),
        tool::erase(GetActivity),
        tool::erase(GetFacts),
        tool::erase(GetPerformance),
        tool::erase(GetPositions),
        tool::erase(GetPositionsList),
        tool::erase(GetQuotes),
        tool::erase(GetTransfers),
        // Composites of these.
        tool::erase(GetPerformanceWithTransfers),
        tool::erase(GetSymbolPerformance),
        tool::erase(RankPortfolio),
    ]
}
