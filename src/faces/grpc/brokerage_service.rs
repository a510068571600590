//! `toolwire.brokerage.v1.BrokerageService`: the brokerage tools with typed requests and responses.
//!
//! The same pipeline as the generic door. A typed response has no room for an error, so a failure becomes a status.

use tonic::{Request, Response, Status};

use super::{Face, typed};
use crate::{
    contract::proto::brokerage::v1::{self as wire, brokerage_service_server::BrokerageService},
    tools::brokerage as tools,
};

/// One method for each tool: its request is the tool's input, its response the tool's output with its provenance.
macro_rules! typed_methods {
    ($($method:ident: $tool:ty, $request:ident => $response:ident;)*) => {
        #[tonic::async_trait]
        impl BrokerageService for Face {
            $(async fn $method(
                &self,
                request: Request<wire::$request>,
            ) -> Result<Response<wire::$response>, Status> {
                let (data, provenance) = typed::call::<$tool>(self, request).await?;
                Ok(Response::new(wire::$response { data: Some(data), provenance: Some(provenance) }))
            })*
        }
    };
}

typed_methods! {
    get_account_summary: tools::GetAccountSummary, GetAccountSummaryRequest => GetAccountSummaryResponse;
    get_activity: tools::GetActivity, GetActivityRequest => GetActivityResponse;
    get_facts: tools::GetFacts, GetFactsRequest => GetFactsResponse;
    get_performance: tools::GetPerformance, GetPerformanceRequest => GetPerformanceResponse;
    get_performance_with_transfers: tools::GetPerformanceWithTransfers,
        GetPerformanceWithTransfersRequest => GetPerformanceWithTransfersResponse;
    get_positions: tools::GetPositions, GetPositionsRequest => GetPositionsResponse;
    get_positions_list: tools::GetPositionsList, GetPositionsListRequest => GetPositionsListResponse;
    get_quotes: tools::GetQuotes, GetQuotesRequest => GetQuotesResponse;
    get_symbol_performance: tools::GetSymbolPerformance,
        GetSymbolPerformanceRequest => GetSymbolPerformanceResponse;
    get_transfers: tools::GetTransfers, GetTransfersRequest => GetTransfersResponse;
    rank_portfolio: tools::RankPortfolio, RankPortfolioRequest => RankPortfolioResponse;
}
