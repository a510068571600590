//! The composition root: configuration to wired service. The only file that sees everything.

mod cool_downs;

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use tokio::{
    net::TcpListener,
    time::{MissedTickBehavior, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{self, Config},
    context::{Services, SourceStates, User},
    faces::{
        admin::Admin,
        grpc::{
            self, Face,
            transport::{
                Report,
                authenticate::{Authenticator, Loopback, StaticTokens},
            },
        },
    },
    files::{Problems, Tree},
    pipeline::{Parts, Pipeline, Policy, Tiers, policy::AllowAll},
    registry::{Manifests, Registry, SourceHealth},
    sources::{
        brokerage::{self, Brokerage},
        limits::{SourceLimits, Unlimited},
        screener,
    },
    store::MemoryIdempotency,
    tools::{self, tool::Executor},
};

/// How often files on disk are looked at.
const RELOAD_INTERVAL: Duration = Duration::from_millis(250);

/// The wired service, whatever face it is given.
#[derive(Clone, Debug)]
pub struct App {
    /// The tools.
    pub registry: Arc<Registry>,
    /// The brokerage data.
    pub brokerage: Arc<Brokerage>,
    /// Who may call what.
    pub policy: Arc<dyn Policy>,
    /// Carries out calls.
    pub pipeline: Arc<Pipeline>,
    /// What sources would do with requests.
    pub limits: Arc<dyn SourceLimits>,
    /// The users' own credentials for Screener.in.
    pub screener_credentials: Arc<screener::Credentials>,
    tree: Tree,
}

/// The doors that were opened for the service.
#[derive(Debug)]
pub struct Doors {
    /// For callers.
    pub grpc: TcpListener,
    /// For operators, if there is one.
    pub admin: Option<Admin>,
}

impl From<TcpListener> for Doors {
    fn from(grpc: TcpListener) -> Self {
        Self { grpc, admin: None }
    }
}

/// The service cannot start: everything that is wrong, at once.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.lines().join("\n"))]
pub struct StartError {
    /// What is wrong with the manifests.
    pub manifests: Option<Problems>,
    /// What is wrong with the brokerage data.
    pub brokerage: Option<brokerage::OpenError>,
}

impl StartError {
    fn lines(&self) -> Vec<String> {
        let manifests = self.manifests.as_ref().map(ToString::to_string);
        manifests.into_iter().chain(self.brokerage.as_ref().map(ToString::to_string)).collect()
    }
}

impl App {
    /// Wires the service.
    pub fn build(config: &Config) -> Result<Self, StartError> {
        let tree = tree(&config.data);
        let (manifests, executors) = offered(&tree, config.server.diagnostics);
        let registry = Registry::open(manifests, executors);
        let brokerage = Brokerage::open(tree.clone(), config.data.default_user.clone());
        let (registry, brokerage) = match (registry, brokerage) {
            (Ok(registry), Ok(brokerage)) => (Arc::new(registry), Arc::new(brokerage)),
            (manifests, brokerage) => {
                return Err(StartError { manifests: manifests.err(), brokerage: brokerage.err() });
            }
        };
        let policy = policy(&config.auth);
        let pipeline = Pipeline::new(Parts {
            registry: Arc::clone(&registry),
            policy: Arc::clone(&policy),
            idempotency: Arc::new(MemoryIdempotency::default()),
            tiers: Tiers::in_memory(),
            services: Services::default()
                .with(Arc::clone(&brokerage))
                .with(Arc::new(SourceStates::default().with("brokerage", tools::brokerage::state))),
            cap: config.server.deadline_cap,
            log_arguments: config.log.arguments,
        });
        let screener_credentials = Arc::default();
        let limits = Arc::new(Unlimited);
        let app = Self { registry, brokerage, policy, pipeline, limits, screener_credentials, tree };
        app.publish_health();
        Ok(app)
    }

    /// Serves over gRPC until `shutdown`, then drains. The admin endpoint answers and edits of the files on disk are taken
    /// over meanwhile.
    pub async fn serve(
        &self,
        config: &Config,
        doors: impl Into<Doors>,
        shutdown: impl Future<Output = ()>,
    ) -> Report {
        let Doors { grpc: listener, admin } = doors.into();
        let draining = CancellationToken::new();
        let shutdown = async {
            shutdown.await;
            draining.cancel();
        };
        let face = Face {
            pipeline: Arc::clone(&self.pipeline),
            registry: Arc::clone(&self.registry),
            policy: Arc::clone(&self.policy),
            limits: Arc::clone(&self.limits),
            screener_credentials: Arc::clone(&self.screener_credentials),
        };
        let serving = async {
            let report = grpc::serve(face, authenticator(config), &config.server, listener, shutdown).await;
            self.finish_writes(config.server.drain.forced_end.saturating_sub(report.elapsed)).await;
            report
        };
        tokio::select! {
            report = serving => report,
            never = self.keep_fresh() => match never {},
            never = cool_downs::Watch::new(&self.registry, &self.limits).run() => match never {},
            never = administer(admin, draining.clone()) => match never {},
        }
    }

    /// Waits for the writes that outlived their callers, for as long as the drain has left.
    async fn finish_writes(&self, left: Duration) {
        let in_flight = self.pipeline.in_flight();
        if timeout(left, in_flight.emptied()).await.is_err() {
            tracing::warn!(calls = in_flight.len(), "the forced end cuts calls whose outcome is now unknown");
            in_flight.shut_down();
        }
    }

    /// Takes over edits of the files on disk for as long as it is polled.
    async fn keep_fresh(&self) -> Infallible {
        if matches!(self.tree, Tree::Embedded) {
            return pending().await;
        }
        let mut interval = tokio::time::interval(RELOAD_INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let app = self.clone();
            // Reads files: not on the threads that carry calls.
            let _ = tokio::task::spawn_blocking(move || app.refresh()).await;
        }
    }

    /// Looks at the files on disk once.
    pub fn refresh(&self) {
        self.registry.reload();
        self.publish_health();
    }

    fn publish_health(&self) {
        let brokerage::Health { digest, mut problems, missing_sections: sections } = self.brokerage.refresh();
        // Watchers may be anybody: which users there are is for the log only.
        problems.retain(|problem| !problem.file.starts_with(brokerage::USERS));
        self.registry.set_source_health("brokerage", SourceHealth { digest, problems, sections });
    }
}

/// Answers operators, if there is a door for them.
async fn administer(admin: Option<Admin>, draining: CancellationToken) -> Infallible {
    match admin {
        Some(admin) => admin.serve(draining).await,
        None => pending().await,
    }
}

/// Where manifests come from, and what can execute them.
pub fn offered(tree: &Tree, diagnostics: bool) -> (Manifests, Vec<Arc<dyn Executor>>) {
    let mut manifests = Manifests::new(tree.clone());
    let mut executors = tools::all();
    if diagnostics {
        // About the server rather than its data, so they do not come with the data.
        manifests = manifests.with(Tree::Embedded, "diagnostics");
        executors.extend(tools::diagnostics());
    }
    (manifests, executors)
}

/// The data tree of a configuration.
pub fn tree(data: &config::Data) -> Tree {
    data.dir.clone().map_or(Tree::Embedded, Tree::Disk)
}

fn policy(auth: &config::Auth) -> Arc<dyn Policy> {
    if auth.users.is_empty() { Arc::new(AllowAll) } else { Arc::new(auth.clone()) }
}

/// Bearer tokens if there are any, otherwise trust in the loopback interface.
fn authenticator(config: &Config) -> Arc<dyn Authenticator> {
    if config.auth.users.is_empty() {
        return Arc::new(Loopback::new(User::new(config.data.default_user.clone())));
    }
    let tokens = config.auth.users.iter().map(|entry| {
        let user = User { id: entry.user_id.clone(), email: entry.email.clone(), role: entry.role.clone() };
        (entry.token.clone(), user)
    });
    Arc::new(StaticTokens::new(tokens))
}
