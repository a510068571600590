//! The pipeline over the state. Not here: its layers.

use std::sync::Arc;

use super::{access::Access, sources::users_sources};
use crate::domain::Domain;
use toolwire_config::Config;
use toolwire_contract::ConsoleLinks;
use toolwire_engine::{
    pipeline::{Parts, Pipeline, Tiers},
    recordings::{NoKey, Recorder, Settings},
    registry::Registry,
    tasks::Orchestrator,
};
use toolwire_state::Store;
use toolwire_tool::context::Services;

/// Made of the tools, and of what they find in their context.
pub(super) fn pipeline(
    config: &Config,
    domains: &[Domain],
    state: &Arc<Store>,
    registry: &Arc<Registry>,
    access: &Access,
    orchestrator: &Orchestrator,
    services: Services,
) -> Result<Arc<Pipeline>, NoKey> {
    Ok(Pipeline::new(Parts {
        registry: Arc::clone(registry),
        policy: access.policy(),
        quotas: access.quotas.clone(),
        idempotency: Arc::clone(state) as _,
        confirmations: Arc::clone(state),
        tasks: Arc::clone(state) as _,
        orchestrate: Arc::new(orchestrator.clone()),
        decide_within: config.confirmations.expire_in,
        decide_within_tasks: config.confirmations.tasks_expire_in,
        users_sources: users_sources(domains),
        tiers: Tiers { persistent: Arc::clone(state) as _, ..Tiers::in_memory() },
        console: ConsoleLinks::new(config.console_url().as_deref()),
        services,
        cap: config.server.deadline_cap,
        unread: config.server.limits.unread(),
        log_arguments: config.log.arguments,
        recorder: Recorder::new(Settings::new(&config.calls)?, state),
    }))
}
