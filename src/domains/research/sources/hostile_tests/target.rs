//! What is asked of connectors.

/// What is asked of a connector, and which document of it is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub(super) enum Target {
    YahooChart,
    YahooSummary,
    YahooSeries,
    NseFlows,
    NseDeals,
    NseFilings,
    NseHolding,
    NseResults,
    GoogleNews,
    ForumLatest,
    ForumSearch,
    ForumTopic,
    RedditToken,
    RedditPosts,
    RedditSearch,
    ScreenerForm,
    ScreenerPage,
}

impl Target {
    /// The document that is attacked: the beginning of its path.
    pub(super) const fn target(self) -> &'static str {
        match self {
            Self::YahooChart => "/yahoo/v8/finance/chart/",
            Self::YahooSummary => "/yahoo/v10/finance/quoteSummary/",
            Self::YahooSeries => "/yahoo/ws/",
            Self::NseFlows => "/nse/api/fiidiiTradeReact",
            Self::NseDeals => "/nse/api/historicalOR/",
            Self::NseFilings => "/nse/api/corporate-share-holdings-master",
            Self::NseHolding => "/archives/",
            Self::NseResults => "/nse/api/results-comparision",
            Self::GoogleNews => "/googlenews/",
            Self::ForumLatest => "/forum/latest.json",
            Self::ForumSearch => "/forum/search.json",
            Self::ForumTopic => "/forum/t/",
            Self::RedditToken => "/reddit-token/",
            Self::RedditPosts => "/reddit/r/IndiaInvestments/hot",
            Self::RedditSearch => "/reddit/r/IndiaInvestments/search",
            Self::ScreenerForm => "/screener/login/",
            Self::ScreenerPage => "/screener/screens/",
        }
    }

    /// Whether the document may be in an encoding that its header names: JSON is UTF-8.
    pub(super) const fn may_be_encoded(self) -> bool {
        matches!(self, Self::NseHolding | Self::GoogleNews | Self::ScreenerForm | Self::ScreenerPage)
    }

    /// Whether the document is a page: there HTML alone is not a refusal.
    pub(super) const fn is_page(self) -> bool {
        matches!(self, Self::ScreenerForm | Self::ScreenerPage)
    }
}
