//! The server of the simulation: the product's parts, wired to stores in memory and to a simulated socket.

use std::{
    future::pending,
    sync::{Arc, LazyLock},
};

use toolwire::{
    base::{current::Current, files::Tree},
    config::{self, Config, ServerBounds},
    contract::{ConsoleLinks, descriptors},
    engine::{
        pipeline::{InFlight, Parts, Pipeline, Tiers, policy::AllowAll},
        recordings::Recorder,
        registry::Registry,
        tasks::Orchestrator,
    },
    server::{
        app,
        faces::{
            grpc::{self, Face, GrpcServices},
            readiness::Readiness,
            trace_url::TraceUrl,
        },
        service::{
            Records, Tools,
            audit::Audit,
            calls::{self, Calls},
            confirmations::{self, Confirmations},
            tasks::{self, Tasks},
            workspace::Workspaces,
        },
    },
    sources::upstream::{
        limiter::{Budgets, MemoryLimiter},
        source_status::Limits,
    },
    state::{MemoryCoolDowns, Store, workspace::Workspace},
    tool::context::{Services, UnreadBounds, User},
    transport::{Common, Listener, authenticate::StaticTokens},
};
use turmoil::net::TcpListener;

use crate::{
    ledger::Ledger,
    memory_idempotency::MemoryIdempotency,
    network::Simulated,
    no_hosts,
    plan::{CALLERS, CAP, SHARE},
    source::{Connector, Notes},
    tools,
};

pub(crate) const HOST: &str = "server";
pub(crate) const PORT: u16 = 50_051;
/// A connection whose peer is gone is noticed within two of them.
const KEEPALIVE: std::time::Duration = std::time::Duration::from_secs(1);

static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| {
    let domain = tools::domain();
    let tree = Tree::Embedded(domain.data.clone());
    let offered = app::gather(&tree, &[domain], &Config::default()).expect("a good domain");
    Arc::new(Registry::open(offered).expect("good manifests"))
});

/// The server, before it is served.
#[derive(Clone)]
pub(crate) struct Server {
    tools: Tools,
    workspaces: Workspaces,
}

/// Whose machine it is.
pub(crate) fn user(caller: usize) -> &'static str {
    CALLERS[caller].split('-').next().unwrap()
}

/// No source has a limit.
fn no_limits() -> Limits {
    let limiter = Arc::new(MemoryLimiter::new(Vec::<(String, Budgets)>::new()));
    Limits::new(limiter, Arc::<MemoryCoolDowns>::default(), Vec::new())
}

impl Server {
    pub(crate) fn new(ledger: &Ledger) -> Self {
        let services = Services::default();
        let services = services.with(Arc::new(Connector::new(ledger))).with(Arc::new(Notes(ledger.clone())));
        let policy = Arc::new(AllowAll);
        // Tasks, confirmations and documents are no part of it: SQLite's thread knows no simulated time.
        let nowhere = Arc::new(Store::unavailable("nothing is kept"));
        let workspace = Workspace::new(&nowhere);
        let orchestrator = Orchestrator::new(Arc::clone(&nowhere), workspace.clone());
        let pipeline = Pipeline::new(Parts {
            registry: Arc::clone(&REGISTRY),
            policy: policy.clone(),
            quotas: Current::default(),
            idempotency: Arc::new(MemoryIdempotency::default()),
            confirmations: nowhere.clone(),
            tasks: Arc::clone(&nowhere),
            orchestrate: Arc::new(orchestrator.clone()),
            decide_within: CAP,
            decide_within_tasks: CAP,
            users_sources: Arc::default(),
            tiers: Tiers::in_memory(),
            services,
            cap: CAP,
            unread: UnreadBounds::default(),
            log_arguments: false,
            console: ConsoleLinks::default(),
            recorder: Recorder::off(&nowhere),
        });
        let limits = no_limits();
        let confirmations = Confirmations::new(confirmations::Parts {
            store: nowhere.clone(),
            registry: Arc::clone(&REGISTRY),
            policy: policy.clone(),
            own_calls: true,
            use_within: CAP,
            console: ConsoleLinks::default(),
        });
        let tasks = Tasks::new(tasks::Parts {
            store: nowhere.clone(),
            pipeline: Arc::clone(&pipeline),
            orchestrator,
            workspace: workspace.clone(),
        });
        // Nobody looks at calls here.
        let calls = Calls::new(calls::Parts {
            store: nowhere.clone(),
            confirmations: nowhere.clone(),
            registry: Arc::clone(&REGISTRY),
            policy: policy.clone(),
            in_flight: pipeline.in_flight().clone(),
            cap: CAP,
            console: ConsoleLinks::default(),
            recorder: Recorder::off(&nowhere),
        });
        let records = Records { calls, audit: Audit::new(nowhere.clone(), policy.clone()) };
        let registry = Arc::clone(&REGISTRY);
        let tools = Tools::new(pipeline, registry, policy, Arc::new(limits), confirmations, tasks, records);
        Self { tools, workspaces: Workspaces::new(workspace) }
    }

    /// The calls that are running.
    pub(crate) fn in_flight(&self) -> &InFlight {
        self.tools.in_flight()
    }

    /// Serves until the simulation ends.
    pub(crate) async fn serve(self) -> turmoil::Result {
        let limits = ServerBounds {
            max_calls_per_user: SHARE,
            keepalive_interval: KEEPALIVE,
            keepalive_timeout: KEEPALIVE,
            ..ServerBounds::default()
        };
        let server = config::Server { deadline_cap: CAP, limits, ..config::Server::default() };
        let max_request_bytes = server.limits.max_request_bytes;
        let Self { tools, workspaces } = self;
        // Nobody talks here.
        let parts = Services::default();
        let face = Face {
            tools,
            parts,
            workspaces,
            providers: no_hosts::providers(),
            trace_url: TraceUrl::default(),
            max_request_bytes,
        };
        let pool = descriptors::pool([("sim", tools::domain().descriptors)]).expect("they agree");
        let services = GrpcServices::new(&pool, [], false).expect("they are described");
        let users = ["alice", "bob"]
            .map(|name: &str| (config::TokenDigest::of(name.as_bytes()), User::new(name.parse().unwrap())));
        let socket = Simulated(TcpListener::bind(("0.0.0.0", PORT)).await?);
        let (_ready, ready) = tokio::sync::watch::channel(Readiness::Ready);
        let tokens = Arc::new(StaticTokens::new(users));
        let common = Common::new(tokens, &server, None);
        grpc::serve(face, services, &common, None, Listener::from(socket), ready, pending()).await;
        Ok(())
    }
}
