//! The phases in which the service is built, in their order. Not here: reading files and opening domains (`loaded`).

use std::sync::Arc;

use super::{
    StartError,
    access::policy,
    agent,
    answers::Answers,
    conflicts,
    pipeline::pipeline,
    records::{confirmations, records},
    state::state,
    tree::tree,
};
use crate::{
    domain::Domain,
    service::{
        Tools,
        confirmations::Confirmations,
        drain::Drain,
        tasks::{self, Tasks},
    },
};
use toolwire_base::files::Tree;
use toolwire_config::Config;
use toolwire_engine::{
    pipeline::{Pipeline, Policy},
    registry::Registry,
    tasks::Orchestrator,
};
use toolwire_planner::Offers;
use toolwire_sources::upstream::source_status::SourceLimits;
use toolwire_store::{Store, workspace::Workspace};
use toolwire_tool::context::Services;

/// The files and the state.
pub(super) struct Stores {
    pub(super) tree: Tree,
    pub(super) state: Arc<Store>,
    pub(super) workspace: Workspace,
}

/// What every call passes, and what it waits for.
pub(super) struct CallPath {
    policy: Arc<dyn Policy>,
    pipeline: Arc<Pipeline>,
    confirmations: Confirmations,
    tasks: Tasks,
}

/// The turns of conversations, the work of the same agent in the background, and what a drain ends of it.
pub(super) struct Agents {
    pub(super) parts: Services,
    pub(super) drains: Vec<Arc<dyn Drain>>,
}

pub(super) fn open_stores(config: &Config, domains: &[Domain]) -> Result<Stores, StartError> {
    // Before files and tables, of which the same domain twice has each twice.
    conflicts::refuse(domains).map_err(StartError::of)?;
    let tree = tree(config, domains).map_err(StartError::of)?;
    let state = Arc::new(state(&config.state, domains).map_err(StartError::of)?);
    let workspace = Workspace::new(&state);
    Ok(Stores { tree, state, workspace })
}

/// `services` are what tools find in their context.
pub(super) fn build_call_path(
    config: &Config,
    domains: &[Domain],
    stores: &Stores,
    registry: &Arc<Registry>,
    services: Services,
) -> CallPath {
    let Stores { state, workspace, .. } = stores;
    let policy = policy(&config.auth);
    let orchestrator = Orchestrator::new(Arc::clone(state), workspace.clone());
    let pipeline = pipeline(config, domains, state, registry, &policy, &orchestrator, services);
    let confirmations = confirmations(config, state, registry, &policy);
    // The pipeline begins tasks and this ends them, by the same orchestrator.
    let tasks = Tasks::new(tasks::Parts {
        store: Arc::clone(state),
        pipeline: Arc::clone(&pipeline),
        orchestrator,
        workspace: workspace.clone(),
    });
    CallPath { policy, pipeline, confirmations, tasks }
}

pub(super) fn build_agents(
    config: &Config,
    stores: &Stores,
    registry: &Arc<Registry>,
    path: &CallPath,
    (answers, offers): (Answers, Arc<Offers>),
    limits: &Arc<dyn SourceLimits>,
) -> Result<Agents, StartError> {
    let turns = agent::turns(agent::Wiring {
        config,
        answers,
        offers,
        state: &stores.state,
        registry,
        policy: &path.policy,
        pipeline: &path.pipeline,
        confirmations: &path.confirmations,
        limits,
    })
    .map_err(StartError::of)?;
    // Jobs and runs are work of the agent whose turns these are.
    let jobs = agent::jobs(&turns, &stores.state);
    let runs = agent::runs(&turns, &path.tasks, config).map_err(StartError::of)?;
    let drains = vec![Arc::new(jobs.clone()) as Arc<dyn Drain>];
    let parts = Services::default().with(Arc::new(turns)).with(Arc::new(jobs)).with(Arc::new(runs));
    Ok(Agents { parts, drains })
}

/// The tools as every face offers them.
pub(super) fn build_tools(
    config: &Config,
    state: &Arc<Store>,
    registry: &Arc<Registry>,
    path: CallPath,
    limits: &Arc<dyn SourceLimits>,
) -> Tools {
    let CallPath { policy, pipeline, confirmations, tasks } = path;
    let records = records(config, state, registry, &policy, &pipeline);
    Tools::new(pipeline, Arc::clone(registry), policy, Arc::clone(limits), confirmations, tasks, records)
}
