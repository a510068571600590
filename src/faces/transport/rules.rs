//! Who may call which method, and how long a call of it may last. Deny by default.
//!
//! A method without a line in the table `TOOLWIRE` is refused as UNIMPLEMENTED, served or not; a test reads the descriptors and
//! fails on a served method without one. What a *user* may call is decided below, in the pipeline.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use tonic::Code;

use super::reply::Reply;
use crate::contract::status;

/// Who may call a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone, without credentials; never shed.
    Public,
    /// Callers whose credentials were accepted.
    User,
}

/// Whether the server's own cap bounds a method's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Ends by the server's cap at the latest.
    Capped,
    /// The same, and it is over at once and makes room: never shed.
    Instant,
    /// A watch: lasts until its caller, its caller's deadline, or the drain ends it.
    Uncapped,
}

/// What holds for one method. Stored in the extensions of every request that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Who may call it.
    pub access: Access,
    /// How long it may last.
    pub lifetime: Lifetime,
}

/// The table: full method path to rule. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rules {
    table: Arc<HashMap<&'static str, Rule>>,
}

const PUBLIC: Rule = Rule { access: Access::Public, lifetime: Lifetime::Capped };
const PUBLIC_WATCH: Rule = Rule { access: Access::Public, lifetime: Lifetime::Uncapped };
const USER: Rule = Rule { access: Access::User, lifetime: Lifetime::Capped };
const USER_INSTANT: Rule = Rule { access: Access::User, lifetime: Lifetime::Instant };
const USER_WATCH: Rule = Rule { access: Access::User, lifetime: Lifetime::Uncapped };

const TOOLWIRE: &[(&str, Rule)] = &[
    ("/grpc.health.v1.Health/Check", PUBLIC),
    ("/grpc.health.v1.Health/List", PUBLIC),
    ("/grpc.health.v1.Health/Watch", PUBLIC_WATCH),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", USER_WATCH),
    ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", USER_WATCH),
    ("/toolwire.brokerage.v1.BrokerageService/GetAccountSummary", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetActivity", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetFacts", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetPerformance", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetPerformanceWithTransfers", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetPositions", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetPositionsList", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetQuotes", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetSymbolPerformance", USER),
    ("/toolwire.brokerage.v1.BrokerageService/GetTransfers", USER),
    ("/toolwire.brokerage.v1.BrokerageService/RankPortfolio", USER),
    ("/toolwire.research.v1.ResearchService/AddToWatchlist", USER),
    ("/toolwire.research.v1.ResearchService/BacktestFilter", USER),
    ("/toolwire.research.v1.ResearchService/BrowseNews", USER),
    ("/toolwire.research.v1.ResearchService/BrowseReddit", USER),
    ("/toolwire.research.v1.ResearchService/BrowseScreener", USER),
    ("/toolwire.research.v1.ResearchService/BrowseValuepickr", USER),
    ("/toolwire.research.v1.ResearchService/BrowseWatchlist", USER),
    ("/toolwire.research.v1.ResearchService/CheckForbidden", USER),
    ("/toolwire.research.v1.ResearchService/CheckWaitZone", USER),
    ("/toolwire.research.v1.ResearchService/CompareStocks", USER),
    ("/toolwire.research.v1.ResearchService/ForgetScreenerCredentials", USER),
    ("/toolwire.research.v1.ResearchService/GetEarnings", USER),
    ("/toolwire.research.v1.ResearchService/GetFundamentals", USER),
    ("/toolwire.research.v1.ResearchService/GetInsiderTrading", USER),
    ("/toolwire.research.v1.ResearchService/GetInstitutionalHoldings", USER),
    ("/toolwire.research.v1.ResearchService/GetNews", USER),
    ("/toolwire.research.v1.ResearchService/GetRedditMentions", USER),
    ("/toolwire.research.v1.ResearchService/GetStockThesis", USER),
    ("/toolwire.research.v1.ResearchService/GetTechnicals", USER),
    ("/toolwire.research.v1.ResearchService/RemoveFromWatchlist", USER),
    ("/toolwire.research.v1.ResearchService/SetScreenerCredentials", USER),
    ("/toolwire.v1.ToolService/CallTool", USER),
    ("/toolwire.v1.ToolService/CancelCall", USER_INSTANT),
    ("/toolwire.v1.ToolService/DescribeForPlanner", USER),
    ("/toolwire.v1.ToolService/GetLimits", USER),
    ("/toolwire.v1.ToolService/GetTool", USER),
    ("/toolwire.v1.ToolService/InvokeTool", USER),
    ("/toolwire.v1.ToolService/ListTools", USER),
    ("/toolwire.v1.ToolService/WatchTools", USER_WATCH),
];

