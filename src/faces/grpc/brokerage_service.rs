//! `toolwire.brokerage.v1.BrokerageService`: the brokerage tools with typed requests and responses.

use super::typed::typed_service;
use crate::{
    contract::proto::brokerage::v1::{self as wire, brokerage_service_server::BrokerageService},
    domains::brokerage::tools,
};

typed_service! {
    BrokerageService {
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
}
