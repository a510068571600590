//! Names of tools that other branches bring, for the typed service alone: none is offered. Delete a line when its tool is
//! there, and this file, with its two lines in `research.rs`, after the last.

use crate::{
    context::{ToolContext, Unfinished},
    contract::{ErrorCode, ToolError, proto::research::v1 as wire},
    tools::tool::{Reply, Tool},
};

macro_rules! placeholders {
    ($($tool:ident = $name:literal: $input:ident => $output:ident;)*) => {$(
        /// Not here yet.
        #[derive(Clone, Copy, Debug)]
        pub struct $tool;

        impl Tool for $tool {
            const NAME: &'static str = $name;
            type Input = wire::$input;
            type Output = wire::$output;

            async fn execute(
                &self,
                _input: wire::$input,
                _context: &ToolContext,
            ) -> Result<Reply<wire::$output>, Unfinished> {
                Err(ToolError::new(ErrorCode::Unavailable, "Not here yet.").into())
            }
        }
    )*};
}

placeholders! {
    BacktestFilter = "backtest_filter": BacktestFilterRequest => BacktestFilterOutput;
    BrowseNews = "browse_news": BrowseNewsRequest => BrowseNewsOutput;
    BrowseReddit = "browse_reddit": BrowseRedditRequest => BrowseRedditOutput;
    BrowseValuepickr = "browse_valuepickr": BrowseValuepickrRequest => BrowseValuepickrOutput;
    CheckForbidden = "check_forbidden": CheckForbiddenRequest => CheckForbiddenOutput;
    CheckWaitZone = "check_wait_zone": CheckWaitZoneRequest => CheckWaitZoneOutput;
    CompareStocks = "compare_stocks": CompareStocksRequest => CompareStocksOutput;
    GetEarnings = "get_earnings": GetEarningsRequest => GetEarningsOutput;
    GetFundamentals = "get_fundamentals": GetFundamentalsRequest => GetFundamentalsOutput;
    GetInsiderTrading = "get_insider_trading": GetInsiderTradingRequest => GetInsiderTradingOutput;
    GetInstitutionalHoldings = "get_institutional_holdings":
        GetInstitutionalHoldingsRequest => GetInstitutionalHoldingsOutput;
    GetNews = "get_news": GetNewsRequest => GetNewsOutput;
    GetRedditMentions = "get_reddit_mentions": GetRedditMentionsRequest => GetRedditMentionsOutput;
    GetStockThesis = "get_stock_thesis": GetStockThesisRequest => GetStockThesisOutput;
    GetTechnicals = "get_technicals": GetTechnicalsRequest => GetTechnicalsOutput;
}
