//! A route of the HTTP listener: its method and path, its rule, and its handler.
//!
//! From the table of all routes both the router and the rules are made, so that no route is without a rule. Not here:
//! which routes there are; each owner declares its own.

use std::{fmt, ops::Deref, sync::Arc};

use axum::routing::MethodRouter;
use http::{HeaderMap, Method};

use super::{console_document::ConsoleDocument, protected_resource::ProtectedResource, rpc_route::RpcRoute};
use crate::faces::grpc::{Face, Routes};
use toolwire_config as config;
use toolwire_mcp::server::Handler as Mcp;
use toolwire_transport::rules::Rule;

/// The handler of a route: axum's, with `State<Http>`.
///
/// The extensions of a request that reaches one hold the [`Arrival`](toolwire_transport::Arrival), the [`Rule`]
/// and, unless the route is public, the [`User`](toolwire_tool::context::User):
/// [`incoming`](crate::faces::incoming) reads them.
pub type Handler = MethodRouter<Http>;

#[derive(Clone)]
pub struct Route {
    /// The method. GET answers HEAD, too.
    pub method: Method,
    /// The path as axum's router reads it, such as `/v1/tools/{call}`.
    pub path: &'static str,
    /// The callers that may use it, the bound on its time, and the quota that it counts against. With `Messages::One`
    /// the body is complete, with at most `max_request_bytes`, before the handler runs; with `Many` it is a stream.
    pub rule: Rule,
    /// Whether the handler evaluates the preconditions of a write itself, because only the store can do that atomically
    /// with the write. It finds the [`Conditions`](super::conditional::Conditions) in the extensions of the request.
    pub checks_preconditions: bool,
    /// Whether the handler reads the query, and refuses what it does not know in it. Elsewhere a query is refused.
    pub reads_query: bool,
    /// The rule of requests with a certain header, if it is another.
    pub by_header: Option<RuleByHeader>,
    pub face: RouteFace,
    pub handler: Handler,
}

/// The face that a route belongs to.
#[derive(Clone, Copy, Debug)]
pub struct RouteFace {
    /// As records name it.
    pub name: &'static str,
    /// Whether the configuration switches it on.
    pub is_on: fn(&config::Http) -> bool,
}

impl RouteFace {
    pub const REST: Self = Self { name: "rest", is_on: |http| http.rest };
}

/// The rule of requests whose headers have these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleByHeader {
    pub headers: &'static [(&'static str, &'static str)],
    pub rule: Rule,
}

impl RuleByHeader {
    pub(super) fn matches(&self, headers: &HeaderMap) -> bool {
        self.headers.iter().all(|(name, value)| headers.get(*name).is_some_and(|it| it == value))
    }
}

impl Route {
    /// A route of REST without a query, whose writes have no validators of their own.
    pub fn new(method: Method, path: &'static str, rule: Rule, handler: Handler) -> Self {
        Self {
            method,
            path,
            rule,
            checks_preconditions: false,
            reads_query: false,
            by_header: None,
            face: RouteFace::REST,
            handler,
        }
    }
}

/// The state of handlers. Cheap to clone, as axum does several times for each request.
#[derive(Clone, Debug)]
pub struct Http(Arc<Services>);

#[derive(Debug)]
pub struct Services {
    /// Tools, tasks, documents, and the parts of domains.
    pub face: Face,
    /// The gRPC services, called within the process: a request with the extensions of the one that is answered needs no
    /// second authentication and makes no second span.
    pub grpc: Routes,
    /// The RPCs of domains that are routes.
    pub rpc_routes: Arc<[RpcRoute]>,
    /// Answers MCP.
    pub mcp: Mcp,
    /// What the page of the console must know before a user has signed in.
    pub console: ConsoleDocument,
    /// What clients that sign in by themselves learn of this server.
    pub resource: Option<Arc<ProtectedResource>>,
}

impl Http {
    pub fn new(services: Services) -> Self {
        Self(Arc::new(services))
    }
}

impl Deref for Http {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.0
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, path, rule, .. } = self;
        f.debug_struct("Route")
            .field("method", method)
            .field("path", path)
            .field("rule", rule)
            .finish_non_exhaustive()
    }
}
