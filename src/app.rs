//! The composition root: configuration to wired service. The only file that sees everything.

use std::{sync::Arc, time::Duration};

use crate::{
    config::{self, Config},
    context::{InvalidId, Services, User},
    files::Tree,
    pipeline::{
        Parts, Pipeline, Policy,
        policy::{AllowAll, AllowList},
    },
    registry::{Manifests, Problems, Registry},
    sources::brokerage::{self, Brokerage},
    store::MemoryIdempotency,
    tools,
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
    /// Who calls where nobody is authenticated: on the command line and in the loopback mode.
    pub default_user: User,
    tree: Tree,
}

/// The service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The manifests are wrong.
    #[error("{0}")]
    Manifests(#[from] Problems),
    /// The brokerage data is wrong.
    #[error("{0}")]
    Brokerage(#[from] brokerage::OpenError),
    /// A user id of the configuration is wrong.
    #[error("configuration: {0}")]
    User(#[from] InvalidId),
}

impl App {
    /// Wires the service.
    pub fn build(config: &Config) -> Result<Self, StartError> {
        let tree = tree(&config.data);
        let default_user = User::new(config.data.default_user.parse()?);
        let registry = Arc::new(registry(&tree, config.server.diagnostics)?);
        let brokerage = Arc::new(Brokerage::open(tree.clone(), default_user.id.clone())?);
        let policy = policy(&config.auth)?;
        let pipeline = Pipeline::new(Parts {
            registry: Arc::clone(&registry),
            policy: Arc::clone(&policy),
            idempotency: Arc::new(MemoryIdempotency::default()),
            services: Services::default().with(Arc::clone(&brokerage)),
            cap: config.server.deadline_cap,
            log_arguments: config.log.arguments,
        });
        let app = Self { registry, brokerage, policy, pipeline, default_user, tree };
        app.publish_health();
        Ok(app)
    }

    /// Takes over edits of the files on disk until it is dropped. Does nothing with embedded data.
    pub async fn keep_fresh(self) {
        if matches!(self.tree, Tree::Embedded) {
            return;
        }
        let mut interval = tokio::time::interval(RELOAD_INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
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
        self.registry.set_source_health("brokerage", self.brokerage.refresh().into());
    }
}

/// The tools of a data tree, checked.
pub fn registry(tree: &Tree, diagnostics: bool) -> Result<Registry, Problems> {
    let mut manifests = Manifests::new(tree.clone());
    let mut executors = tools::all();
    if diagnostics {
        manifests = manifests.with(Tree::Embedded, "diagnostics");
        executors.extend(tools::diagnostics());
    }
    Registry::open(manifests, executors)
}

/// The data tree of a configuration.
pub fn tree(data: &config::Data) -> Tree {
    data.dir.clone().map_or(Tree::Embedded, Tree::Disk)
}

fn policy(auth: &config::Auth) -> Result<Arc<dyn Policy>, InvalidId> {
    if auth.users.is_empty() {
        return Ok(Arc::new(AllowAll));
    }
    let patterns = auth.users.iter().map(|user| Ok((user.user_id.parse()?, user.tools.clone())));
    let patterns = patterns.collect::<Result<Vec<_>, InvalidId>>()?;
    Ok(Arc::new(AllowList::new(patterns)))
}
