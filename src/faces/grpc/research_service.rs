//! `toolwire.research.v1.ResearchService`: the research tools with typed requests and responses, and the credentials that a
//! model must never see.

use tonic::{Request, Response, Status};

use super::{screener_credentials, typed::typed_service};
use crate::{
    contract::proto::research::v1::{self as wire, research_service_server::ResearchService},
    domains::research::tools,
};

typed_service! {
    ResearchService {
        browse_screener: tools::BrowseScreener, BrowseScreenerRequest => BrowseScreenerResponse;
        browse_valuepickr: tools::BrowseValuepickr, BrowseValuepickrRequest => BrowseValuepickrResponse;
        browse_reddit: tools::BrowseReddit, BrowseRedditRequest => BrowseRedditResponse;
        browse_news: tools::BrowseNews, BrowseNewsRequest => BrowseNewsResponse;
        browse_watchlist: tools::BrowseWatchlist, BrowseWatchlistRequest => BrowseWatchlistResponse;
        add_to_watchlist: tools::AddToWatchlist, AddToWatchlistRequest => AddToWatchlistResponse;
        remove_from_watchlist: tools::RemoveFromWatchlist,
            RemoveFromWatchlistRequest => RemoveFromWatchlistResponse;
        get_stock_thesis: tools::GetStockThesis, GetStockThesisRequest => GetStockThesisResponse;
        get_reddit_mentions: tools::GetRedditMentions, GetRedditMentionsRequest => GetRedditMentionsResponse;
        get_news: tools::GetNews, GetNewsRequest => GetNewsResponse;
        get_fundamentals: tools::GetFundamentals, GetFundamentalsRequest => GetFundamentalsResponse;
        get_technicals: tools::GetTechnicals, GetTechnicalsRequest => GetTechnicalsResponse;
        check_wait_zone: tools::CheckWaitZone, CheckWaitZoneRequest => CheckWaitZoneResponse;
        check_forbidden: tools::CheckForbidden, CheckForbiddenRequest => CheckForbiddenResponse;
        get_earnings: tools::GetEarnings, GetEarningsRequest => GetEarningsResponse;
        compare_stocks: tools::CompareStocks, CompareStocksRequest => CompareStocksResponse;
        get_insider_trading: tools::GetInsiderTrading, GetInsiderTradingRequest => GetInsiderTradingResponse;
        get_institutional_holdings: tools::GetInstitutionalHoldings,
            GetInstitutionalHoldingsRequest => GetInstitutionalHoldingsResponse;
        backtest_filter: tools::BacktestFilter, BacktestFilterRequest => BacktestFilterResponse;
    }

    async fn set_screener_credentials(
        &self,
        request: Request<wire::SetScreenerCredentialsRequest>,
    ) -> Result<Response<wire::SetScreenerCredentialsResponse>, Status> {
        screener_credentials::set(self, request)?;
        Ok(Response::new(wire::SetScreenerCredentialsResponse {}))
    }

    async fn forget_screener_credentials(
        &self,
        request: Request<wire::ForgetScreenerCredentialsRequest>,
    ) -> Result<Response<wire::ForgetScreenerCredentialsResponse>, Status> {
        screener_credentials::forget(self, request)?;
        Ok(Response::new(wire::ForgetScreenerCredentialsResponse {}))
    }
}
