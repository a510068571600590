//! `toolwire.research.v1.ResearchService`: the research tools with typed requests and responses, and the credentials
//! that a model must never see.

pub(super) mod discovery;
mod screener_credentials;

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::{
    sources::screener::Credentials,
    tools::{
        AddToWatchlist, BacktestFilter, BrowseNews, BrowseReddit, BrowseScreener, BrowseValuepickr,
        BrowseWatchlist, CheckForbidden, CheckWaitZone, CompareStocks, GetEarnings, GetFundamentals,
        GetInsiderTrading, GetInstitutionalHoldings, GetNews, GetRedditMentions, GetStockThesis,
        GetTechnicals, RemoveFromWatchlist,
    },
};
use crate::proto::{
    v1 as wire,
    v1::research_service_server::{ResearchService, ResearchServiceServer},
};
use toolwire_server::faces::grpc::{self, Face};

/// The service, which keeps the users' credentials where the screener's connector finds them.
pub(super) fn service(credentials: Arc<Credentials>) -> grpc::Service {
    grpc::service!(ResearchServiceServer, |face| Research {
        face: face.clone(),
        credentials: Arc::clone(&credentials)
    })
}

struct Research {
    face: Face,
    credentials: Arc<Credentials>,
}

impl AsRef<Face> for Research {
    fn as_ref(&self) -> &Face {
        &self.face
    }
}

grpc::typed_service! {
    impl ResearchService for Research {
        browse_screener: BrowseScreener, BrowseScreenerRequest => BrowseScreenerResponse;
        browse_valuepickr: BrowseValuepickr, BrowseValuepickrRequest => BrowseValuepickrResponse;
        browse_reddit: BrowseReddit, BrowseRedditRequest => BrowseRedditResponse;
        browse_news: BrowseNews, BrowseNewsRequest => BrowseNewsResponse;
        browse_watchlist: BrowseWatchlist, BrowseWatchlistRequest => BrowseWatchlistResponse;
        add_to_watchlist: AddToWatchlist, AddToWatchlistRequest => AddToWatchlistResponse;
        remove_from_watchlist: RemoveFromWatchlist,
            RemoveFromWatchlistRequest => RemoveFromWatchlistResponse;
        get_stock_thesis: GetStockThesis, GetStockThesisRequest => GetStockThesisResponse;
        get_reddit_mentions: GetRedditMentions, GetRedditMentionsRequest => GetRedditMentionsResponse;
        get_news: GetNews, GetNewsRequest => GetNewsResponse;
        get_fundamentals: GetFundamentals, GetFundamentalsRequest => GetFundamentalsResponse;
        get_technicals: GetTechnicals, GetTechnicalsRequest => GetTechnicalsResponse;
        check_wait_zone: CheckWaitZone, CheckWaitZoneRequest => CheckWaitZoneResponse;
        check_forbidden: CheckForbidden, CheckForbiddenRequest => CheckForbiddenResponse;
        get_earnings: GetEarnings, GetEarningsRequest => GetEarningsResponse;
        compare_stocks: CompareStocks, CompareStocksRequest => CompareStocksResponse;
        get_insider_trading: GetInsiderTrading, GetInsiderTradingRequest => GetInsiderTradingResponse;
        get_institutional_holdings: GetInstitutionalHoldings,
            GetInstitutionalHoldingsRequest => GetInstitutionalHoldingsResponse;
        backtest_filter: BacktestFilter, BacktestFilterRequest => BacktestFilterResponse;
    }

    async fn set_screener_credentials(
        &self,
        request: Request<wire::SetScreenerCredentialsRequest>,
    ) -> Result<Response<wire::SetScreenerCredentialsResponse>, Status> {
        screener_credentials::set(&self.credentials, self.face.tools.tasks(), request).await?;
        Ok(Response::new(wire::SetScreenerCredentialsResponse {}))
    }

    async fn forget_screener_credentials(
        &self,
        request: Request<wire::ForgetScreenerCredentialsRequest>,
    ) -> Result<Response<wire::ForgetScreenerCredentialsResponse>, Status> {
        screener_credentials::forget(&self.credentials, &request)?;
        Ok(Response::new(wire::ForgetScreenerCredentialsResponse {}))
    }
}
