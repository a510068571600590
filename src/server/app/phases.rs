//! The phases in which the service is built, in their order. Not here: reading files and opening domains (`load`).

use std::{collections::HashMap, sync::Arc};

use super::{
    StartError,
    access::Access,
    conflicts,
    pipeline::pipeline,
    records::{confirmations, records},
    state::state,
    tree::tree,
};
use crate::{
    domain::{Attach, Attaching, Cancel, Domain, SettingPattern},
    service::{
        Tools,
        confirmations::Confirmations,
        drain::Drain,
        tasks::{self, Tasks},
        upkeep::Upkeep,
    },
};
use toolwire_base::files::Tree;
use toolwire_config::Config;
use toolwire_engine::{
    pipeline::{Pipeline, Policy},
    registry::Registry,
    tasks::Orchestrator,
};
use toolwire_sources::upstream::source_status::SourceLimits;
use toolwire_state::{Store, workspace::Workspace};
use toolwire_tool::context::Services;

/// The files and the state.
pub(super) struct Stores {
    pub(super) tree: Tree,
    pub(super) state: Arc<Store>,
    pub(super) workspace: Workspace,
}

/// What every call passes, and what it waits for.
pub(super) struct CallPath {
    pub(super) access: Access,
    policy: Arc<dyn Policy>,
    pipeline: Arc<Pipeline>,
    confirmations: Confirmations,
    tasks: Tasks,
}

/// What domains add to the service.
#[derive(Clone, Default)]
pub(super) struct Attachments {
    /// What their services need beyond tools: one value a type.
    pub(super) parts: Services,
    /// Their work that a drain ends.
    pub(super) drains: Vec<Arc<dyn Drain>>,
    /// What cancels their subjects, by the words of their kinds.
    pub(super) cancel: HashMap<&'static str, Cancel>,
    /// What keeps their rows in order.
    pub(super) upkeep: Vec<Arc<dyn Upkeep>>,
    /// The patterns of tools in their settings.
    pub(super) patterns: Vec<SettingPattern>,
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
) -> Result<CallPath, StartError> {
    let Stores { state, workspace, .. } = stores;
    let access = Access::new(config, registry);
    let policy = access.policy();
    let orchestrator = Orchestrator::new(Arc::clone(state), workspace.clone());
    let pipeline = pipeline(config, domains, state, registry, &access, &orchestrator, services);
    let pipeline = pipeline.map_err(StartError::of)?;
    let confirmations = confirmations(config, state, registry, &policy);
    // The pipeline begins tasks and this ends them, by the same orchestrator.
    let tasks = Tasks::new(tasks::Parts {
        store: Arc::clone(state),
        pipeline: Arc::clone(&pipeline),
        orchestrator,
        workspace: workspace.clone(),
    });
    Ok(CallPath { access, policy, pipeline, confirmations, tasks })
}

/// Attaches the domains that call tools by themselves. `services` are those of all domains.
pub(super) fn attach(
    attach: Vec<Attach>,
    config: &Config,
    stores: &Stores,
    registry: &Arc<Registry>,
    path: &CallPath,
    limits: &Arc<dyn SourceLimits>,
    services: &Services,
) -> Result<Attachments, StartError> {
    let CallPath { policy, pipeline, confirmations, tasks, .. } = path;
    let state = &stores.state;
    let attaching =
        Attaching { config, registry, pipeline, policy, confirmations, tasks, state, limits, services };
    let mut all = Attachments::default();
    for attach in attach {
        let attached = attach(&attaching).map_err(StartError::of)?;
        all.parts = all.parts.and(attached.parts);
        all.drains.extend(attached.drain);
        all.cancel.extend(attached.cancel);
        all.upkeep.extend(attached.upkeep);
        all.patterns.extend(attached.patterns);
    }
    Ok(all)
}

/// The tools as every face offers them.
pub(super) fn build_tools(
    config: &Config,
    state: &Arc<Store>,
    registry: &Arc<Registry>,
    path: CallPath,
    limits: &Arc<dyn SourceLimits>,
) -> Tools {
    let CallPath { access, policy, pipeline, confirmations, tasks } = path;
    let records = records(config, state, registry, &policy, &pipeline);
    let tools =
        Tools::new(pipeline, Arc::clone(registry), policy, Arc::clone(limits), confirmations, tasks, records);
    tools.with_toolsets(access.toolsets)
}
