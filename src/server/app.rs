//! The composition root: configuration and domains to a wired service. It folds over the list of domains and names
//! none.

mod access;
mod administer;
mod cancellations;
mod check;
mod completeness;
mod conflicts;
mod cool_downs;
mod drain;
mod expiry;
mod file_watch;
mod listeners;
mod load;
mod open;
mod parts;
mod phases;
mod pipeline;
mod providers;
mod records;
mod registry_input;
mod reload;
mod serving;
mod shut_out;
mod sources;
mod start_error;
mod state;
mod state_watch;
mod tree;
mod unmatched_patterns;
mod wal_watch;
mod webhooks;

use std::{convert::Infallible, fmt, iter, pin::pin, sync::Arc};

use futures_util::FutureExt;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use self::{
    access::Access,
    administer::administer,
    listeners::keep_certificates,
    load::{Loaded, load},
    phases::{Attachments, Stores, attach, build_call_path, build_tools, open_stores},
    registry_input::enabled_domains,
    tree::RELOAD_INTERVAL,
};
pub use self::{
    check::check,
    completeness::MissingService,
    listeners::Listeners,
    providers::{McpServers, as_accepted, mcp_target, setting_of_names},
    registry_input::gather,
    reload::SettingsFile,
    start_error::StartError,
    tree::tree,
};
use crate::{
    domain::{Domain, Opened},
    faces::{
        grpc,
        http::{rpc_route::RpcRoute, table::Table},
        routes,
    },
    service::{Tools, providers::Providers, workspace::Workspaces},
};
use toolwire_base::files::Tree;
use toolwire_config::{Config, Section};
use toolwire_contract::ConsoleLinks;
use toolwire_engine::registry::{DataSource, Registry};
use toolwire_mcp::server::Cancellations;
use toolwire_sources::upstream::{settings, source_status::SourceLimits};
use toolwire_state::{
    Store,
    workspace::{Workspace, sweep},
};
use toolwire_tool::context::Services;

/// The wired service, whatever face it is given.
#[derive(Clone)]
pub struct App {
    /// What the tools are made from, and kept current.
    pub registry: Arc<Registry>,
    /// The tools as every face offers them.
    pub tools: Tools,
    /// The callers, their rights and their quotas.
    access: Access,
    /// Where the settings stand, if they are read again.
    settings: Option<Arc<SettingsFile>>,
    /// What outlives the process. Opened at first use.
    pub state: Arc<Store>,
    /// The documents that tasks share.
    pub workspace: Workspace,
    /// What the tools of all domains find in their context.
    pub services: Services,
    /// What domains add to it.
    attached: Attachments,
    /// Providers, and the hub of their hosts.
    pub providers: Providers,
    /// MCP servers that are providers.
    pub mcp_servers: McpServers,
    /// Requests over MCP that are under way here, and that other processes can cancel.
    client_requests: Arc<Cancellations>,
    /// The names of the tools that have no manifest, and so are not offered.
    pub undeclared: Arc<[String]>,
    limits: Arc<dyn SourceLimits>,
    data: Vec<Arc<dyn DataSource>>,
    grpc: grpc::GrpcServices,
    http: Table,
    /// The RPCs of domains that are routes.
    rpc_routes: Arc<[RpcRoute]>,
    tree: Tree,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("registry", &self.registry).finish_non_exhaustive()
    }
}

impl App {
    /// Builds the service, each phase from what those before it made.
    pub fn build(config: &Config, domains: &[Domain]) -> Result<Self, StartError> {
        // First the stores: domains read files and tables as they open.
        let stores = open_stores(config, domains)?;
        // Then files and domains together, so that all that is wrong with either is reported at once.
        let Loaded { registry, upstream, opened, grpc } =
            load(config, domains, &stores.tree, &stores.state, &stores.workspace)?;
        let Opened { services, states, data, holds, attach: to_attach, grpc: _ } = opened;
        // What else domains may have got wrong ends the start before anything is built over the state.
        let asked = enabled_domains(domains, config);
        let of_domains = asked.clone().flat_map(Domain::all_routes).collect();
        let http = routes::table(&config.http, of_domains).map_err(StartError::of)?;
        let rpc_routes = asked.clone().flat_map(|domain| domain.rpc_routes).copied().collect();
        let undeclared = completeness::manifests(asked, &registry.snapshot());
        let limits = Arc::new(upstream.limits().with_holds(holds)) as Arc<dyn SourceLimits>;
        let (mcp_servers, providers) =
            providers::connectors(config, &registry, &stores.state, &upstream).map_err(StartError::of)?;
        // The path of calls before the domains that call tools along it; the tools last, which take it over.
        let in_context = services.clone().with(Arc::new(states));
        let path = build_call_path(config, domains, &stores, &registry, in_context)?;
        let access = path.access.clone();
        let attached = attach(to_attach, config, &stores, &registry, &path, &limits, &services)?;
        let tools = build_tools(config, &stores.state, &registry, path, &limits);
        let Stores { tree, state, workspace } = stores;
        let app = Self {
            registry,
            tools,
            access,
            settings: None,
            state,
            workspace,
            services,
            attached,
            providers,
            mcp_servers,
            client_requests: Arc::default(),
            undeclared,
            limits,
            data,
            grpc,
            http,
            rpc_routes,
            tree,
        };
        // Last, since it says which tools are served.
        app.publish_health();
        Ok(app)
    }

