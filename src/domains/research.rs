//! Research on Indian stocks (spec 004): its tools, and the sources they ask.

mod open;
pub mod proto;
mod service;
pub mod settings;
pub mod sources;
pub mod tools;

use std::sync::Arc;

use self::tools::{
    AddToWatchlist, BacktestFilter, BrowseNews, BrowseReddit, BrowseScreener, BrowseValuepickr,
    BrowseWatchlist, CheckForbidden, CheckWaitZone, CompareStocks, GetEarnings, GetFundamentals,
    GetInsiderTrading, GetInstitutionalHoldings, GetNews, GetRedditMentions, GetStockThesis, GetTechnicals,
    RemoveFromWatchlist,
};
use crate::{
    domain::Domain,
    tool::{Executor, erase},
};

/// The domain.
pub fn domain() -> Domain {
    Domain {
        tools: tools(),
        sources: sources::specs::ALL.into(),
        settings: vec![settings::section()],
        descriptors: proto::DESCRIPTORS,
        open: Box::new(open::open),
        ..Domain::new("research")
    }
}

fn tools() -> Vec<Arc<dyn Executor>> {
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
        // Spec 004's roadmap.
        erase(BacktestFilter),
        erase(CompareStocks),
        erase(GetEarnings),
        erase(GetInsiderTrading),
        erase(GetInstitutionalHoldings),
    ]
}
