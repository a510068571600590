//! `toolwire.brokerage.v1.BrokerageService`: the brokerage tools with typed requests and responses.

use super::tools::{
    GetAccountSummary, GetActivity, GetFacts, GetPerformance, GetPerformanceWithTransfers, GetPositions,
    GetPositionsList, GetQuotes, GetSymbolPerformance, GetTransfers, RankPortfolio,
};
use crate::proto::{
    v1 as wire,
    v1::brokerage_service_server::{BrokerageService, BrokerageServiceServer},
};
use toolwire_server::faces::grpc::{self, Face};

pub(super) fn service() -> grpc::Service {
    grpc::service!(BrokerageServiceServer, |face| face.clone())
}

grpc::typed_service! {
    impl BrokerageService for Face {
        get_account_summary: GetAccountSummary, GetAccountSummaryRequest => GetAccountSummaryResponse;
        get_activity: GetActivity, GetActivityRequest => GetActivityResponse;
        get_facts: GetFacts, GetFactsRequest => GetFactsResponse;
        get_performance: GetPerformance, GetPerformanceRequest => GetPerformanceResponse;
        get_performance_with_transfers: GetPerformanceWithTransfers,
            GetPerformanceWithTransfersRequest => GetPerformanceWithTransfersResponse;
        get_positions: GetPositions, GetPositionsRequest => GetPositionsResponse;
        get_positions_list: GetPositionsList, GetPositionsListRequest => GetPositionsListResponse;
        get_quotes: GetQuotes, GetQuotesRequest => GetQuotesResponse;
        get_symbol_performance: GetSymbolPerformance,
            GetSymbolPerformanceRequest => GetSymbolPerformanceResponse;
        get_transfers: GetTransfers, GetTransfersRequest => GetTransfersResponse;
        rank_portfolio: RankPortfolio, RankPortfolioRequest => RankPortfolioResponse;
    }
}