    /// The same service, with another way to look up the state of limiters and cool-downs.
    #[must_use]
    pub fn with_limits(self, limits: Arc<dyn SourceLimits>) -> Self {
        Self { tools: self.tools.with_limits(Arc::clone(&limits)), limits, ..self }
    }

    /// Serves over gRPC, and over HTTP if there is a listener for it, until `shutdown`, then drains. The admin endpoint
    /// answers and edits of the files on disk are taken over meanwhile.
    pub async fn serve(
        &self,
        config: &Config,
        listeners: impl Into<Listeners>,
        shutdown: impl Future<Output = ()> + Send,
    ) -> toolwire_transport::Report {
        let Listeners { grpc, http, admin } = listeners.into();
        let admin = admin.map(|admin| admin.with_boundary(config).beside(grpc.local_addr().ok()));
        let tls = [grpc.tls().cloned(), http.as_ref().and_then(|http| http.tls().cloned())];
        let draining = CancellationToken::new();
        // Shared: each listener drains by itself.
        let shutdown = shutdown.boxed().shared();
        let interrupt = async {
            shutdown.clone().await;
            draining.cancel();
            for drain in &self.attached.drains {
                drain.begin();
            }
        };
        // The admin endpoint reports the same readiness as gRPC and HTTP.
        let state = state_watch::Watch::new(&self.state);
        let (ready, ready_too) = (state.readiness(), state.readiness());
        let serving = async {
            let served = self.serve_callers(config, grpc, http, ready, shutdown.clone());
            let (report, ()) = tokio::join!(served, interrupt);
            // Connections are gone by now; writes that outlive their callers get what is left of the drain.
            self.finish_writes(sleep(config.server.drain.forced_end.saturating_sub(report.elapsed))).await;
            self.mcp_servers.end().await;
            self.write_last().await;
            report
        };
        tokio::select! {
            report = serving => report,
            // None of these ends by itself: the select drops them once serving has ended.
            never = self.maintain(config) => match never {},
            never = keep_certificates(tls, RELOAD_INTERVAL) => match never {},
            never = self.follow_settings() => match never {},
            never = state.run() => match never {},
            never = administer(admin, draining.clone(), ready_too) => match never {},
        }
    }

    /// Serves a client within the process, without a listener, until `work` ends. From the moment at which `ending` is
    /// cancelled, calls have the time of a drain, those that `work` still waits for included.
    pub async fn serve_within(
        &self,
        config: &Config,
        ending: CancellationToken,
        work: impl Future<Output = ()>,
    ) {
        let serving = async {
            let forced_end = async {
                ending.cancelled().await;
                sleep(config.server.drain.forced_end).await;
            };
            let (mut work, mut forced_end) = (pin!(work), pin!(forced_end));
            tokio::select! {
                () = &mut work => {
                    ending.cancel();
                    self.finish_writes(forced_end).await;
                }
                () = &mut forced_end => {
                    self.cut_calls();
                    // Its calls have ended by now, and only their answers are left to be sent.
                    work.await;
                }
            }
            self.mcp_servers.end().await;
            self.write_last_recordings().await;
        };
        tokio::select! {
            () = serving => {}
            never = self.maintain(config) => match never {},
        }
    }

    /// What a service does beside answering: edits of files, cool-downs, expiry, cancellations of other processes.
    async fn maintain(&self, config: &Config) -> Infallible {
        let console = ConsoleLinks::new(config.console_url().as_deref());
        tokio::select! {
            never = self.watch_files() => match never {},
            never = cool_downs::Watch::new(&self.registry, &self.limits).run() => match never {},
            never = wal_watch::run(&self.state) => match never {},
            never = expiry::run(&self.state, self.tools.in_flight(), config.tasks.keep, &self.attached.upkeep) => {
                match never {}
            }
            never = self.follow_cancellations() => match never {},
            never = self.withdraw_of_shut_out() => match never {},
            never = self.state.keep_refusals() => match never {},
            never = self.mcp_servers.run() => match never {},
            never = webhooks::run(&self.state, &config.egress, &console, &config.confirmations.webhooks) => {
                match never {}
            }
            never = sweep::run(&self.workspace) => match never {},
            never = self.tools.recorder().run() => match never {},
        }
    }

    /// The documents that tasks share, as every face offers them.
    pub fn workspaces(&self) -> Workspaces {
        Workspaces::new(self.workspace.clone())
    }

    /// Every method that is served, by its full name.
    pub fn methods(&self) -> Vec<String> {
        self.grpc.rules().iter().map(|(name, _)| name.to_owned()).collect()
    }
}

/// What can be set of the domains and their sources, for loading the configuration.
pub fn sections(domains: &[Domain]) -> Vec<Section> {
    let sources =
        |domain: &Domain| domain.sources.iter().map(|spec| (domain.name, *spec)).collect::<Vec<_>>();
    let of_domain =
        |domain: &Domain| domain.settings.iter().map(|it| it.clone().of(domain.name)).collect::<Vec<_>>();
    let of_sources = settings::section(domains.iter().flat_map(sources).collect());
    iter::once(of_sources).chain(domains.iter().flat_map(of_domain)).collect()
}
