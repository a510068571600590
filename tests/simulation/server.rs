//! The server of the simulation: the product's parts, wired to stores in memory and to a simulated socket.

use std::{
    future::pending,
    sync::{Arc, LazyLock},
};

use futures_util::future::BoxFuture;
use toolwire::{
    agent::{
        self, Agent, Mode,
        answer::embedded::{Embedded as Answerer, Templates},
        ground::contexts::Contexts,
        in_full::InFull,
        prompts::Prompts,
    },
    base::files::{Embedded, Tree},
    config::{self, Config, ServerBounds},
    contract::descriptors,
    engine::{
        pipeline::{InFlight, Parts, Pipeline, Tiers, policy::AllowAll},
        registry::Registry,
        tasks::Orchestrator,
    },
    planner::{Offers, Plan, PlanError, PlanRequest, Planner},
    server::{
        app,
        faces::{
            grpc::{self, Face, GrpcServices},
            readiness::Readiness,
            transport::{Common, Listener, authenticate::StaticTokens},
        },
        service::{
            Records, Tools,
            audit::Audit,
            calls::{self, Calls},
            confirmations::{self, Confirmations},
            jobs::{self, Jobs},
            runs::{self, Roles, Runs},
            tasks::{self, Tasks},
            turns::{self, Turns},
            workspace::Workspaces,
        },
    },
    sources::upstream::{
        limiter::{Budgets, MemoryLimiter},
        source_status::Limits,
    },
    store::{MemoryCoolDowns, Store, workspace::Workspace},
    tool::context::{Services, UnreadBounds, User},
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
    turns: Turns,
    jobs: Jobs,
    runs: Runs,
    workspaces: Workspaces,
}

/// Whose machine it is.
pub(crate) fn user(caller: usize) -> &'static str {
    CALLERS[caller].split('-').next().unwrap()
}

/// Plans nothing: nobody talks here.
#[derive(Debug)]
struct Silent;

impl Planner for Silent {
    fn plan<'a>(&'a self, _asked: PlanRequest<'a>) -> BoxFuture<'a, Result<Plan, PlanError>> {
        Box::pin(async { Err(PlanError::failed("nobody talks here")) })
    }
}

/// No source has a limit.
fn no_limits() -> Limits {
    let limiter = Arc::new(MemoryLimiter::new(Vec::<(String, Budgets)>::new()));
    Limits::new(limiter, Arc::<MemoryCoolDowns>::default(), Vec::new())
}

/// Conversations, of which there are none here.
fn turns(pipeline: &Arc<Pipeline>, nowhere: &Arc<Store>, confirmations: &Confirmations) -> Turns {
    let templates = Templates::open(Tree::Embedded(Embedded::default()), Vec::new()).expect("there are none");
    let answerer = Arc::new(Answerer::new(Arc::new(templates)));
    let agent = Agent::new(agent::Parts {
        pipeline: Arc::clone(pipeline),
        registry: Arc::clone(&REGISTRY),
        policy: Arc::new(AllowAll),
        offers: Arc::new(Offers::new(&[], Vec::new()).expect("there are none")),
        contexts: Contexts::default(),
        in_full: InFull::default(),
        mode: Mode::Embedded,
        model: String::new(),
        planner: Arc::new(Silent),
        answerer: answerer.clone(),
        embedded: answerer,
        model_parts: None,
        prompts: Arc::new(Prompts::built_in()),
        sessions: nowhere.clone(),
        settings: config::Agent::default(),
        limits: Arc::new(no_limits()),
        log_arguments: false,
    });
    Turns::new(turns::Parts { agent, store: nowhere.clone(), confirmations: confirmations.clone() })
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
        });
        let limits = no_limits();
        let confirmations = Confirmations::new(confirmations::Parts {
            store: nowhere.clone(),
            registry: Arc::clone(&REGISTRY),
            policy: policy.clone(),
            own_calls: true,
            use_within: CAP,
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
        });
        let records = Records { calls, audit: Audit::new(nowhere.clone(), policy.clone()) };
        let turns = turns(&pipeline, &nowhere, &confirmations);
        let registry = Arc::clone(&REGISTRY);
        let agent = turns.agent().clone();
        let roles = Roles::default();
        let parts = runs::Parts { agent: agent.clone(), tasks: tasks.clone(), model: None, roles };
        let runs = Runs::new(parts);
        let jobs = Jobs::new(jobs::Parts { agent, store: nowhere.clone(), model: None });
        let tools = Tools::new(pipeline, registry, policy, Arc::new(limits), confirmations, tasks, records);
        Self { tools, turns, jobs, runs, workspaces: Workspaces::new(workspace) }
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
        let Self { tools, turns, jobs, runs, workspaces } = self;
        let face = Face { tools, turns, jobs, runs, workspaces, hub: no_hosts::hub(), max_request_bytes };
        let pool = descriptors::pool([("sim", tools::domain().descriptors)]).expect("they agree");
        let services = GrpcServices::new(&pool, [], false).expect("they are described");
        let users = ["alice", "bob"].map(|name| (name.into(), User::new(name.parse().unwrap())));
        let socket = Simulated(TcpListener::bind(("0.0.0.0", PORT)).await?);
        let (_ready, ready) = tokio::sync::watch::channel(Readiness::Ready);
        let tokens = Arc::new(StaticTokens::new(users));
        let common = Common::new(tokens, &server, None);
        grpc::serve(face, services, &common, None, Listener::from(socket), ready, pending()).await;
        Ok(())
    }
}