impl Rules {
    /// The rules of everything Toolwire serves.
    pub fn toolwire() -> Self {
        Self { table: Arc::new(TOOLWIRE.iter().copied().collect()) }
    }

    /// The same rules and one more, for a service that is not always there.
    pub fn with(mut self, path: &'static str, rule: Rule) -> Self {
        Arc::make_mut(&mut self.table).insert(path, rule);
        self
    }

    /// The method at `path`, as the table writes it, and its rule.
    pub fn find(&self, path: &str) -> Option<(&'static str, Rule)> {
        self.table.get_key_value(path).map(|(path, rule)| (*path, *rule))
    }
}

/// Refuses methods without a rule.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    rules: Rules,
}

impl Layer {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules }
    }
}

/// See [`Layer`].
#[derive(Debug, Clone)]
pub(super) struct Service<S> {
    inner: S,
    rules: Rules,
}

impl<S> tower::Layer<S> for Layer {
    type Service = Service<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Service { inner, rules: self.rules.clone() }
    }
}

impl<S, ReqB, ResB> tower::Service<Request<ReqB>> for Service<S>
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: Default,
{
    type Response = Response<ResB>;
    type Error = Infallible;
    type Future = Reply<S::Future, ResB>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<ReqB>) -> Self::Future {
        let Some((_, rule)) = self.rules.find(request.uri().path()) else {
            let message =
                "this server has no such method; list its services by reflection or read its proto files";
            return Reply::refused(status::plain(Code::Unimplemented, "UNKNOWN_METHOD", message));
        };
        request.extensions_mut().insert(rule);
        Reply::passed(self.inner.call(request))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost::Message;
    use prost_types::FileDescriptorSet;

    use super::*;

    const DESCRIPTORS: &[&[u8]] = &[
        include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.binpb")),
        tonic_health::pb::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
        tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
    ];

    #[test]
    fn every_served_method_has_a_rule() {
        let missing: Vec<_> =
            served().into_iter().filter(|path| Rules::toolwire().find(path).is_none()).collect();
        assert!(missing.is_empty(), "add a line to TOOLWIRE for: {missing:#?}");
    }

    #[test]
    fn every_rule_names_a_served_method() {
        let served = served();
        // Of the newer health protocol; tonic-health does not serve it yet.
        let ahead = "/grpc.health.v1.Health/List";
        for (path, _) in TOOLWIRE.iter().filter(|(path, _)| *path != ahead) {
            assert!(served.contains(*path), "{path} is in no descriptor");
        }
    }

    #[test]
    fn only_health_is_public() {
        for (path, rule) in TOOLWIRE {
            assert_eq!(rule.access == Access::Public, path.starts_with("/grpc.health.v1."), "{path}");
        }
    }

    #[test]
    fn the_table_has_no_line_twice() {
        assert_eq!(Rules::toolwire().table.len(), TOOLWIRE.len());
    }

    fn served() -> BTreeSet<String> {
        let files = DESCRIPTORS.iter().flat_map(|bytes| FileDescriptorSet::decode(*bytes).unwrap().file);
        files
            .flat_map(|file| {
                let package = file.package().to_owned();
                file.service.into_iter().map(move |service| (package.clone(), service))
            })
            .flat_map(|(package, service)| {
                let service_name = service.name().to_owned();
                service
                    .method
                    .into_iter()
                    .map(move |method| format!("/{package}.{service_name}/{}", method.name()))
            })
            .collect()
    }
}
